/** A received PIX is recorded once for each end-to-end id, or without one, provider's id. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fromEvent } from '../../../src/domain/pix.ts';
import type { LocalContext } from '../../../src/context/context.ts';
import { storeReceived, type ReceivedPix } from '../../../src/ledger/transaction-repository.ts';
import { openTestDatabase } from '../../support/open-database.ts';
import { at, goodRow, insert, insertGood, uuid } from '../db/rows.ts';

const open = await openTestDatabase();
const context = { db: open.db, clock: { now: () => at } } as unknown as LocalContext;

/** Records PIX that came in for a new user, each by an event of its own and all at once. */
async function record(...received: readonly Partial<ReceivedPix>[]): Promise<(string | null)[]> {
  const userId = Number(await insert(open, 'users', goodRow.users()));
  const blank = { amountCents: 1000, pixKey: null, endToEnd: null, providerTxid: null, at: null };
  return Promise.all(
    received.map(async (one) => {
      const eventId = String(await insertGood(open, 'webhook_events'));
      return storeReceived(context, fromEvent(eventId), { ...blank, userId, ...one });
    }),
  );
}

const recorded = (ids: readonly (string | null)[]) => ids.filter((id) => id !== null).length;

for (const [title, endToEnd] of [
  ['end-to-end id', uuid()],
  ['id of the provider without one', null],
] as const) {
  test(`two reports of one ${title} at once are one payment, with one step`, async () => {
    const providerTxid = uuid();
    const ids = await record({ endToEnd, providerTxid }, { endToEnd, providerTxid });
    assert.equal(recorded(ids), 1);
    const steps = await open.rows(
      'select from pix_timeline where transaction_id = any($1::uuid[])',
      [ids],
    );
    assert.equal(steps.length, 1);
  });
}

test('payments with one id of the provider and different end-to-end ids are different payments', async () => {
  const providerTxid = uuid();
  const ids = await record(
    { endToEnd: uuid(), providerTxid },
    { endToEnd: uuid(), providerTxid },
    { providerTxid },
  );
  assert.equal(recorded(ids), 3);
});
