/** The account that a login at a provider over HTTP reports, and the one opened here. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { findPayees } from '../../../src/ledger/payee-repository.ts';
import { isHeldByUser } from '../../../src/onboarding/account.ts';
import type { ProviderAccount } from '../../../src/provider/provider.ts';
import { done } from '../../../src/provider/sandbox/bank/response.ts';
import {
  givenCustomer,
  givenUser,
  logIn,
  password,
  readSessions,
} from '../../support/factories.ts';
import { startSandboxedApp } from '../../support/sandboxed-app.ts';

const app = await startSandboxedApp({ JOBS: 'off' });

/** A number that the service made up. */
const madeUp = { agency: '0001', account_number: '12345678' };

async function givenLocalAccount(userId: number, document: string): Promise<void> {
  await app.rows(
    `insert into accounts (user_id, provider, agency, account_number, document, status, balance,
                           balance_read_at, created_at, updated_at)
     values ($1, 'local', $2, $3, $4, 'ACTIVE', 10, now(), now(), now())`,
    [userId, ...Object.values(madeUp), document],
  );
}

async function readAccount(userId: number) {
  const [account] = await app.rows(
    'select provider, agency, account_number, document, balance from accounts where user_id = $1',
    [userId],
  );
  return account;
}

test('the account of the provider replaces one that was opened here', async () => {
  const { id, email } = await givenUser(app);
  const bank = app.sandbox.bank.login({ email, password });
  assert.ok(bank.outcome === 'done');
  const { agency, accountNumber, document } = bank.value.account;
  await givenLocalAccount(id, document);
  await logIn(app, email);
  const replaced = { provider: 'provider', agency, account_number: accountNumber, document };
  assert.deepEqual(await readAccount(id), { ...replaced, balance: null });
});

test('a number that was generated here is never sent to the provider', async (t) => {
  const { id, email } = await givenUser(app);
  await givenLocalAccount(id, '52998224725');
  const { bank } = app.sandbox;
  const login = bank.login.bind(bank);
  t.mock.method(bank, 'login', (credentials: Parameters<typeof login>[0]) => {
    const response = login(credentials);
    assert.ok(response.outcome === 'done');
    // Half of an account does not replace one.
    return done({ ...response.value, account: { ...response.value.account, accountNumber: '' } });
  });
  const token = await logIn(app, email);
  assert.equal((await readAccount(id))?.['account_number'], madeUp.account_number);
  const mocks = (['pay', 'listKeys', 'createKey', 'deleteKey', 'lookUpKey'] as const).map(
    (name) => t.mock.method(bank, name).mock,
  );
  const refusals = [
    await app.call('/pix/send', {
      token,
      key: randomUUID(),
      body: { pix_key: 'a@b.co', amount: 1 },
    }),
    await app.call('/pix/charge', {
      token,
      key: randomUUID(),
      body: { type: 'static', amount: 1 },
    }),
    await app.call('/pix/keys', { token }),
    await app.call('/pix/keys', { token, body: { key_type: 'CPF' } }),
    await app.call('/pix/keys', { method: 'DELETE', token, body: { key: 'a@b.co' } }),
  ];
  for (const { status, body } of refusals) {
    assert.deepEqual([status, Object.keys(body.errors ?? {})], [422, ['account']]);
  }
  for (const mock of mocks) assert.equal(mock.callCount(), 0);
  const stored = 'select operation, status, outcome from pix_transactions where user_id = $1';
  const refused = { operation: 'SEND', status: 'FAILED', outcome: 'not_sent' };
  assert.deepEqual(await app.rows(stored, [id]), [refused]);
});

test('a login at the provider as another person is refused as a wrong one, and logged', async () => {
  const { id, email } = await givenUser(app, { document: '52998224725' });
  const before = app.logLines.length;
  const response = await app.call('/auth/login', { body: { email, password } });
  const wrong = await app.call('/auth/login', { body: { email, password: 'not this one' } });
  assert.deepEqual([response.status, response.body], [422, wrong.body]);
  assert.deepEqual(await readSessions(app, id), []);
  assert.equal(await readAccount(id), undefined);
  const logged = app.logLines.slice(before).filter((line) => line.includes('another holder'));
  assert.equal(logged.length, 1);
  assert.ok(!logged[0]?.includes('52998224725') && !logged[0]?.includes(email));
});

test('only a simulated bank on a machine of a developer may name another document', async () => {
  const user = { document: '52998224725' };
  const account = { document: '11144477735' } as ProviderAccount;
  const config = { ...app.context.config, appEnv: 'local' as const, onboardingLocalOnly: true };
  const isLetIn = (provider: Partial<typeof config.provider>): boolean =>
    isHeldByUser(
      { config: { ...config, provider: { ...config.provider, ...provider } } },
      user,
      account,
    );
  assert.equal(isLetIn({ stub: true, baseUrl: undefined }), true);
  for (const baseUrl of [app.sandbox.url, 'http://localhost:9090', 'http://[::1]:9090']) {
    assert.equal(isLetIn({ stub: false, baseUrl }), true, baseUrl);
  }
  for (const baseUrl of ['https://bank.example', 'http://10.0.0.7:9090']) {
    assert.equal(isLetIn({ stub: false, baseUrl }), false, baseUrl);
  }
});

test('a login at the provider under the same document is let in', async () => {
  const email = 'same-holder@example.com';
  const bank = app.sandbox.bank.login({ email, password });
  assert.ok(bank.outcome === 'done');
  const user = await givenCustomer(app, { email, document: bank.value.account.document });
  assert.equal((await app.call('/accounts/me', { token: user.token })).status, 200);
});

test('a received PIX is for no account whose number was made up here', async () => {
  const { id } = await givenUser(app);
  await app.rows('delete from accounts');
  await givenLocalAccount(id, '11144477735');
  const { agency, account_number: accountNumber } = madeUp;
  const found = (countsLocal: boolean) =>
    app.context.db.query(findPayees, {
      document: '11144477735',
      documentPattern: null,
      agency,
      accountNumber,
      pixKey: null,
      countsLocal,
    });
  assert.deepEqual(await found(false), []);
  const payee = { ordinal: '1', userId: id, hasKey: false, agrees: true };
  assert.deepEqual(await found(true), [payee]);
});
