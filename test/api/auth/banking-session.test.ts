/** Who may call: the token of the app, the banking session behind it, and the provider's token. */
import assert from 'node:assert/strict';
import { generateKeyPairSync, randomUUID, sign } from 'node:crypto';
import { test } from 'node:test';
import { readServedContract } from '../../../src/app/contract-file.ts';
import { refused as refusedResponse } from '../../../src/provider/sandbox/bank/response.ts';
import { startTestApp, type TestResponse, type TestApp } from '../../support/app.ts';
import {
  givenCustomer,
  givenUser,
  logIn,
  providerAttempts,
  readSessions,
  type TestUser,
} from '../../support/factories.ts';
import { onlyOnServer } from '../../support/open-database.ts';
import { passUntil } from '../../support/passing-time.ts';

const environment = { JOBS: 'off', PROVIDER_RETRIES: '0' };

const app = await startTestApp({ environment });

interface Endpoint {
  readonly method: string;
  readonly path: string;
  readonly body?: unknown;
}

/** What asks the provider, with a request that would succeed. */
const providerEndpoints: readonly Endpoint[] = [
  { method: 'GET', path: '/accounts/balance' },
  { method: 'GET', path: '/accounts/statement' },
  { method: 'POST', path: '/pix/send', body: { pix_key: 'ana@example.com', amount: 1 } },
  { method: 'POST', path: '/pix/charge', body: { type: 'static', amount: 1 } },
  { method: 'GET', path: '/pix/keys' },
  {
    method: 'POST',
    path: '/pix/keys',
    body: { key_type: 'EVP_ENDERECO_VIRTUAL_DE_PAGAMENTO' },
  },
  { method: 'DELETE', path: '/pix/keys', body: { key: 'ana@example.com' } },
];

const endpoints: readonly Endpoint[] = [
  ...providerEndpoints,
  { method: 'GET', path: '/accounts/me' },
  { method: 'POST', path: '/pix/lookup', body: { pix_key: 'ana@example.com' } },
  { method: 'POST', path: '/pix/decode', body: { copy_paste: 'x' } },
  { method: 'GET', path: '/pix' },
  { method: 'GET', path: `/pix/${randomUUID()}` },
  { method: 'GET', path: `/pix/${randomUUID()}/receipt` },
  { method: 'POST', path: `/pix/${randomUUID()}/dispute`, body: { situation: 'SCAM' } },
  { method: 'GET', path: `/pix/${randomUUID()}/dispute` },
  { method: 'DELETE', path: `/pix/${randomUUID()}/dispute` },
  {
    method: 'POST',
    path: `/pix/${randomUUID()}/refund`,
    body: { amount: 1, reason: 'OTHER' },
  },
  { method: 'POST', path: `/pix/${randomUUID()}/refund/cancel` },
  { method: 'POST', path: '/pix/send/cancel' },
  { method: 'GET', path: '/pix/limits' },
  { method: 'PUT', path: '/pix/limits', body: { day: 1 } },
];

test('every operation that needs a login, except the logout, is called here', async () => {
  const { operations } = await readServedContract();
  const needed = operations
    .filter(({ id, access }) => access === 'token' && id !== 'logout')
    .map(({ method, path }) => `${method} ${path.replace('/api/v1', '')}`);
  const called = endpoints.map(({ method, path }) => {
    return `${method} ${path.replace(/[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}/, '{transactionId}')}`;
  });
  assert.deepEqual(called.toSorted(), needed.toSorted());
});

const balance: Endpoint = { method: 'GET', path: '/accounts/balance' };

function call(
  endpoint: Endpoint,
  authorization?: string,
  at: TestApp = app,
): Promise<TestResponse> {
  const { method, path, body } = endpoint;
  return at.call(path, {
    method,
    key: randomUUID(),
    body,
    headers: authorization === undefined ? {} : { authorization },
  });
}

function callWith(endpoint: Endpoint, token: string, at: TestApp = app): Promise<TestResponse> {
  return call(endpoint, `Bearer ${token}`, at);
}

/** A call whose token the provider refuses: time passes until it is made a second time. */
function callRefused(endpoint: Endpoint, token: string): Promise<TestResponse> {
  return passUntil(app.clock, callWith(endpoint, token));
}

function assertUnauthenticated(response: TestResponse, what: string): void {
  assert.equal(response.status, 401, what);
  assert.deepEqual(response.body, {
    message: 'Your session is invalid or has expired. Log in again.',
  });
  assert.equal(response.headers.get('www-authenticate'), 'Bearer');
}

// The token: what is refused, everywhere alike.

type Fields = Record<string, unknown>;

function parts(token: string): [header: Fields, claims: Fields, signature: string] {
  const [header = '', claims = '', signature = ''] = token.split('.');
  const read = (part: string): Fields => JSON.parse(Buffer.from(part, 'base64url').toString());
  return [read(header), read(claims), signature];
}

function encode(value: Fields): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}

const stranger = generateKeyPairSync('rsa', { modulusLength: 2048 });

function signedByStranger(token: string): string {
  const signed = token.slice(0, token.lastIndexOf('.'));
  const signature = sign('RSA-SHA256', Buffer.from(signed), stranger.privateKey);
  return `${signed}.${signature.toString('base64url')}`;
}

const issue = (userId: number, sessionId: string): Promise<string> =>
  app.context.accessTokens.issue({ userId, sessionId });

type Forge = (user: TestUser) => string | undefined | Promise<string | undefined>;

const refused: [what: string, authorization: Forge][] = [
  ['without a token', () => undefined],
  ['with an empty header', () => ''],
  ['for another scheme', ({ token }) => `Basic ${token}`],
  ['for a token without a scheme', ({ token }) => token],
  ['for a scheme without a token', () => 'Bearer'],
  ['for two tokens', ({ token }) => `Bearer ${token} ${token}`],
  ['for what is no token', () => 'Bearer nonsense'],
  [
    'for a token whose claims were changed',
    ({ token }) => {
      const [header, claims, signature] = parts(token);
      const changed = { ...claims, exp: Number(claims['exp']) + 3_600 };
      return `Bearer ${encode(header)}.${encode(changed)}.${signature}`;
    },
  ],
  [
    'for a token whose signature was changed',
    ({ token }) => `Bearer ${token.slice(0, -8)}AAAAAAAA`,
  ],
  [
    'for a token without a signature',
    ({ token }) => {
      const [header, claims] = parts(token);
      return `Bearer ${encode({ ...header, alg: 'none' })}.${encode(claims)}.`;
    },
  ],
  ["for a token signed with a stranger's key", ({ token }) => `Bearer ${signedByStranger(token)}`],
  ['for a session that never was', async ({ id }) => `Bearer ${await issue(id, randomUUID())}`],
  [
    "for another user's session",
    async ({ id }) => {
      const other = await givenCustomer(app);
      const [session] = await readSessions(app, other.id);
      return `Bearer ${await issue(id, session?.id ?? '')}`;
    },
  ],
  [
    'for a session that was logged out of',
    async ({ token }) => {
      await app.call('/auth/logout', { method: 'POST', token });
      return `Bearer ${token}`;
    },
  ],
  [
    'for a session that the provider has ended',
    async ({ email, token }) => {
      app.bank.expireCustomerTokens(email);
      await callRefused(balance, token);
      return `Bearer ${token}`;
    },
  ],
  [
    "for a session whose provider token's time is over",
    async ({ id, token }) => {
      const end = app.clock.now();
      await app.rows('update banking_sessions set token_expires_at = $2 where user_id = $1', [
        id,
        end,
      ]);
      return `Bearer ${token}`;
    },
  ],
  [
    'for a user who was disabled',
    async ({ id, token }) => {
      await app.rows(`update users set status = 'DISABLED' where id = $1`, [id]);
      return `Bearer ${token}`;
    },
  ],
  [
    'for a token that ran out 30 seconds ago',
    async ({ token }) => {
      await app.clock.advance(3_630_000);
      return `Bearer ${token}`;
    },
  ],
];

for (const [what, forge] of refused) {
  test(`every authenticated operation answers 401 ${what}`, async () => {
    const authorization = await forge(await givenCustomer(app));
    for (const endpoint of endpoints) {
      const response = await call(endpoint, authorization);
      assertUnauthenticated(response, `${endpoint.method} ${endpoint.path}`);
    }
  });
}

test('401 comes before 422: what a stranger sends is not looked at', async () => {
  const response = await app.call('/pix/send', { body: {} });
  assertUnauthenticated(response, 'an empty send without a token');
});

test('401 is worded in Portuguese for those who prefer it', async () => {
  const response = await app.call('/accounts/me', { headers: { 'accept-language': 'pt-BR' } });
  assert.equal(response.status, 401);
  assert.deepEqual(response.body, {
    message: 'Sua sessão é inválida ou expirou. Entre novamente.',
  });
});

test('a token is good for 30 seconds more than its hour: clocks differ', async () => {
  const { token } = await givenCustomer(app);
  await app.clock.advance(3_629_000);
  assert.equal((await callWith(balance, token)).status, 200);
  await app.clock.advance(1_000);
  assertUnauthenticated(await callWith(balance, token), 'a second later');
});

test('the scheme is read in any case', async () => {
  const { token } = await givenCustomer(app);
  assert.equal((await call(balance, `bearer ${token}`)).status, 200);
});

test('a session is good until its provider token ends, and a login renews it', async (t) => {
  const { id, email, token } = await givenCustomer(app);
  const end = new Date(app.clock.now().getTime() + 1_000);
  await app.rows('update banking_sessions set token_expires_at = $2 where user_id = $1', [id, end]);
  await app.clock.advance(999);
  assert.equal((await callWith(balance, token)).status, 200);
  await app.clock.advance(1);
  const { mock } = t.mock.method(app.bank, 'balance');
  assertUnauthenticated(await callWith(balance, token), 'at the end');
  assert.equal(mock.callCount(), 0, 'the provider is not called with an expired token');
  await logIn(app, email);
  assert.equal((await callWith(balance, token)).status, 200, 'the renewed session');
});

test('a token is good on every instance, whichever renews the session', onlyOnServer, async () => {
  const other = await startTestApp({ database: app.database, environment });
  await other.clock.advance(app.clock.now().getTime() - other.clock.now().getTime());
  const { id, email, token } = await givenCustomer(app);
  assert.equal((await callWith(balance, token, other)).status, 200);
  const newer = await logIn(other, email);
  for (const at of [app, other]) {
    assert.equal((await callWith(balance, token, at)).status, 200);
    assert.equal((await callWith(balance, newer, at)).status, 200);
  }
  assert.equal((await readSessions(app, id)).length, 1);
});

test(
  '401 on every instance once the provider has ended the session on one',
  onlyOnServer,
  async () => {
    const other = await startTestApp({ database: app.database, environment });
    await other.clock.advance(app.clock.now().getTime() - other.clock.now().getTime());
    const { email, token } = await givenCustomer(app);
    app.bank.expireCustomerTokens(email);
    assertUnauthenticated(await callRefused(balance, token), 'where the provider refused');
    assertUnauthenticated(await callWith(balance, token, other), 'on the other instance');
  },
);

// The provider refuses its own token inside a session.

for (const endpoint of providerEndpoints) {
  const { method, path } = endpoint;
  test(`${method} ${path} is 401 when the provider refuses its token, and the session expires`, async () => {
    const { id, email, token } = await givenCustomer(app);
    app.bank.expireCustomerTokens(email);
    const begun = app.clock.now();
    assertUnauthenticated(await callRefused(endpoint, token), 'the first call');
    const [session, ...others] = await readSessions(app, id);
    assert.deepEqual(others, []);
    assert.equal(session?.status, 'EXPIRED');
    assert.equal(session.sealed_token, null);
    assert.ok(session.ended_at && session.ended_at > begun, 'after the wait');
    assertUnauthenticated(await callWith(endpoint, token), 'the second call');
  });
}

test('an expired session answers without asking the provider again', async () => {
  const { email, token } = await givenCustomer(app);
  app.bank.expireCustomerTokens(email);
  const before = await providerAttempts(app, 'balance');
  for (let n = 0; n < 3; n += 1) assert.equal((await callRefused(balance, token)).status, 401);
  assert.equal(await providerAttempts(app, 'balance'), before + 2, 'the first call, and its retry');
});

test('a login after that opens another session, and the old tokens stay refused', async () => {
  const { id, email, token } = await givenCustomer(app);
  app.bank.expireCustomerTokens(email);
  assert.equal((await callRefused(balance, token)).status, 401);
  const newer = await logIn(app, email);
  assert.equal((await callWith(balance, newer)).status, 200);
  assertUnauthenticated(await callWith(balance, token), 'the old token');
  const statuses = (await readSessions(app, id)).map(({ status }) => status);
  assert.deepEqual(statuses.sort(), ['ACTIVE', 'EXPIRED']);
});

test("the simulated bank's expired@ponte.test is good for one call and 401 from then on", async () => {
  const { token } = await givenCustomer(app, { email: 'expired@ponte.test' });
  const statuses: number[] = [];
  for (let n = 0; n < 3; n += 1) statuses.push((await callRefused(balance, token)).status);
  assert.deepEqual(statuses, [200, 401, 401]);
});

test('calls refused at once are all answered 401, and the session is expired once', async () => {
  const { id, email, token } = await givenCustomer(app);
  app.bank.expireCustomerTokens(email);
  const responses = await Promise.all(Array.from({ length: 8 }, () => callRefused(balance, token)));
  for (const response of responses) assertUnauthenticated(response, 'one of many');
  const sessions = await readSessions(app, id);
  assert.deepEqual(
    sessions.map(({ status }) => status),
    ['EXPIRED'],
  );
});

/** Does something while the first balance of a session is being requested. */
function meanwhile(work: (refusedToken: string) => Promise<void>) {
  const original = app.bank.balance.bind(app.bank);
  let isFirst = true;
  return async (token: string) => {
    if (isFirst) {
      isFirst = false;
      await work(token);
    }
    return original(token);
  };
}

test('the token that another login stored meanwhile is tried, and the session goes on', async (t) => {
  const { id, email, token } = await givenCustomer(app);
  const { mock } = t.mock.method(
    app.bank,
    'balance',
    meanwhile(async (refusedToken) => {
      app.bank.expireToken(refusedToken);
      await logIn(app, email);
    }),
  );
  const response = await callWith(balance, token);
  assert.equal(response.status, 200);
  assert.equal(response.body.source, 'provider');
  const [first, second, ...others] = mock.calls.map((mocked) => mocked.arguments[0]);
  assert.notEqual(first, second);
  assert.deepEqual(others, []);
  const [session] = await readSessions(app, id);
  assert.equal(session?.status, 'ACTIVE');
  assert.equal((await callWith(balance, token)).status, 200);
});

test('401 when the renewed token is refused too, and the session is expired', async (t) => {
  const { id, email, token } = await givenCustomer(app);
  const { mock } = t.mock.method(
    app.bank,
    'balance',
    meanwhile(async () => {
      await logIn(app, email);
      app.bank.expireCustomerTokens(email);
    }),
  );
  assertUnauthenticated(await callWith(balance, token), 'refused twice');
  assert.equal(mock.callCount(), 2);
  assert.equal((await readSessions(app, id))[0]?.status, 'EXPIRED');
});

test('401 when the session was logged out of meanwhile, which stays ended', async (t) => {
  const { id, email, token } = await givenCustomer(app);
  const { mock } = t.mock.method(
    app.bank,
    'balance',
    meanwhile(async () => {
      await app.call('/auth/logout', { method: 'POST', token });
      app.bank.expireCustomerTokens(email);
    }),
  );
  assertUnauthenticated(await callWith(balance, token), 'logged out');
  assert.equal(mock.callCount(), 1);
  assert.equal((await readSessions(app, id))[0]?.status, 'ENDED');
});

/** Refuses the token of the next calls of a method, as often as `times` says. */
function refusesOnly(times: number) {
  const original = app.bank.balance.bind(app.bank);
  let left = times;
  return (token: string): ReturnType<typeof original> => {
    left -= 1;
    return left < 0 ? original(token) : refused401;
  };
}

const refused401 = refusedResponse({ kind: 'token', reason: 'InvalidToken' });

test('one 401 of the provider logs no one out: the same token is tried again', async (t) => {
  const { id, token } = await givenCustomer(app);
  const { mock } = t.mock.method(app.bank, 'balance', refusesOnly(1));
  const response = await passUntil(app.clock, callWith(balance, token));
  assert.deepEqual([response.status, response.body.source], [200, 'provider']);
  const [first, second, ...others] = mock.calls.map((mocked) => mocked.arguments[0]);
  assert.equal(first, second);
  assert.deepEqual(others, []);
  assert.equal((await readSessions(app, id))[0]?.status, 'ACTIVE');
});

test("a provider's failure is no refusal: the session goes on", async () => {
  const { id, email } = await givenUser(app, { email: 'offline@ponte.test' });
  const token = await logIn(app, email);
  assert.equal((await callWith(balance, token)).status, 503);
  assert.equal((await readSessions(app, id))[0]?.status, 'ACTIVE');
});
