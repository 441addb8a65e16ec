/** Events of the provider about disputes, the decisions of the simulated bank, and app events. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { notSent } from '../../../src/provider/errors.ts';
import { givenCustomer } from '../../support/factories.ts';
import { eventually } from '../../support/eventually.ts';
import { startDisputeApp, type PaidSend } from './dispute-app.ts';

const app = await startDisputeApp({
  environment: {
    APP_EVENTS_URL: 'http://127.0.0.1:9/events',
    APP_EVENTS_SECRET: `whsec_${'A'.repeat(32)}`,
  },
});
const off = await startDisputeApp({ environment: { PROVIDER_FEATURES: 'none' } });
const { provider } = app.context;

interface EventResult {
  readonly result: string;
  readonly reason?: string;
  readonly transactionId?: string;
}

/** Delivers an event. @returns what became of its only item. */
async function report(fields: object, to = app): Promise<EventResult> {
  const body = { event: 'PIX_DISPUTE', id: randomUUID(), ...fields };
  const { body: reply } = await to.call('/webhooks/provider', { body });
  const row = await eventually(async () => {
    const [event] = await to.rows<{ results: EventResult[] | null }>(
      'select results from webhook_events where id = $1 and processed_at is not null',
      [reply.event_id],
    );
    return event;
  }, 'the settlement of the event');
  const [{ result, reason, transactionId } = { result: 'none' }] = row.results ?? [];
  return { result, ...(reason && { reason }), ...(transactionId && { transactionId }) };
}

async function readStatus(paid: PaidSend): Promise<string> {
  return (await app.show(paid)).body.status;
}

/** The app events about the dispute of a payment, oldest first. */
async function readAppEvents({ id }: PaidSend): Promise<string[]> {
  const rows = await app.rows<{ type: string }>(
    `select type from app_events where transaction_id = $1 and type like 'dispute.%'
      order by at, id`,
    [id],
  );
  return rows.map(({ type }) => type);
}

test('an event moves a dispute by the end-to-end id, or by our id of it', async () => {
  for (const name of ['endToEnd', 'disputeId']) {
    const paid = await app.pay();
    await app.open(paid);
    const id = name === 'endToEnd' ? paid.endToEnd : paid.id;
    const applied = { result: 'applied', transactionId: paid.id };
    assert.deepEqual(await report({ [name]: id, status: 'REJECTED' }), applied);
    const { body } = await app.show(paid);
    assert.deepEqual([body.status, typeof body.ended_at], ['REJECTED', 'string']);
    const again = await report({ [name]: id, status: 'REJECTED' });
    assert.deepEqual(again, { result: 'already', transactionId: paid.id });
  }
});

test('the payment and its status stay as they are', async () => {
  const paid = await app.pay();
  await app.open(paid);
  const before = await app.stored(paid.id);
  await report({ endToEnd: paid.endToEnd, status: 'ACCEPTED' });
  assert.deepEqual(await app.stored(paid.id), before);
  assert.equal((await app.show(paid)).body.refunded_amount, undefined);
});

test('a final status stays, whatever a later event says', async () => {
  const paid = await app.pay();
  await app.open(paid);
  await app.withdraw(paid);
  for (const status of ['OPEN', 'ACCEPTED', 'REJECTED']) {
    const ended = { result: 'ignored', reason: 'dispute_ended', transactionId: paid.id };
    assert.deepEqual(await report({ disputeId: paid.id, status }), ended);
  }
  assert.equal(await readStatus(paid), 'WITHDRAWN');
});

test('the event of the bank proves a request whose response was lost', async () => {
  const paid = await app.pay('dispute-lost@ponte.test');
  assert.equal((await app.throughTime(app.open(paid))).status, 200);
  await eventually(async () => (await readStatus(paid)) === 'OPEN', 'the event');
});

test('a dispute of another channel is shown, kept on a request, and can be withdrawn', async () => {
  const paid = await app.pay();
  await app.bank.openDisputeElsewhere(paid.endToEnd);
  await eventually(async () => (await app.show(paid)).status === 200, 'the dispute');
  const { body } = await app.show(paid);
  assert.deepEqual([body.status, body.situation], ['OPEN', undefined]);
  assert.deepEqual((await app.open(paid)).body, body);
  assert.equal((await app.withdraw(paid)).body.status, 'WITHDRAWN');
});

test('an event about an unknown payment, or whose ids disagree, waits', async () => {
  const [paid, other] = [await app.pay(), await app.pay()];
  for (const ids of [
    { endToEnd: 'E99999999202605241200aaaaaaaaaaa' },
    { disputeId: randomUUID() },
    { disputeId: paid.id, endToEnd: other.endToEnd },
  ]) {
    const waits = { result: 'parked', reason: 'no_match' };
    assert.deepEqual(await report({ ...ids, status: 'ACCEPTED' }), waits);
  }
  const foreign = await report({ disputeId: 'not-ours', endToEnd: paid.endToEnd, status: 'OPEN' });
  assert.deepEqual(foreign, { result: 'ignored', reason: 'unknown_payment' });
  assert.equal((await app.show(paid)).status, 404);
});

test('an event that is ahead of the settlement of its payment waits for it', async () => {
  const user = await givenCustomer(app);
  const { body } = await app.send(user, { pix_key: 'silent@ponte.test', amount: 10 });
  const { transaction_id: id, end_to_end: endToEnd } = body;
  const waits = { result: 'parked', reason: 'not_completed_yet', transactionId: id };
  assert.deepEqual(await report({ endToEnd, status: 'OPEN' }), waits);
  const paid = { user, id, endToEnd };
  assert.equal((await app.show(paid)).status, 404);
  await app.bank.settle(endToEnd);
  await app.settled(id);
  await app.throughPolls(
    eventually(async () => (await readStatus(paid)) === 'OPEN', 'the event that waited'),
  );
});

test('an event about a payment that has failed waits for its correction', async () => {
  const user = await givenCustomer(app);
  const { body } = await app.send(user, { pix_key: 'fail@ponte.test', amount: 10 });
  await app.bank.settle(body.end_to_end);
  assert.equal((await app.settled(body.transaction_id)).status, 'FAILED');
  const result = await report({ endToEnd: body.end_to_end, status: 'OPEN' });
  assert.deepEqual(result, { result: 'parked', reason: 'payment_failed' });
});

test('the refusals of a dispute that is requested again are announced, one in a minute', async () => {
  const paid = await app.pay('dispute-refused@ponte.test');
  await app.open(paid);
  await app.open(paid);
  await app.clock.advance(60_000);
  await app.open(paid, { situation: 'COERCION' });
  assert.deepEqual(await readAppEvents(paid), ['dispute.refused', 'dispute.refused']);
});

test('a word that no table has moves nothing', async () => {
  const paid = await app.pay();
  await app.open(paid);
  const { result, reason } = await report({ endToEnd: paid.endToEnd, status: 'COMPLETED' });
  assert.deepEqual([result, reason], ['ignored', 'unknown_status']);
  assert.equal(await readStatus(paid), 'OPEN');
});

test('a bare MED event is no refund, and moves neither the payment nor the dispute', async () => {
  const paid = await app.pay();
  await app.open(paid);
  const body = { event: 'MED', id: 'm-1', endToEnd: paid.endToEnd, status: 'OPEN', amount: 100.5 };
  await report(body);
  assert.equal(await readStatus(paid), 'OPEN');
  const refunds = await app.rows('select 1 from pix_transactions where original_id = $1', [
    paid.id,
  ]);
  assert.deepEqual(refunds, []);
});

test('without the feature an event is ignored', async () => {
  const paid = await off.pay();
  const ignored = await report({ endToEnd: paid.endToEnd, status: 'OPEN' }, off);
  assert.deepEqual(ignored, { result: 'ignored', reason: 'not_available' });
});

for (const [key, decision, amount] of [
  ['bruno@example.com', 'ACCEPTED', 100.5],
  ['dispute-partial@ponte.test', 'ACCEPTED', 50.25],
  ['dispute-rejected@ponte.test', 'REJECTED', undefined],
] as const) {
  test(`a dispute of a payment to ${key}: the bank decides ${decision}`, async () => {
    const paid = await app.pay(key);
    await app.open(paid);
    await app.bank.decideDispute(paid.endToEnd);
    await eventually(async () => {
      const { body } = await app.show(paid);
      return body.status === decision && body.refunded_amount === amount;
    }, 'the decision and the money');
    const types = await readAppEvents(paid);
    const expected = ['dispute.open', `dispute.${decision.toLowerCase()}`];
    assert.deepEqual(types.toSorted(), expected.toSorted());
    const { body } = await app.call(`/pix/${paid.id}/receipt`, { token: paid.user.token });
    assert.deepEqual([body.status, body.refunded_amount], ['COMPLETED', amount]);
  });
}

test('an app event says that the bank has refused the request', async () => {
  const paid = await app.pay('dispute-refused@ponte.test');
  await app.open(paid);
  assert.deepEqual(await readAppEvents(paid), ['dispute.refused']);
});

test('a request that waits writes no app event', async (t) => {
  const paid = await app.pay();
  t.mock.method(provider, 'openDispute', () => Promise.reject(notSent('connect', null)));
  await app.open(paid);
  assert.deepEqual(await readAppEvents(paid), []);
});
