/** Events that come at once: their attempts share statements, and each has its own result. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { beforeEach, test } from 'node:test';
import { receiveEvent } from '../../../src/settlement/receive-provider-webhook.ts';
import { replayEvent } from '../../../src/settlement/replay.ts';
import { settleEvent } from '../../../src/settlement/settle-event.ts';
import { eventually } from '../../support/eventually.ts';
import { onlyOnServer } from '../../support/open-database.ts';
import { startEventQueue, storingFor, watched } from './loops.ts';
import { confirmed, results, startSettlingApp } from './settling.ts';
import { reserveSend } from './transactions.ts';

const app = await startSettlingApp();
const { deliver, givenSend, newEndToEnd, rows, settle, stored, receive } = app;

beforeEach(async () => {
  await rows('delete from webhook_queue');
  await rows('delete from webhook_events');
});

const eventStatus = async (id: string) => {
  const [row] = await rows<{ status: string }>('select status from webhook_events where id = $1', [
    id,
  ]);
  return row?.status;
};

/** Sends that the provider has accepted, with end-to-end ids of their own. */
async function givenAccepted(count: number): Promise<{ id: string; endToEnd: string }[]> {
  const sends = [];
  for (let nth = 0; nth < count; nth += 1) {
    const endToEnd = `E99999999202605241200${randomUUID().slice(0, 11)}`;
    const send = await reserveSend(app, randomUUID());
    await send.pay(endToEnd);
    await send.accept(null);
    sends.push({ id: send.id, endToEnd });
  }
  return sends;
}

async function roundTrips(): Promise<number> {
  const { values } = await app.context.metrics.databaseQueries.get();
  return values[0]?.value ?? 0;
}

test('many events that are received at once share their round trips', async (t) => {
  const sends = await givenAccepted(40);
  const process = watched(app);
  const queue = await startEventQueue(t, process);
  await process.rest();
  const context = storingFor(process.context, queue);
  const before = await roundTrips();
  await Promise.all(
    sends.map(({ endToEnd }) => {
      const content = confirmed({ endToEnd, amount: 10.5 });
      const payload = Buffer.from(JSON.stringify(content));
      return receiveEvent(context, { payload, content });
    }),
  );
  const isDone = async (): Promise<boolean> =>
    (await rows('select from webhook_queue')).length === 0;
  await process.rest();
  const cost = (await roundTrips()) - before;
  await eventually(isDone, 'the end of the events');
  for (const { id } of sends) assert.equal((await stored(id)).status, 'COMPLETED');
  t.diagnostic(`${cost} round trips`);
  // One statement stores and reads; then the attempts move and finish in another.
  assert.ok(cost <= 6, `40 events took ${cost} round trips`);
});

test('of many events about one send that come at once, one settles it', async () => {
  const send = await givenSend();
  const ids = await Promise.all(
    Array.from({ length: 12 }, (_, nth) =>
      deliver(confirmed({ endToEnd: send.end_to_end, nth, ...(nth % 3 && { status: 'ERROR' }) })),
    ),
  );
  assert.equal((await stored(send.id)).status, 'PROCESSING');
  const came = await Promise.all(ids.map(async (id) => results(await settle(id))[0]));
  const { status } = await stored(send.id);
  const count = (result: string) => came.filter((one) => one === result).length;
  const like = status === 'COMPLETED' ? 4 : 8;
  assert.deepEqual(
    [count('applied'), count('already'), count('anomaly: contradicts_final_status')],
    [1, like - 1, 12 - like],
  );
  const ends = (await app.timeline(send.id)).filter((line) => line.startsWith('SETTLED'));
  assert.deepEqual(ends, [`SETTLED ${status} event`]);
});

/** The service, with something that happens before an attempt is first stored. */
function beforeFinish(happens: () => Promise<unknown>): typeof app.context {
  const { context } = app;
  let finished = 0;
  const query: typeof context.db.query = async (statement, parameters) => {
    if (['webhook-finish', 'webhook-park'].includes(statement.name)) {
      finished += 1;
      if (finished === 1) await happens();
    }
    return context.db.query(statement, parameters);
  };
  return { ...context, db: { ...context.db, query } };
}

test('an item whose send is settled meanwhile is decided again, and the others stay applied', async () => {
  const [first, second] = [await givenSend(), await givenSend()];
  const event = [first, second].map((send) => confirmed({ endToEnd: send.end_to_end }));
  const eventId = await deliver(event);
  let isOpen = false;
  const context = beforeFinish(async () => {
    await receive(confirmed({ endToEnd: second.end_to_end, status: 'ERROR' }));
    isOpen = (await eventStatus(eventId)) === 'received';
  });
  const settlement = await settleEvent(context, eventId);
  assert.ok(isOpen);
  assert.deepEqual(settlement?.items, [
    { index: 0, result: 'applied', transactionId: first.id },
    {
      index: 1,
      result: 'anomaly',
      reason: 'contradicts_final_status',
      transactionId: second.id,
    },
  ]);
  assert.equal((await stored(first.id)).status, 'COMPLETED');
  assert.equal((await stored(second.id)).status, 'FAILED');
});

test('an event that another process has settled meanwhile keeps what that one has found', async () => {
  const send = await givenSend();
  const eventId = await deliver(confirmed({ endToEnd: send.end_to_end }));
  const context = beforeFinish(() => settle(eventId));
  const settlement = await settleEvent(context, eventId);
  assert.deepEqual(settlement?.items, [{ index: 0, result: 'applied', transactionId: send.id }]);
  const ends = (await app.timeline(send.id)).filter((line) => line.startsWith('SETTLED'));
  assert.deepEqual(ends, ['SETTLED COMPLETED event']);
});

test('an attempt does not put back what another has found within the same millisecond', async () => {
  const send = await reserveSend(app, randomUUID());
  await send.pay(newEndToEnd());
  const id = randomUUID();
  const { eventId, status } = await receive(confirmed({ id, amount: 10.5 }));
  assert.equal(status, 'parked');
  // The operator's attempt has found nothing yet when the queue's attempt finds the send.
  const context = beforeFinish(async () => {
    await send.accept(id);
    assert.deepEqual(results(await settle(eventId)), ['applied']);
  });
  const replayed = await replayEvent(context, eventId);
  assert.ok(replayed.kind === 'replayed');
  assert.deepEqual(replayed.items, [{ index: 0, result: 'applied', transactionId: send.id }]);
  assert.equal(await eventStatus(eventId), 'processed');
});

test('the same bytes again find a send that is settled, and change nothing', async () => {
  const send = await givenSend();
  const event = confirmed({ endToEnd: send.end_to_end });
  const { eventId } = await receive(event);
  const timeline = await app.timeline(send.id);
  assert.equal(await deliver(event), eventId);
  assert.equal(await eventStatus(eventId), 'processed');
  assert.deepEqual(await app.timeline(send.id), timeline);
});

test('an event that waits for an id of the payment is woken by the end that brings it', async () => {
  const send = await givenSend();
  await rows('update pix_transactions set provider_txid = null where id = $1', [send.id]);
  const id = randomUUID();
  const parked = await receive(confirmed({ id, nth: 1 }));
  assert.equal(parked.status, 'parked');
  await app.postpone(parked.eventId);
  await receive(confirmed({ id, endToEnd: send.end_to_end }));
  assert.deepEqual(await app.readWoken(parked.eventId), app.clock.now());
  assert.deepEqual(results(await settle(parked.eventId)), ['already']);
});

test('a send whose row is locked is waited for by its own event alone', onlyOnServer, async () => {
  const [locked, free] = [await givenSend(), await givenSend()];
  const holder = await app.context.db.em();
  await holder.begin();
  await holder.execute('select from pix_transactions where id = ? for update', [locked.id]);
  const waiting = settle(await deliver(confirmed({ endToEnd: locked.end_to_end })));
  const passing = settle(await deliver(confirmed({ endToEnd: free.end_to_end })));
  assert.deepEqual(results(await passing), ['applied']);
  assert.equal((await stored(locked.id)).status, 'PROCESSING');
  await holder.rollback();
  assert.deepEqual(results(await waiting), ['applied']);
  assert.equal((await stored(locked.id)).status, 'COMPLETED');
});
