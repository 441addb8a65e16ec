/** Events that match nothing yet: parked, looked at again ever later, and orphaned after a day. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nilUuid } from '../../../src/domain/text.ts';
import { wakeWaitingEvents } from '../../../src/settlement/event-queue-repository.ts';
import { givenCustomer } from '../../support/factories.ts';
import { confirmed, results, startSettlingApp, type Settlement } from './settling.ts';
import { reserveSend } from './transactions.ts';

const app = await startSettlingApp();
const { receive, stored, settle, clock } = app;

const hourMs = 60 * 60_000;

const computeDelay = ({ retryAt }: Settlement) =>
  (retryAt?.getTime() ?? Infinity) - clock.now().getTime();

test('an event without its transaction is looked at again after growing pauses, for a day', async () => {
  let settlement = await receive(confirmed({ endToEnd: 'E-nobody', amount: 1 }));
  const receivedAt = clock.now().getTime();
  const pauses: number[] = [];
  while (settlement.retryAt) {
    assert.deepEqual([settlement.status, results(settlement)], ['parked', ['parked: no_match']]);
    pauses.push(computeDelay(settlement));
    await clock.advance(computeDelay(settlement));
    settlement = await settle(settlement.eventId);
  }
  assert.deepEqual(pauses.slice(0, 6), [1_000, 2_000, 4_000, 8_000, 16_000, 32_000]);
  assert.ok(pauses.every((pauseMs, nth) => pauseMs >= (pauses[nth - 1] ?? 0)));
  assert.equal(Math.max(...pauses), hourMs / 2);
  assert.ok(pauses.length < 70, `${pauses.length} looks`);
  assert.deepEqual([settlement.status, results(settlement)], ['orphaned', ['orphaned: no_match']]);
  const waitedMs = clock.now().getTime() - receivedAt;
  assert.ok(waitedMs >= 24 * hourMs && waitedMs < 25 * hourMs);
});

test('an event that is looked at late is looked at again soon', async () => {
  const eventId = await app.deliver(confirmed({ endToEnd: 'E-late', amount: 1 }));
  await clock.advance(hourMs);
  assert.equal(computeDelay(await settle(eventId)), 1_000);
});

for (const minutes of [5, -5]) {
  test(`an attempt by a clock that differs by ${minutes} minutes changes no pause`, async () => {
    const { eventId } = await receive(confirmed({ endToEnd: `E-other${minutes}`, amount: 1 }));
    await app.rows(
      `update webhook_events set processed_at = processed_at + $2::int * interval '1 minute'
        where id = $1`,
      [eventId, minutes],
    );
    await clock.advance(1_000);
    assert.equal(computeDelay(await settle(eventId)), 2_000);
  });
}

test('an event that is woken is looked at again after growing pauses from the first one on', async () => {
  const { eventId } = await receive(confirmed({ clientRequestId: 'woken', amount: 10.5 }));
  for (let look = 0; look < 8; look += 1) await settle(eventId);
  assert.equal(computeDelay(await settle(eventId)), 512_000);
  await reserveSend(app, 'woken');
  await wakeWaitingEvents(app.context, nilUuid);
  assert.equal(computeDelay(await settle(eventId)), 1_000);
});

test('an event whose transaction appears later is applied at the next look', async () => {
  const endToEnd = 'E-of-later';
  const settlement = await receive(confirmed({ endToEnd, amount: 10.5 }));
  assert.equal(settlement.status, 'parked');
  const send = await app.givenSend();
  await app.rows('update pix_transactions set end_to_end = $2 where id = $1', [send.id, endToEnd]);
  await clock.advance(computeDelay(settlement));
  const found = await settle(settlement.eventId);
  assert.deepEqual([found.status, results(found)], ['processed', ['applied']]);
  assert.equal(found.retryAt, null);
  assert.equal((await stored(send.id)).status, 'COMPLETED');
});

test('an event about a payment that has not left waits until it has', async () => {
  for (const phase of ['RESERVED', 'RESOLVED']) {
    const send = await app.givenSend();
    const put = (to: string) =>
      app.rows('update pix_transactions set phase = $2 where id = $1', [send.id, to]);
    await put(phase);
    const settlement = await receive(confirmed({ endToEnd: send.end_to_end, amount: 10.5 }));
    assert.deepEqual(
      [settlement.status, results(settlement)],
      ['parked', ['parked: not_paying_yet']],
    );
    assert.equal((await stored(send.id)).status, 'PROCESSING');
    await put('PAYING');
    await clock.advance(computeDelay(settlement));
    assert.deepEqual(results(await settle(settlement.eventId)), ['applied']);
    assert.equal((await stored(send.id)).status, 'COMPLETED');
  }
});

test('an event that reports a payment that was recorded as never sent corrects it', async () => {
  const send = await app.givenSend();
  await app.rows(
    `update pix_transactions set status = 'FAILED', phase = 'SETTLED', outcome = 'not_sent',
            settled_at = updated_at where id = $1`,
    [send.id],
  );
  const settlement = await receive(confirmed({ endToEnd: send.end_to_end, amount: 10.5 }));
  assert.deepEqual(results(settlement), ['anomaly: corrected']);
  assert.equal((await stored(send.id)).status, 'COMPLETED');
});

test('a PIX for an account that is opened later is recorded then', async () => {
  const event = { event: 'PIX_RECEIVED', endToEnd: 'E-early', amount: 7, key: 'late@example.com' };
  const settlement = await receive(event);
  assert.equal(settlement.status, 'parked');
  const payee = await givenCustomer(app, { email: 'late@example.com' });
  await app.listEmail(payee);
  await clock.advance(computeDelay(settlement));
  assert.deepEqual(results(await settle(settlement.eventId)), ['applied']);
  assert.equal(await app.countRows(payee), 1);
});

test('a batch is parked while one item waits; the others are neither recorded nor counted again', async () => {
  const [first, other] = [await app.givenSend(), await app.givenSend()];
  const anomalies = await app.anomalies();
  const batch = [
    confirmed({ endToEnd: first.end_to_end, amount: 10.5 }),
    confirmed({ endToEnd: other.end_to_end, amount: 99 }),
    confirmed({ endToEnd: 'E-third', amount: 1 }),
    { event: 'CONTA_CRIADA' },
  ];
  const settlement = await receive(batch);
  const outcome = [
    'applied',
    'anomaly: amount_mismatch',
    'parked: no_match',
    'ignored: moves_nothing',
  ];
  assert.deepEqual([settlement.status, results(settlement)], ['anomaly', outcome]);
  assert.equal(computeDelay(settlement), 1_000);
  await clock.advance(24 * hourMs);
  const last = await settle(settlement.eventId);
  assert.deepEqual(results(last), outcome.with(2, 'orphaned: no_match'));
  assert.equal(last.retryAt, null);
  const duplicate = await app.call('/webhooks/provider', { method: 'POST', body: batch });
  assert.equal(duplicate.body.duplicate, true);
  assert.ok(await app.readDue(settlement.eventId), 'the duplicate has put it into the queue');
  assert.deepEqual(results(await settle(settlement.eventId)), results(last));
  assert.equal((await app.anomalies()) - anomalies, 1);
  assert.equal((await app.timeline(first.id)).at(-1), 'SETTLED COMPLETED event');
});

test('an orphan that an operator has looked at again is applied, if it matches by now', async () => {
  const endToEnd = 'E-of-the-orphan';
  const settlement = await receive(confirmed({ endToEnd, amount: 10.5 }));
  await clock.advance(25 * hourMs);
  assert.equal((await settle(settlement.eventId)).status, 'orphaned');
  const send = await app.givenSend();
  await app.rows('update pix_transactions set end_to_end = $2 where id = $1', [send.id, endToEnd]);
  const again = await settle(settlement.eventId);
  assert.deepEqual([again.status, results(again)], ['processed', ['applied']]);
});
