/** PROVIDER_PAYMENT_RETRIES=0: a bank that executes every repeat debits a payment once. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { givenCustomer, logIn } from '../../support/factories.ts';
import { startPixApp } from './pix-app.ts';
import { acceptance, startScriptedBank, type ScriptedResponse } from './scripted-bank.ts';

const bank = await startScriptedBank();
const environment = { ...bank.environment, PROVIDER_PAYMENT_RETRIES: '0' };
const app = await startPixApp({ bank: {} as never, environment });
const user = await givenCustomer(app);

const body = { pix_key: 'ana@example.com', amount: 10 };

/** Sends once, and counts what arrives at the bank. */
async function sent(answer: ScriptedResponse) {
  bank.onPayment = () => answer;
  const before = bank.payments.length;
  const token = await logIn(app, user.email);
  const response = await app.throughTime(app.send({ ...user, token }, body));
  return { response, payments: bank.payments.length - before };
}

for (const status of [500, 502, 503, 408]) {
  test(`a payment that is answered ${status} is not sent again: 200 PROCESSING, unknown`, async () => {
    const { response, payments } = await sent({ status, body: {} });
    assert.deepEqual([response.status, response.body.status, payments], [200, 'PROCESSING', 1]);
    assert.equal(response.headers.get('pix-outcome'), 'unknown');
  });
}

test('a payment whose token is refused has no second call: 401, unknown', async () => {
  const { response, payments } = await sent({ status: 401, body: { message: 'token' } });
  assert.deepEqual([response.status, payments], [401, 1]);
  assert.equal(response.headers.get('pix-outcome'), 'unknown');
});

test('a repeat with the same key sends no payment after a 401', async () => {
  bank.onPayment = () => ({ status: 401, body: {} });
  const key = 'refused-once';
  const first = await app.throughTime(app.send(user, body, { key }));
  bank.onPayment = acceptance;
  const before = bank.payments.length;
  const token = await logIn(app, user.email);
  const second = await app.throughTime(app.send({ ...user, token }, body, { key }));
  assert.deepEqual([first.status, second.status, second.body.status], [401, 200, 'PROCESSING']);
  assert.equal(bank.payments.length, before);
});
