/** Events of very many items: all of them are settled, and others have their turn meanwhile. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newEndToEndId } from '../../../src/domain/pix.ts';
import { startSettlingApp, type Settlement } from './settling.ts';

const app = await startSettlingApp();
const { givenSend, stored, receive } = app;

const counts = ({ items }: Settlement): Record<string, number> => {
  const found: Record<string, number> = {};
  for (const { result } of items) found[result] = (found[result] ?? 0) + 1;
  return found;
};

test('every item of a batch is settled, however many there are', async () => {
  const [first, last] = [await givenSend(), await givenSend()];
  // Nearly all are under way, which takes no statement to settle.
  const batch = Array.from({ length: 3_000 }, (_, nth) => ({
    endToEnd: newEndToEndId('99999999', app.clock.now()),
    status: nth % 20 === 0 ? 'PAID' : 'PENDING',
    amount: 10.5,
  }));
  batch[0] = { endToEnd: first.end_to_end, status: 'PAID', amount: 10.5 };
  batch[2_900] = { endToEnd: last.end_to_end, status: 'PAID', amount: 10.5 };
  const settlement = await receive(batch);
  assert.deepEqual(counts(settlement), { applied: 2, parked: 148, ignored: 2_850 });
  assert.deepEqual(settlement.items[2_900], {
    index: 2_900,
    result: 'applied',
    transactionId: last.id,
  });
  assert.equal((await stored(last.id)).status, 'COMPLETED');
  const [waits] = await app.rows<{ waits: number }>(
    'select count(*)::int as waits from webhook_waits where event_id = $1',
    [settlement.eventId],
  );
  assert.equal(waits?.waits, 148);
  const late = await givenSend();
  await app.rows('update pix_transactions set end_to_end = $2 where id = $1', [
    late.id,
    batch[2_800]?.endToEnd,
  ]);
  assert.deepEqual(counts(await app.settle(settlement.eventId)), {
    applied: 3,
    parked: 147,
    ignored: 2_850,
  });
});

test('thousands of items that are ignored do not hold the event loop', async () => {
  const batch = Array.from({ length: 20_000 }, () => ({ a: 1 }));
  const eventId = await app.deliver(batch);
  let turns = 0;
  let isOver = false;
  const turn = (): void => {
    turns += 1;
    if (!isOver) setImmediate(turn);
  };
  setImmediate(turn);
  const settlement = await app.settle(eventId);
  isOver = true;
  assert.deepEqual(counts(settlement), { ignored: 20_000 });
  assert.ok(turns > 100, `others had ${turns} turns`);
});

test('beside eight large events a ninth goes back, and small ones pass it', async () => {
  const send = await givenSend();
  const large = [
    { endToEnd: send.end_to_end, status: 'PAID', amount: 10.5 },
    ...Array.from({ length: 1_500 }, () => ({ word: 'nothing' })),
  ];
  const places = Array.from({ length: 8 }, () => app.context.largeEvents.reserve());
  const id = await app.deliver(large);
  const small = await app.deliver({ event: 'NEWS', id: 'small' });
  const [ninth, other] = [await app.settle(id), await app.settle(small)];
  const again = new Date(app.clock.now().getTime() + 5_000);
  assert.deepEqual([ninth.status, ninth.retryAt, other.retryAt], ['received', again, null]);
  assert.deepEqual(await app.unsettled(), [id]);
  for (const release of places) release?.();
  await app.settle(id);
  assert.deepEqual(await app.unsettled(), []);
  assert.equal((await stored(send.id)).status, 'COMPLETED');
});
