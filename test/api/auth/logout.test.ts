/** Logging out: every token of the banking session is refused from then on. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startTestApp, type TestApp } from '../../support/app.ts';
import { givenCustomer, logIn, readSessions } from '../../support/factories.ts';
import { onlyOnServer } from '../../support/open-database.ts';
import { passUntil } from '../../support/passing-time.ts';

const environment = { JOBS: 'off' };

const app = await startTestApp({ environment });

function logOut(token: string, headers: Record<string, string> = {}, at: TestApp = app) {
  return at.call('/auth/logout', { method: 'POST', token, headers });
}

async function meStatus(token: string, at: TestApp = app): Promise<number> {
  return (await at.call('/accounts/me', { token })).status;
}

test('a logout says goodbye in the language of the caller', async () => {
  const { token } = await givenCustomer(app);
  const english = await logOut(token);
  assert.equal(english.status, 200);
  assert.deepEqual(english.body, { message: 'You are logged out.' });
  const portuguese = await logOut(token, { 'accept-language': 'pt-BR' });
  assert.equal(portuguese.status, 200);
  assert.deepEqual(portuguese.body, { message: 'Você saiu da sua conta.' });
});

test("a logout takes the provider's token out of the memory", async (t) => {
  const { id, token } = await givenCustomer(app);
  const forgotten = t.mock.method(app.context.sealer, 'forgetText').mock;
  await logOut(token);
  assert.deepEqual(forgotten.calls[0]?.arguments, [`user:${id}`]);
});

test('a session that another process has ended leaves the memory with the next request', async (t) => {
  const { id, token } = await givenCustomer(app);
  await app.rows(
    `update banking_sessions set status = 'ENDED', ended_at = now(), sealed_token = null
      where user_id = $1`,
    [id],
  );
  const forgotten = t.mock.method(app.context.sealer, 'forgetText').mock;
  assert.equal(await meStatus(token), 401);
  assert.deepEqual(forgotten.calls[0]?.arguments, [`user:${id}`]);
});

test("a logout ends the session and destroys the provider's token", async () => {
  const { id, token } = await givenCustomer(app);
  await app.clock.advance(1_000);
  await logOut(token);
  const [session, ...others] = await readSessions(app, id);
  assert.deepEqual(others, []);
  assert.equal(session?.status, 'ENDED');
  assert.equal(session.sealed_token, null);
  assert.deepEqual(session.ended_at, app.clock.now());
});

test('a logout refuses every token of the session at once', async () => {
  const { email, token } = await givenCustomer(app);
  const tokens = [token, await logIn(app, email), await logIn(app, email)];
  await logOut(tokens[1] ?? '');
  assert.deepEqual(await Promise.all(tokens.map((one) => meStatus(one))), [401, 401, 401]);
});

test('a logout is repeated with the same response, by any token of the session', async () => {
  const { id, email, token } = await givenCustomer(app);
  const tokens = [token, token, await logIn(app, email)];
  const [{ status, body }, ...again] = [
    await logOut(token),
    ...(await Promise.all(tokens.map((one) => logOut(one)))),
  ];
  assert.equal(status, 200);
  for (const response of again) assert.deepEqual([response.status, response.body], [200, body]);
  assert.equal((await readSessions(app, id)).length, 1);
});

test('a repeated logout leaves the time of the first', async () => {
  const { id, token } = await givenCustomer(app);
  await logOut(token);
  const before = await readSessions(app, id);
  await app.clock.advance(1_000);
  await logOut(token);
  assert.deepEqual(await readSessions(app, id), before);
});

test('a login after a logout opens another session and does not revive the old tokens', async () => {
  const { id, email, token } = await givenCustomer(app);
  await logOut(token);
  const newer = await logIn(app, email);
  assert.deepEqual([await meStatus(token), await meStatus(newer)], [401, 200]);
  const statuses = (await readSessions(app, id)).map(({ status }) => status);
  assert.deepEqual(statuses.sort(), ['ACTIVE', 'ENDED']);
});

test('a logout with a token of an ended session leaves the session opened since', async () => {
  const { email, token } = await givenCustomer(app);
  await logOut(token);
  const newer = await logIn(app, email);
  assert.equal((await logOut(token)).status, 200);
  assert.equal(await meStatus(newer), 200);
});

test("a logout leaves another user's session", async () => {
  const [one, other] = [await givenCustomer(app), await givenCustomer(app)];
  await logOut(one.token);
  assert.equal(await meStatus(other.token), 200);
});

test('a session that the provider has ended is logged out of like any other', async () => {
  const { id, email, token } = await givenCustomer(app);
  app.bank.expireCustomerTokens(email);
  const refused = await passUntil(app.clock, app.call('/accounts/balance', { token }));
  assert.equal(refused.status, 401);
  assert.equal((await logOut(token)).status, 200);
  assert.equal((await readSessions(app, id))[0]?.status, 'EXPIRED');
});

test('a disabled user can still log out', async () => {
  const { id, token } = await givenCustomer(app);
  await app.rows(`update users set status = 'DISABLED' where id = $1`, [id]);
  assert.equal((await logOut(token)).status, 200);
  assert.equal((await readSessions(app, id))[0]?.status, 'ENDED');
});

test('a logout holds on every instance at once', onlyOnServer, async () => {
  const other = await startTestApp({ database: app.database, environment });
  const { email, token } = await givenCustomer(app);
  const tokenOfOther = await logIn(other, email);
  const tokens = [token, tokenOfOther];
  assert.deepEqual(await Promise.all(tokens.map((one) => meStatus(one, other))), [200, 200]);
  assert.equal((await logOut(tokenOfOther, {}, other)).status, 200);
  assert.deepEqual(await Promise.all(tokens.map((one) => meStatus(one))), [401, 401]);
  assert.deepEqual(await Promise.all(tokens.map((one) => meStatus(one, other))), [401, 401]);
  assert.equal((await logOut(token)).status, 200);
});

// 401, and the session stays as it is.

const strangers: [what: string, authorization: (token: string) => string | undefined][] = [
  ['without a token', () => undefined],
  ['for another scheme', (token) => `Basic ${token}`],
  ['for a scheme without a token', () => 'Bearer'],
  ['for what is no token', () => 'Bearer nonsense'],
  ['for a token that was changed', (token) => `Bearer ${token.slice(0, -8)}AAAAAAAA`],
];

for (const [what, authorization] of strangers) {
  test(`401 ${what}`, async () => {
    const { token } = await givenCustomer(app);
    const header = authorization(token);
    const response = await app.call('/auth/logout', {
      method: 'POST',
      headers: header === undefined ? {} : { authorization: header },
    });
    assert.equal(response.status, 401);
    assert.deepEqual(Object.keys(response.body), ['message']);
    assert.equal(await meStatus(token), 200);
  });
}

test('401 for a token that has run out', async () => {
  const { id, token } = await givenCustomer(app);
  await app.clock.advance(3_630_000);
  const response = await logOut(token, { 'accept-language': 'pt-BR' });
  assert.equal(response.status, 401);
  assert.deepEqual(response.body, {
    message: 'Sua sessão é inválida ou expirou. Entre novamente.',
  });
  assert.equal((await readSessions(app, id))[0]?.status, 'ACTIVE');
});
