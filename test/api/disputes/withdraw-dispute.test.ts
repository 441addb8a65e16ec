/** The withdrawal of a dispute. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { repeatDisputes } from '../../../src/disputes/repeat-disputes.ts';
import { timedOut } from '../../../src/provider/errors.ts';
import { refusal, repeatJob, startDisputeApp } from './dispute-app.ts';

const app = await startDisputeApp();
const { provider } = app.context;

test('an open dispute is withdrawn, and a repeat changes nothing', async () => {
  const paid = await app.pay();
  await app.open(paid);
  const { status, body } = await app.withdraw(paid);
  assert.deepEqual([status, body.status, typeof body.ended_at], [200, 'WITHDRAWN', 'string']);
  assert.deepEqual((await app.withdraw(paid)).body, body);
  assert.deepEqual((await app.show(paid)).body, body);
  assert.equal(app.bank.state.disputes.get(paid.endToEnd)?.status, 'WITHDRAWN');
  assert.equal((await app.open(paid)).body.status, 'WITHDRAWN');
});

test('a dispute that is not open yet, or has ended, is not withdrawn', async (t) => {
  const [early, late] = [await app.pay(), await app.pay()];
  const failing = t.mock.method(provider, 'openDispute', () =>
    Promise.reject(timedOut('unknown', null)),
  );
  await app.open(early);
  failing.mock.restore();
  const notYet = await app.withdraw(early);
  assert.equal(notYet.status, 422);
  assert.match(notYet.body.errors.transactionId[0], /not confirmed the dispute yet/);
  t.mock.method(provider, 'openDispute', () => Promise.resolve('REJECTED'));
  assert.equal((await app.open(late)).body.status, 'REJECTED');
  const over = await app.withdraw(late);
  assert.deepEqual(over.body.errors, { transactionId: ['The dispute is not open.'] });
});

test('a withdrawal that the bank has not confirmed is repeated by the job', async (t) => {
  const paid = await app.pay();
  await app.open(paid);
  const failing = t.mock.method(provider, 'withdrawDispute', () =>
    Promise.reject(timedOut('unknown', null)),
  );
  const { body } = await app.withdraw(paid);
  assert.deepEqual([body.status, typeof body.withdrawal_requested_at], ['OPEN', 'string']);
  failing.mock.restore();
  await app.clock.advance(60_000);
  await repeatDisputes.run(app.context, repeatJob);
  assert.equal((await app.show(paid)).body.status, 'WITHDRAWN');
});

test('a refused withdrawal is 502, and the dispute stays open', async (t) => {
  const paid = await app.pay();
  await app.open(paid);
  t.mock.method(provider, 'withdrawDispute', () => Promise.reject(refusal));
  const { status, body } = await app.withdraw(paid);
  assert.deepEqual([status, body.code], [502, 'PROVIDER_REJECTED']);
  const shown = await app.show(paid);
  assert.deepEqual([shown.body.status, shown.body.withdrawal_requested_at], ['OPEN', undefined]);
});

test('a dispute that the bank has decided before the withdrawal keeps its end', async (t) => {
  const paid = await app.pay();
  await app.open(paid);
  t.mock.method(provider, 'withdrawDispute', () => Promise.resolve('ACCEPTED'));
  assert.equal((await app.withdraw(paid)).body.status, 'ACCEPTED');
});
