/** Settling the payments of a charge that was completed by an event without an end-to-end id. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { previewReplay, replayEvent } from '../../../src/settlement/replay.ts';
import { results, startSettlingApp } from './settling.ts';

const app = await startSettlingApp();
const { receive, stored, customer } = app;

const { newEndToEnd } = app;

/** A static charge that is completed, by its identification alone. */
async function givenCompletedCharge() {
  const charged = await app.charge(customer, { type: 'static', amount: 20, reusable: true });
  const { id, transaction_identification: txid } = await stored(charged.body.transaction_id);
  const settlement = await receive({ event: 'CHARGE_COMPLETED', txid });
  assert.deepEqual(results(settlement), ['applied']);
  return { id, txid, eventId: settlement.eventId };
}

const payment = (txid: string | null, endToEndId: string = newEndToEnd()) => ({
  pix: [{ horario: '2026-05-24T12:00:00.000Z', endToEndId, txid, valor: '20.00' }],
});

async function received(): Promise<string[]> {
  const rows = await app.rows<{ end_to_end: string }>(
    `select end_to_end from pix_transactions where user_id = $1 and operation = 'RECEIVED'`,
    [customer.id],
  );
  return rows.map(({ end_to_end: endToEnd }) => endToEnd);
}

test('the first payment that names it is the one that completed it, and the next is received', async () => {
  const { id, txid } = await givenCompletedCharge();
  const [first, second] = [newEndToEnd(), newEndToEnd()];
  assert.deepEqual(results(await receive(payment(txid, first))), ['already']);
  assert.equal((await stored(id)).end_to_end, first);
  assert.equal((await app.timeline(id)).at(-1), 'SETTLED IDENTIFIED event');
  assert.deepEqual(results(await receive(payment(txid, second))), ['applied']);
  assert.deepEqual(await received(), [second]);
});

test('of two payments that are reported at once, one is that of the charge', async () => {
  for (let round = 0; round < 5; round += 1) {
    const { txid } = await givenCompletedCharge();
    const before = (await received()).length;
    const events = [await app.deliver(payment(txid)), await app.deliver(payment(txid))];
    const settled = await Promise.all(events.map((id) => app.settle(id)));
    assert.deepEqual(settled.flatMap(results).sort(), ['already', 'applied']);
    assert.equal((await received()).length - before, 1);
  }
});

test('a payment of another charge is an anomaly of the charge that it names, recorded once', async () => {
  const [first, second] = [await givenCompletedCharge(), await givenCompletedCharge()];
  const endToEnd = newEndToEnd();
  await receive(payment(first.txid, endToEnd));
  const before = await app.anomalies();
  const eventId = await app.deliver(payment(second.txid, endToEnd));
  const previewed = await previewReplay(app.context, eventId);
  assert.ok(previewed.kind === 'preview');
  assert.deepEqual(
    [previewed.statusAfter, previewed.items[0]?.reason],
    ['anomaly', 'breaks_a_constraint'],
  );
  const settlement = await app.settle(eventId);
  assert.deepEqual(results(settlement), ['anomaly: breaks_a_constraint']);
  await replayEvent(app.context, settlement.eventId);
  assert.equal((await app.anomalies()) - before, 1);
  assert.equal((await stored(second.id)).end_to_end, null);
  assert.equal((await app.timeline(second.id)).at(-1), 'ANOMALY breaks_a_constraint event');
});

test('a replay of the event that completed it finds that done after a payment was identified', async () => {
  const { id, txid, eventId } = await givenCompletedCharge();
  const again = await receive({ event: 'CHARGE_COMPLETED', txid, again: true });
  await receive(payment(txid));
  const before = [await stored(id), await app.timeline(id)];
  for (const [event, status, result] of [
    [eventId, 'processed', 'applied'],
    [again.eventId, 'anomaly', 'anomaly'],
  ] as const) {
    const previewed = await previewReplay(app.context, event);
    assert.ok(previewed.kind === 'preview');
    assert.deepEqual([previewed.statusAfter, previewed.items[0]?.transactionId], [status, id]);
    const replayed = await replayEvent(app.context, event);
    assert.ok(replayed.kind === 'replayed');
    assert.deepEqual([replayed.status, replayed.items[0]?.result], [status, result]);
  }
  assert.deepEqual([await stored(id), await app.timeline(id)], before);
});

test('without any id, an event after the payment was identified may report another: an anomaly', async () => {
  const { id, txid } = await givenCompletedCharge();
  await receive(payment(txid));
  const later = await receive({ event: 'CHARGE_COMPLETED', txid, later: true });
  assert.deepEqual(results(later), ['anomaly: paid_again_without_id']);
  assert.equal((await app.timeline(id)).at(-1), 'ANOMALY paid_again_without_id event');
});

test('an event about a dynamic charge that is paid reports the same payment', async () => {
  const charged = await app.charge(customer, { type: 'dynamic', amount: 20 });
  const { transaction_identification: txid } = await stored(charged.body.transaction_id);
  await receive(payment(txid));
  const later = await receive({ event: 'CHARGE_COMPLETED', txid });
  assert.deepEqual(results(later), ['already']);
});
