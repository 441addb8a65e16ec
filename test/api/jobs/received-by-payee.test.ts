/** A payment that fails for its payer, and that its payee, another customer, has received. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { calendarDay } from '../../../src/domain/calendar.ts';
import { ProviderError } from '../../../src/provider/errors.ts';
import { findStatementUser } from '../../../src/settlement/reconciliation-repository.ts';
import { reconcileUser } from '../../../src/settlement/reconcile-user.ts';
import { givenCustomer } from '../../support/factories.ts';
import { mockQueries } from '../../support/intercepted.ts';
import { confirmed, results, startSettlingApp } from './settling.ts';

const app = await startSettlingApp();
const payee = await givenCustomer(app);
await app.listEmail(payee);

const received = (endToEnd: string) =>
  app.receive({ event: 'PIX_RECEIVED', endToEnd, amount: 10.5, key: payee.email });

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

test('a receipt that is stored while its send fails is an anomaly of the send', async (t) => {
  let endToEnd = '';
  t.mock.method(app.context.provider, 'pay', ({ order }: { order: { endToEnd: string } }) => {
    ({ endToEnd } = order);
    return Promise.reject(refused);
  });
  let looks = 0;
  mockQueries(t, app.context.db, (run) => async (statement, parameters) => {
    const rows = await run(statement, parameters);
    if (statement.name !== 'pix-receipt-of-payee') return rows;
    looks += 1;
    if (looks === 1) await received(endToEnd);
    return rows;
  });
  const sent = await app.send(app.customer, { pix_key: payee.email, amount: 10.5 });
  assert.equal(sent.headers.get('pix-outcome'), 'rejected');
  const timeline = await app.timeline(sent.body.transaction_id);
  assert.equal(timeline.at(-1), 'ANOMALY received_by_payee');
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
  await app.receive(confirmed({ status: 'ERROR', endToEnd, amount: 10.5 }));
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
