/** Events that come while a send has not left yet, and what they must not do once it has. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findCandidates } from '../../../src/ledger/transaction-repository.ts';
import { confirmed, settleBy, startSettlingApp } from './settling.ts';

const app = await startSettlingApp();
const { db } = app.context;

const foreignEndToEnd = 'E99999999202605241200foreign0001';

test('an event with another end-to-end id does not settle a send that leaves while it is read', async () => {
  const send = await app.givenSend('key-of-two');
  const phase = `update pix_transactions set phase = $2, end_to_end = $3 where id = $1`;
  await app.rows(phase, [send.id, 'RESERVED', null]);
  const eventId = await app.deliver(
    confirmed({
      clientRequestId: 'key-of-two',
      endToEnd: foreignEndToEnd,
      amount: 10.5,
      status: 'ERROR',
    }),
  );
  // The send is RESERVED when the event's candidates are read, and PAYING when it is to be moved.
  const query: typeof db.query = async (statement, parameters) => {
    const rows = await db.query(statement, parameters);
    if (statement.name === findCandidates.name)
      await app.rows(phase, [send.id, 'PAYING', send.end_to_end]);
    return rows;
  };
  const context = { ...app.context, db: { ...db, query } };
  await settleBy({ ...app, context }, eventId);
  assert.equal((await app.stored(send.id)).status, 'PROCESSING');
  const again = await app.settle(eventId);
  assert.deepEqual(
    again.items.map(({ result, reason }) => `${result}: ${reason}`),
    ['parked: no_match'],
  );
});
