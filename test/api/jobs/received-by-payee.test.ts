/** A payment that fails for its payer, and that its payee, another customer, has received. */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { calendarDay } from '../../../src/domain/calendar.ts';
import { ProviderError } from '../../../src/provider/errors.ts';
import { findStatementUser } from '../../../src/settlement/reconciliation-repository.ts';
import { reconcileUser } from '../../../src/settlement/reconcile-user.ts';
import { givenCustomer } from '../../support/factories.ts';
import { intercepted, mockQueries } from '../../support/intercepted.ts';
import { reachedPayee, resolvePix, riskOfFailing } from '../../../src/operator/pix-resolve.ts';
import { unwatched } from '../operator/asking.ts';
import { confirmed, results, startSettlingApp, type Settlement } from './settling.ts';

const app = await startSettlingApp();
const payee = await givenCustomer(app);
await app.listEmail(payee);

const receiptOf = (endToEnd: string) => ({
  event: 'PIX_RECEIVED',
  endToEnd,
  amount: 10.5,
  key: payee.email,
});

const received = (endToEnd: string) => app.receive(receiptOf(endToEnd));

const failureOf = (endToEnd: string) => confirmed({ status: 'ERROR', endToEnd, amount: 10.5 });

const refused = new ProviderError({
  outcome: 'rejected',
  code: 'PROVIDER_REJECTED',
  statusClass: '4xx',
  refusalCode: 'AC03',
});

test('a refusal does not fail a send that its payee has received', async (t) => {
  t.mock.method(app.context.provider, 'pay', async ({ order }: { order: { endToEnd: string } }) => {
    assert.deepEqual(results(await received(order.endToEnd)), ['applied']);
    throw refused;
  });
  const sent = await app.send(app.customer, { pix_key: payee.email, amount: 10.5 });
  assert.deepEqual(
    [sent.status, sent.body.status, sent.headers.get('pix-outcome'), sent.headers.get('pix-next')],
    [200, 'PROCESSING', 'unknown', 'wait'],
  );
  const timeline = await app.timeline(sent.body.transaction_id);
  assert.ok(timeline.includes('ANOMALY received_by_payee'), timeline.join());
});

/** Settles an event; after its first judgement has read what is stored, `meanwhile` happens. */
async function settleWhile(
  t: TestContext,
  eventId: string,
  meanwhile: () => Promise<unknown>,
): Promise<Settlement> {
  let isRead = false;
  mockQueries(t, app.context.db, (run) => async (statement, parameters) => {
    const rows = await run(statement, parameters);
    if (statement.name !== 'pix-candidates' || isRead) return rows;
    isRead = true;
    await meanwhile();
    return rows;
  });
  const settlement = await app.settle(eventId);
  assert.ok(isRead);
  return settlement;
}

test('a report of a failure that is judged while the receipt is stored fails nothing', async (t) => {
  const { id, end_to_end: endToEnd } = await app.givenSend();
  const failure = await app.deliver(failureOf(endToEnd));
  const settled = await settleWhile(t, failure, () => received(endToEnd));
  assert.deepEqual(results(settled), ['anomaly: received_by_payee']);
  assert.equal((await app.stored(id)).status, 'PROCESSING');
});

test('a receipt that is judged while a report fails its send is an anomaly of the send', async (t) => {
  const { id, end_to_end: endToEnd } = await app.givenSend();
  const receipt = await app.deliver(receiptOf(endToEnd));
  const settled = await settleWhile(t, receipt, () => app.receive(failureOf(endToEnd)));
  assert.deepEqual(results(settled), ['anomaly: received_by_payee']);
  assert.equal(
    (await app.receivedBy(payee)).some((one) => one.end_to_end === endToEnd),
    true,
  );
  assert.equal((await app.stored(id)).status, 'FAILED');
  assert.equal((await app.timeline(id)).at(-1), 'ANOMALY received_by_payee event');
});

test('a receipt that is judged while a response fails its send is an anomaly of the send', async (t) => {
  const called = Promise.withResolvers<string>();
  const answered = Promise.withResolvers<never>();
  t.mock.method(app.context.provider, 'pay', ({ order }: { order: { endToEnd: string } }) => {
    called.resolve(order.endToEnd);
    return answered.promise;
  });
  const sending = app.send(app.customer, { pix_key: payee.email, amount: 10.5 });
  const receipt = await app.deliver(receiptOf(await called.promise));
  await settleWhile(t, receipt, () => {
    answered.reject(refused);
    return sending;
  });
  const sent = await sending;
  assert.equal(sent.headers.get('pix-outcome'), 'rejected');
  const timeline = await app.timeline(sent.body.transaction_id);
  assert.equal(timeline.at(-1), 'ANOMALY received_by_payee event');
});

test('a receipt whose process dies before it is stored is stored by its next judgement', async (t) => {
  const { id, end_to_end: endToEnd } = await app.givenSend();
  const receipt = await app.deliver(receiptOf(endToEnd));
  const died = new Error('the process died');
  let isDead = false;
  mockQueries(t, app.context.db, (run) => (statement, parameters) => {
    if (statement.name !== 'pix-received' || isDead) return run(statement, parameters);
    isDead = true;
    return Promise.reject(died);
  });
  await assert.rejects(app.settle(receipt), died);
  const failure = await app.receive(failureOf(endToEnd));
  assert.deepEqual(results(failure), ['anomaly: received_by_payee']);
  assert.deepEqual(results(await app.settle(receipt)), ['applied']);
  assert.equal((await app.stored(id)).status, 'PROCESSING');
});

test('a refusal does not fail a send whose receipt release 1.2.0 has stored', async (t) => {
  t.mock.method(app.context.provider, 'pay', async ({ order }: { order: { endToEnd: string } }) => {
    const { endToEnd } = order;
    await received(endToEnd);
    await app.ownerRows('update pix_transactions set reached_payee = null where end_to_end = $1', [
      endToEnd,
    ]);
    throw refused;
  });
  const sent = await app.send(app.customer, { pix_key: payee.email, amount: 10.5 });
  assert.equal(sent.headers.get('pix-outcome'), 'unknown');
  const timeline = await app.timeline(sent.body.transaction_id);
  assert.equal(timeline.at(-1), 'ANOMALY received_by_payee');
});

test('a report of a failure that names its send without its end-to-end id fails nothing', async () => {
  const { id, end_to_end: endToEnd } = await app.givenSend('both');
  await received(endToEnd);
  const { provider_txid: transactionId } = await app.stored(id);
  const failure = {
    ...confirmed({ status: 'ERROR', amount: 10.5 }),
    clientRequestId: 'both',
    transactionId,
  };
  assert.deepEqual(results(await app.receive(failure)), ['anomaly: received_by_payee']);
  assert.equal((await app.stored(id)).status, 'PROCESSING');
});

test('an operator fails no send that its payee has received, unless it is said', async (t) => {
  const { dialects, provider } = app.context;
  t.mock.method(provider, 'statement', () =>
    Promise.resolve({ ...dialects.readStatement([], false), isFinal: true }),
  );
  const { id, end_to_end: endToEnd } = await app.givenSend();
  await received(endToEnd);
  const decision = {
    id,
    as: 'failed',
    reason: 'the bank says so',
    confirm: riskOfFailing,
  } as const;
  await assert.rejects(resolvePix.run(app.context, decision, unwatched), {
    code: 'REFUSED',
    message: `${reachedPayee}; to call it failed all the same, give --despite-statement`,
  });
  assert.equal((await app.stored(id)).status, 'PROCESSING');
  await resolvePix.run(app.context, { ...decision, despiteStatement: true }, unwatched);
  assert.equal((await app.stored(id)).status, 'FAILED');
  assert.ok((await app.timeline(id)).includes('ANOMALY received_by_payee'));
});

test('a decision that comes too late leaves what is known of the receipt', async () => {
  const { id, end_to_end: endToEnd } = await app.givenSend();
  await received(endToEnd);
  const confirm = riskOfFailing;
  const late = { id, as: 'failed', reason: 'ticket 7', confirm, despiteStatement: true } as const;
  const db = intercepted(app.context.db, (run) => (statement, parameters) => {
    return statement.name === 'pix-move' ? Promise.resolve([]) : run(statement, parameters);
  });
  const decided = resolvePix.run({ ...app.context, db }, late, unwatched);
  await assert.rejects(decided, { code: 'REFUSED', message: /it has moved to/ });
  assert.deepEqual(results(await app.receive(failureOf(endToEnd))), ['anomaly: received_by_payee']);
});

test('a refusal fails a send whose money has come back to its payer', async (t) => {
  const { email } = app.customer;
  t.mock.method(app.context.provider, 'pay', async ({ order }: { order: { endToEnd: string } }) => {
    const back = { event: 'PIX_RECEIVED', endToEnd: order.endToEnd, amount: 10.5, key: email };
    await app.receive(back);
    throw refused;
  });
  const sent = await app.send(app.customer, { pix_key: payee.email, amount: 10.5 });
  assert.equal(sent.headers.get('pix-outcome'), 'rejected');
});

test('a refusal of a send that an event has completed contradicts it', async (t) => {
  t.mock.method(app.context.provider, 'pay', async ({ order }: { order: { endToEnd: string } }) => {
    const { endToEnd } = order;
    await received(endToEnd);
    await app.receive(confirmed({ endToEnd, amount: 10.5 }));
    throw refused;
  });
  const sent = await app.send(app.customer, { pix_key: payee.email, amount: 10.5 });
  assert.equal(sent.body.status, 'COMPLETED');
  const timeline = await app.timeline(sent.body.transaction_id);
  assert.equal(timeline.at(-1), 'ANOMALY contradicted_by_FAILED');
});

test('a refusal fails a send beside money that another payment has brought', async (t) => {
  await received(app.newEndToEnd());
  t.mock.method(app.context.provider, 'pay', () => Promise.reject(refused));
  const sent = await app.send(app.customer, { pix_key: payee.email, amount: 10.5 });
  assert.equal(sent.headers.get('pix-outcome'), 'rejected');
});

test('the statement of the payee contradicts a send that has failed', async (t) => {
  const { id, end_to_end: endToEnd } = await app.givenSend();
  await app.receive(failureOf(endToEnd));
  assert.equal((await app.stored(id)).status, 'FAILED');
  const line = { id: 'line', type: 'PIX_RECEIVED', direction: 'CREDIT', endToEnd, amount: 10.5 };
  const { dialects, provider } = app.context;
  t.mock.method(provider, 'statement', () => {
    const read = dialects.readStatement([{ ...line, status: 'CONFIRMED' }], false);
    return Promise.resolve({ ...read, isFinal: true });
  });
  const user = (await findStatementUser(app.context, payee.id)) ?? assert.fail();
  const today = calendarDay(app.clock.now());
  const days = { first: today, last: today, options: {} };
  const result = await reconcileUser(app.context, user, days);
  assert.deepEqual(result.state === 'READ' && result.settled.map(({ action }) => action), [
    'received',
  ]);
  const timeline = await app.timeline(id);
  assert.equal(timeline.at(-1), 'ANOMALY received_by_payee');
});
