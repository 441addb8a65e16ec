/** The balance: the provider's when it answers, otherwise its last one. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { upsertAccountFromLogin } from '../../../src/accounts/account-repository.ts';
import {
  done,
  faulty,
  refused,
  type BankResponse,
} from '../../../src/provider/sandbox/bank/response.ts';
import type { AccountBalance } from '../../../src/provider/provider.ts';
import { startTestApp, type TestResponse } from '../../support/app.ts';
import { eventually } from '../../support/eventually.ts';
import { givenApplication, givenCustomer, givenUser, logIn } from '../../support/factories.ts';
import { passUntil } from '../../support/passing-time.ts';

const app = await startTestApp({ environment: { JOBS: 'off', PROVIDER_RETRIES: '0' } });

function balance(token: string, headers: Record<string, string> = {}): Promise<TestResponse> {
  return app.call('/accounts/balance', { token, headers });
}

async function findReading(userId: number): Promise<Record<string, unknown> | undefined> {
  const [reading] = await app.rows(
    'select balance, balance_read_at from accounts where user_id = $1',
    [userId],
  );
  return reading;
}

test("the provider's balance is answered, and the reading is stored", async () => {
  const { id, token } = await givenCustomer(app);
  assert.deepEqual(await findReading(id), { balance: null, balance_read_at: null });
  const response = await balance(token);
  assert.equal(response.status, 200);
  assert.deepEqual(response.body, { balance: 10_000, source: 'provider' });
  assert.deepEqual(await findReading(id), {
    balance: '10000.00',
    balance_read_at: app.clock.now(),
  });
});

test('each reading replaces the one before', async () => {
  const { id, token } = await givenCustomer(app);
  await balance(token);
  const body = { pix_key: 'ana@example.com', amount: 0.07 };
  assert.equal((await app.call('/pix/send', { token, key: 'payment', body })).status, 200);
  await app.clock.advance(1_000);
  assert.deepEqual((await balance(token)).body, { balance: 9_999.93, source: 'provider' });
  assert.deepEqual(await findReading(id), { balance: '9999.93', balance_read_at: app.clock.now() });
});

for (const [cents, reais] of [
  [0, 0],
  [1, 0.01],
  [-1_050, -10.5],
  [435, 4.35],
  [99_999_999_999, 999_999_999.99],
] as const) {
  test(`${cents} centavos are ${reais} reais, from the provider or stored`, async (t) => {
    const { token } = await givenCustomer(app);
    const { mock } = t.mock.method(app.bank, 'balance', () => done({ cents, blockedCents: null }));
    assert.deepEqual((await balance(token)).body, { balance: reais, source: 'provider' });
    mock.mockImplementation(() => faulty('unavailable') as never);
    assert.deepEqual((await balance(token)).body, { balance: reais, source: 'local' });
  });
}

test('a blocked part is answered where the provider offers it, and absent elsewhere', async (t) => {
  const { token } = await givenCustomer(app);
  t.mock.method(app.bank, 'balance', () => done({ cents: 152_340, blockedCents: 20_000 }));
  const whole = { balance: 1523.4, source: 'provider' };
  assert.deepEqual((await balance(token)).body, { ...whole, blocked: 200 });
  const none = await startTestApp({
    environment: { JOBS: 'off', PROVIDER_FEATURES: 'none' },
  });
  const other = await givenCustomer(none);
  t.mock.method(none.bank, 'balance', () => done({ cents: 152_340, blockedCents: 20_000 }));
  const response = await none.call('/accounts/balance', { token: other.token });
  assert.deepEqual(response.body, whole);
});

// The provider fails.

const failures: [what: string, response: BankResponse<AccountBalance>][] = [
  ['answers 503', faulty('unavailable')],
  ['answers 500', faulty('internal_error')],
  ['answers with HTML', faulty('garbled')],
  ['limits the requests', refused({ kind: 'rate_limited', reason: 'TooMany' })],
  ['refuses by a rule of its own', refused({ kind: 'rule', reason: 'Blocked' })],
];

for (const [what, failure] of failures) {
  test(`the stored balance is answered when the provider ${what}, and is kept`, async (t) => {
    const { id, token } = await givenCustomer(app);
    await balance(token);
    const reading = await findReading(id);
    t.mock.method(app.bank, 'balance', () => failure);
    await app.clock.advance(1_000);
    const response = await balance(token);
    assert.equal(response.status, 200);
    assert.deepEqual(response.body, { balance: 10_000, source: 'local' });
    assert.deepEqual(await findReading(id), reading);
  });
}

test('the stored balance is answered when the provider does not answer in time', async (t) => {
  const { token } = await givenCustomer(app);
  await balance(token);
  const { mock } = t.mock.method(app.bank, 'balance', () => faulty('hang'));
  const response = balance(token);
  await eventually(() => mock.callCount() === 1, 'the question to the bank');
  await app.clock.advance(100);
  assert.deepEqual((await response).body, { balance: 10_000, source: 'local' });
});

test("the provider's balance is answered again when it is back", async (t) => {
  const { token } = await givenCustomer(app);
  await balance(token);
  const { mock } = t.mock.method(app.bank, 'balance', () => faulty('unavailable'));
  assert.equal((await balance(token)).body.source, 'local');
  mock.restore();
  assert.equal((await balance(token)).body.source, 'provider');
});

test('the stored balance is answered to offline@ponte.test', async () => {
  const { id, token } = await givenCustomer(app, { email: 'offline@ponte.test' });
  await app.rows('update accounts set balance = 12.34, balance_read_at = $2 where user_id = $1', [
    id,
    app.clock.now(),
  ]);
  assert.deepEqual((await balance(token)).body, { balance: 12.34, source: 'local' });
});

test("another user's stored balance is not answered", async (t) => {
  const [one, other] = [await givenCustomer(app), await givenCustomer(app)];
  await balance(one.token);
  t.mock.method(app.bank, 'balance', () => faulty('unavailable'));
  assert.equal((await balance(one.token)).status, 200);
  assert.equal((await balance(other.token)).status, 503);
});

test('the stored balance of an account is not answered for the next one', async (t) => {
  const { id: userId, token } = await givenCustomer(app);
  await balance(token);
  const parts = { document: null, companyId: null, clientToken: null };
  const next = { userId, agency: '0001', accountNumber: '2000225', ...parts };
  await upsertAccountFromLogin(app.context, next);
  t.mock.method(app.bank, 'balance', () => faulty('unavailable'));
  assert.equal((await balance(token)).status, 503);
});

// 404

test('404 without an account, and the provider is not called', async (t) => {
  const { id, email } = await givenUser(app);
  await givenApplication(app, id, 'IN_PROGRESS');
  const token = await logIn(app, email);
  const { mock } = t.mock.method(app.bank, 'balance');
  const response = await balance(token);
  assert.equal(response.status, 404);
  assert.deepEqual(response.body, { message: 'Not found.' });
  assert.equal(mock.callCount(), 0);
});

// 503

test('503 when the provider does not answer and no balance was ever read', async (t) => {
  const { token } = await givenCustomer(app);
  t.mock.method(app.bank, 'balance', () => faulty('unavailable'));
  const response = await balance(token, { 'accept-language': 'pt-BR' });
  assert.equal(response.status, 503);
  assert.equal(response.headers.get('retry-after'), '10');
  const message = 'O saldo não está disponível no momento. Tente novamente em instantes.';
  assert.deepEqual(response.body, { message });
});

// 401

test('401 without a token', async () => {
  assert.equal((await app.call('/accounts/balance')).status, 401);
});

test('401 after a logout', async () => {
  const { token } = await givenCustomer(app);
  await app.call('/auth/logout', { method: 'POST', token });
  assert.equal((await balance(token)).status, 401);
});

test('401 when the provider refuses its token, although a balance is stored', async () => {
  const { email, token } = await givenCustomer(app);
  assert.equal((await balance(token)).status, 200);
  app.bank.expireCustomerTokens(email);
  const response = await passUntil(app.clock, balance(token));
  assert.equal(response.status, 401);
  assert.deepEqual(Object.keys(response.body), ['message']);
});
