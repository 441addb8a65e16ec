/** Logging in: the order of the checks, the responses, and what is stored. */
import assert from 'node:assert/strict';
import { mock as mocks, test } from 'node:test';
import { decodeJwt } from 'jose';
import { ProviderError } from '../../../src/provider/errors.ts';
import {
  done,
  faulty,
  refused,
  type BankResponse,
} from '../../../src/provider/sandbox/bank/response.ts';
import type { BankLogin } from '../../../src/provider/sandbox/bank/accounts.ts';
import { startTestApp, type TestResponse } from '../../support/app.ts';
import { cheapHash } from '../../support/cheap-hash.ts';
import { eventually } from '../../support/eventually.ts';
import {
  givenApplication,
  givenCustomer,
  givenUser,
  logIn,
  password,
  providerAttempts,
  readSessions,
} from '../../support/factories.ts';
import { intercepted } from '../../support/intercepted.ts';
import { messageOf } from '../../support/validation-message.ts';

const app = await startTestApp({ environment: { JOBS: 'off' } });

const portuguese = { 'accept-language': 'pt-BR' };

function login(email: string, typed = password, headers = {}): Promise<TestResponse> {
  return app.call('/auth/login', { body: { email, password: typed }, headers });
}

/** Awaits a response that waits for time: time-outs and back-offs end as they come up. */
async function throughTime<T>(work: () => Promise<T>): Promise<T> {
  // The bank asks the service who logs in: the time of a call must not pass while that is read.
  const { mock: meeting } = mocks.method(app.bank, 'meet', () => Promise.resolve());
  let isDone = false;
  const ended = work().finally(() => {
    isDone = true;
  });
  await eventually(async () => {
    await app.clock.advance(50);
    return isDone;
  }, 'the response');
  meeting.restore();
  return ended;
}

/** What is stored of a user's account. */
async function readAccount(userId: number): Promise<Record<string, unknown> | undefined> {
  const [account] = await app.rows(
    `select agency, account_number, document, status, provider, provider_company_id,
            provider_client_token from accounts where user_id = $1`,
    [userId],
  );
  return account;
}

// What it answers.

test('a login answers an access token of the service with its lifetime, and nothing else', async () => {
  const { id, email } = await givenUser(app);
  const response = await login(email);
  assert.equal(response.status, 200);
  assert.deepEqual(Object.keys(response.body).sort(), ['access_token', 'expires_in', 'token_type']);
  assert.equal(response.body.token_type, 'Bearer');
  assert.equal(response.headers.get('cache-control'), 'no-store');
  const [session] = await readSessions(app, id);
  const token = await app.context.accessTokens.verify(response.body.access_token);
  assert.deepEqual([token.userId, token.sessionId], [id, session?.id]);
  const { iat = 0, exp = 0 } = decodeJwt(response.body.access_token);
  assert.ok(exp > iat);
  assert.equal(response.body.expires_in, exp - iat);
});

test('the access token is good at once', async () => {
  const { token, id } = await givenCustomer(app);
  const me = await app.call('/accounts/me', { token });
  assert.equal(me.status, 200);
  assert.equal(me.body.user.id, id);
});

test('an e-mail is known in any case, and as it is pasted', async () => {
  const { id } = await givenUser(app, { email: 'Mixed.Case@Example.com' });
  for (const typed of [
    'mixed.case@example.com',
    'MIXED.CASE@EXAMPLE.COM',
    ' mixed.case@example.com ',
    '\u200emixed.case@example\u200b.com\n',
    `mixed.case@example.com${' '.repeat(5_000)}`,
  ]) {
    const response = await login(typed);
    assert.equal(response.status, 200, typed);
    assert.equal((await app.context.accessTokens.verify(response.body.access_token)).userId, id);
  }
});

// 422: faulty fields.

const required = ['The field is required.'];
const notText = ['The value must be a text.'];
const notEmail = ['The value must be an e-mail address.'];
const valid = { email: 'ana@example.com', password };

const faults: [what: string, body: unknown, errors: Record<string, string[]>][] = [
  ['no e-mail', { password }, { email: required }],
  ['an e-mail that is none', { ...valid, email: 'ana' }, { email: notEmail }],
  ['an empty e-mail', { ...valid, email: '' }, { email: notEmail }],
  ['an e-mail with a blank within', { ...valid, email: 'ana @example.com' }, { email: notEmail }],
  ['an e-mail that is no text', { ...valid, email: 7 }, { email: notText }],
  ['an e-mail of null', { ...valid, email: null }, { email: notText }],
  [
    'an e-mail over 254 characters',
    { ...valid, email: `ana@${'example.'.repeat(32)}com` },
    { email: ['The text must have at most 254 characters.'] },
  ],
  ['no password', { email: valid.email }, { password: required }],
  ['an empty password', { ...valid, password: '' }, { password: ['The text must not be empty.'] }],
  ['a password that is no text', { ...valid, password: 12345678 }, { password: notText }],
  [
    'a password over 128 characters',
    { ...valid, password: 'x'.repeat(129) },
    { password: ['The text must have at most 128 characters.'] },
  ],
  ['both fields, at once', {}, { email: required, password: required }],
  ['a body that is no object', [], { body: ['The value must be an object.'] }],
];

for (const [what, body, errors] of faults) {
  test(`422 names ${what}`, async () => {
    const response = await app.call('/auth/login', { body });
    assert.equal(response.status, 422);
    assert.deepEqual(response.body, { message: messageOf(errors), errors });
  });
}

test('a password that has more characters only once it is normalised is not too long', async () => {
  const typed = { ...valid, password: 'ﬁ'.repeat(128) };
  const { body } = await app.call('/auth/login', { body: typed });
  assert.deepEqual(Object.keys(body.errors), ['email']);
});

test('422 names both fields when there is no body', async () => {
  const response = await app.call('/auth/login', { method: 'POST' });
  assert.equal(response.status, 422);
  assert.deepEqual(response.body.errors, { email: required, password: required });
});

test('422 is worded in Portuguese for those who prefer it', async () => {
  const response = await app.call('/auth/login', { body: { email: 'ana' }, headers: portuguese });
  assert.equal(response.status, 422);
  assert.deepEqual(response.body, {
    message: 'Há campos ausentes ou inválidos.',
    errors: {
      email: ['Informe um e-mail válido, como nome@exemplo.com.'],
      password: ['Este campo é obrigatório.'],
    },
  });
});

test('400 for a body that is not JSON', async () => {
  const response = await app.call('/auth/login', { body: '{"email":' });
  assert.equal(response.status, 400);
  assert.deepEqual(Object.keys(response.body), ['message']);
});

test('415 for a form', async () => {
  const response = await app.call('/auth/login', {
    body: 'email=ana%40example.com',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  });
  assert.equal(response.status, 415);
  assert.deepEqual(Object.keys(response.body), ['message']);
});

test('413 for a body over 16 KiB', async () => {
  const response = await app.call('/auth/login', { body: { ...valid, more: 'x'.repeat(16_384) } });
  assert.equal(response.status, 413);
  assert.deepEqual(Object.keys(response.body), ['message']);
});

// 422: wrong credentials.

async function disabledUser(): Promise<string> {
  const { id, email } = await givenUser(app);
  await app.rows(`update users set status = 'DISABLED' where id = $1`, [id]);
  return email;
}

test('422 alike for a wrong password, an unknown e-mail, a disabled user and a refusal', async () => {
  const { email } = await givenUser(app);
  const refusedEmail = 'refused@ponte.test';
  await givenUser(app, { email: refusedEmail });
  const disabled = await disabledUser();
  const responses = [
    await login('nobody@example.com'),
    await login(email, 'a wrong password'),
    await login(disabled),
    await login(refusedEmail),
  ];
  for (const { status, body, headers } of responses) {
    assert.equal(status, 422);
    assert.deepEqual(body, {
      message: 'The e-mail or the password is wrong.',
      errors: { email: ['The e-mail or the password is wrong.'] },
    });
    assert.deepEqual([...headers.keys()], [...(responses[0]?.headers.keys() ?? [])]);
  }
});

test('422 for wrong credentials is worded in Portuguese for those who prefer it', async () => {
  const response = await login('nobody@example.com', password, portuguese);
  assert.equal(response.status, 422);
  assert.deepEqual(response.body.errors, { email: ['E-mail ou senha incorretos.'] });
  assert.equal(response.headers.get('content-language'), 'pt-BR');
});

test('only right local credentials reach the provider', async () => {
  const { email } = await givenUser(app);
  const disabled = await disabledUser();
  const before = await providerAttempts(app, 'login');
  assert.equal((await login(email, 'a wrong password')).status, 422);
  assert.equal((await login('nobody@example.com')).status, 422);
  assert.equal((await login(disabled)).status, 422);
  assert.equal((await login('no e-mail at all')).status, 422);
  assert.equal(await providerAttempts(app, 'login'), before);
  assert.equal((await login(email)).status, 200);
  assert.equal(await providerAttempts(app, 'login'), before + 1);
});

test('an unknown e-mail and a disabled user cost a hash as a wrong password does', async (t) => {
  const { email } = await givenUser(app);
  const disabled = await disabledUser();
  const { mock } = t.mock.method(app.context.passwords, 'verify');
  await login(email, 'a wrong password');
  await login('nobody@example.com', 'a wrong password');
  await login(disabled, 'a wrong password');
  const [known, ...unknown] = mock.calls.map(
    ({ arguments: [typed, stored] }) => [typed, stored] as const,
  );
  assert.match(String(known?.[1]), /^\$argon2id\$/);
  assert.deepEqual(unknown, [
    ['a wrong password', null],
    ['a wrong password', null],
  ]);
});

test('a refused login opens no session and stores no account', async () => {
  const email = 'refused@ponte.test';
  const [user] = await app.rows<{ id: number }>('select id from users where email = $1', [email]);
  assert.ok(user, 'the user of an earlier test');
  assert.equal((await login(email)).status, 422);
  assert.deepEqual(await readSessions(app, user.id), []);
  assert.equal(await readAccount(user.id), undefined);
});

test('422 for a 4xx of the provider that proves nothing of other calls: 418, 425, 499', async (t) => {
  const { email } = await givenUser(app);
  const unclear = { outcome: 'unknown', code: 'PROVIDER_REJECTED', statusClass: '4xx' } as const;
  t.mock.method(app.context.provider, 'login', async () => {
    throw new ProviderError(unclear);
  });
  const atBank = await login(email);
  const here = await login(email, 'a wrong password');
  assert.deepEqual([atBank.status, atBank.body], [422, here.body]);
});

// 502: the provider fails.

test('502 when the provider is down, after its retries, and no session is opened', async () => {
  const { id } = await givenUser(app, { email: 'down@ponte.test' });
  const before = await providerAttempts(app, 'login');
  const response = await throughTime(() => login('down@ponte.test'));
  assert.equal(response.status, 502);
  assert.deepEqual(response.body, {
    code: 'PROVIDER_UNAVAILABLE',
    message: 'The bank could not be reached and nothing was done. You may try again.',
  });
  assert.equal(await providerAttempts(app, 'login'), before + 3);
  assert.deepEqual(await readSessions(app, id), []);
});

test('502 is worded in Portuguese for those who prefer it', async () => {
  const response = await throughTime(() => login('down@ponte.test', password, portuguese));
  assert.equal(response.status, 502);
  assert.deepEqual(response.body, {
    code: 'PROVIDER_UNAVAILABLE',
    message: 'Não foi possível acessar o banco e nada foi feito. Você pode tentar novamente.',
  });
  // The breaker counts failures in a row; the tests that follow have theirs to themselves.
  await givenCustomer(app);
});

const failures: [code: string, what: string, response: BankResponse<BankLogin>][] = [
  ['PROVIDER_UNAVAILABLE', 'answers 500', faulty('internal_error')],
  ['PROVIDER_TIMEOUT', 'does not answer in time', faulty('hang')],
  ['PROVIDER_INVALID_RESPONSE', 'answers with HTML', faulty('garbled')],
  ['PROVIDER_RATE_LIMITED', 'limits the requests', refused({ kind: 'rate_limited', reason: 'x' })],
];

for (const [code, what, response] of failures) {
  test(`502 ${code} when the provider ${what}`, async (t) => {
    const { id, email } = await givenUser(app);
    const { mock } = t.mock.method(app.bank, 'login', () => response);
    const failed = await throughTime(() => login(email));
    assert.equal(failed.status, 502);
    assert.deepEqual(Object.keys(failed.body).sort(), ['code', 'message']);
    assert.equal(failed.body.code, code);
    assert.deepEqual(await readSessions(app, id), []);
    mock.restore();
    assert.equal((await login(email)).status, 200);
  });
}

test("502 has the provider's Retry-After", async (t) => {
  const { email } = await givenUser(app);
  t.mock.method(app.bank, 'login', () =>
    refused({ kind: 'rate_limited', reason: 'x', retryAfterMs: 6_500 }),
  );
  const response = await login(email);
  assert.equal(response.status, 502);
  assert.equal(response.headers.get('retry-after'), '7');
});

test('502 without asking the provider while the breaker is open', async (t) => {
  // The breaker's package reads the time itself.
  t.mock.timers.enable({ apis: ['Date'], now: Date.now() });
  const { email } = await givenUser(app);
  const { mock } = t.mock.method(app.bank, 'login', () => faulty('unavailable'));
  const storm = () => Promise.all(Array.from({ length: 12 }, () => login(email)));
  for (const response of await throughTime(storm)) assert.equal(response.status, 502);
  const callsBefore = mock.callCount();
  const spared = await throughTime(() => login(email));
  assert.equal(spared.status, 502);
  assert.equal(spared.body.code, 'PROVIDER_UNAVAILABLE');
  assert.equal(mock.callCount(), callsBefore);
  mock.restore();
  t.mock.timers.tick(10_000);
  assert.equal((await login(email)).status, 200, 'once the breaker lets one through');
});

// What it keeps: the account.

test('the account that the provider names is stored', async () => {
  const { id, email } = await givenCustomer(app);
  const response = app.bank.login({ email, password });
  assert.ok(response.outcome === 'done');
  const { agency, accountNumber, document, companyId, clientToken } = response.value.account;
  const { provider_client_token: sealed, ...stored } = (await readAccount(id)) ?? {};
  assert.deepEqual(stored, {
    agency,
    account_number: accountNumber,
    document,
    status: 'ACTIVE',
    provider: 'provider',
    provider_company_id: companyId,
  });
  assert.match(String(sealed), /^sealed:/);
  const bytes = Buffer.from(String(sealed).slice('sealed:'.length), 'base64');
  assert.equal(app.context.sealer.open(bytes, `client-token:${id}`).toString(), clientToken);
});

/** Has the simulated bank answer a login with these parts of the account changed. */
function respondWithAccount(changes: Record<string, string | null>) {
  const original = app.bank.login.bind(app.bank);
  return (credentials: { email: string; password: string }): BankResponse<BankLogin> => {
    const response = original(credentials);
    assert.ok(response.outcome === 'done');
    const account = { ...response.value.account, ...changes } as BankLogin['account'];
    return done({ ...response.value, account });
  };
}

test('a later login stores what is new of the account and keeps the rest', async (t) => {
  const { id, email } = await givenCustomer(app);
  const before = await readAccount(id);
  const news = { agency: '0002', accountNumber: '', document: null, clientToken: null };
  t.mock.method(app.bank, 'login', respondWithAccount(news));
  await logIn(app, email);
  assert.deepEqual(await readAccount(id), { ...before, agency: '0002' });
});

const otherNumbers: readonly (readonly [string, Record<string, string | null>, boolean])[] = [
  ['another number', { accountNumber: '2000225' }, true],
  ['another agency', { agency: '0002' }, true],
  ['the number without its agency', { agency: null }, false],
  ['the agency without its zeros', { agency: '1' }, false],
];

for (const [what, changes, isOther] of otherNumbers) {
  const kept = isOther ? 'forgets' : 'keeps';
  test(`a later login that names ${what} ${kept} the balance and the keys`, async (t) => {
    const { id, email } = await givenCustomer(app);
    const known = `balance = 12.34, balance_read_at = now(), pix_keys = '{a@ponte.test}'`;
    await app.rows(`update accounts set ${known} where user_id = $1`, [id]);
    t.mock.method(app.bank, 'login', respondWithAccount(changes));
    await logIn(app, email);
    const [account] = await app.rows(
      'select balance, pix_keys, renumbered_at from accounts where user_id = $1',
      [id],
    );
    assert.deepEqual(account, {
      balance: isOther ? null : '12.34',
      pix_keys: isOther ? null : ['a@ponte.test'],
      renumbered_at: isOther ? app.clock.now() : null,
    });
  });
}

test('a login whose account cannot be stored stores no token of it', async (t) => {
  const { id, email } = await givenUser(app);
  const failing = intercepted({ ...app.context.db }, (run) => (statement, parameters) => {
    if (statement.name !== 'provider-account-keep') return run(statement, parameters);
    return Promise.reject(Object.assign(new Error('down'), { code: 'ECONNREFUSED' }));
  });
  t.mock.method(app.context.db, 'transaction', failing.transaction);
  assert.equal((await login(email)).status, 503);
  assert.deepEqual(await readSessions(app, id), []);
});

test('a login without account details stores none', async (t) => {
  const { id, email } = await givenUser(app);
  const nothing = ['agency', 'document', 'companyId', 'clientToken'];
  const changes = {
    ...Object.fromEntries(nothing.map((part) => [part, null])),
    accountNumber: '',
  };
  t.mock.method(app.bank, 'login', respondWithAccount(changes));
  await logIn(app, email);
  assert.equal(await readAccount(id), undefined);
});

for (const status of ['IN_PROGRESS', 'UNDER_ANALYSIS', 'REJECTED'] as const) {
  test(`no account is stored for a user whose onboarding is ${status}`, async () => {
    const { id, email } = await givenUser(app);
    await givenApplication(app, id, status);
    await logIn(app, email);
    assert.equal(await readAccount(id), undefined);
  });
}

test('the account is stored for a user whose onboarding is APPROVED', async () => {
  const { id, email } = await givenUser(app);
  await givenApplication(app, id, 'APPROVED');
  await logIn(app, email);
  assert.equal((await readAccount(id))?.['agency'], '0001');
});

// What it keeps: the banking session.

test("the provider's token is stored sealed, for this user only", async (t) => {
  const { mock } = t.mock.method(app.bank, 'login');
  const { id } = await givenCustomer(app);
  const [call] = mock.calls;
  assert.ok(call?.result?.outcome === 'done');
  const { token } = call.result.value;
  const [session] = await readSessions(app, id);
  const sealed = session?.sealed_token;
  assert.ok(sealed);
  assert.equal(sealed.includes(token), false);
  assert.equal(sealed.toString('latin1').includes('stub.'), false);
  assert.equal(app.context.sealer.open(sealed, `user:${id}`).toString(), token);
  assert.throws(() => app.context.sealer.open(sealed, `user:${id + 1}`));
});

test("neither the provider's token nor what was typed is in a response or in the log", async (t) => {
  const { mock } = t.mock.method(app.bank, 'login');
  const logged = app.logLines.length;
  const { email } = await givenUser(app, { email: 'secretive@example.com' });
  const typed = 'a wrong password';
  const responses = [await login(email), await login(email, typed), await login('x@example.com')];
  const token = responses[0]?.body.access_token;
  const read = await Promise.all(
    ['/accounts/me', '/accounts/balance'].map((path) => app.call(path, { token })),
  );
  const [call] = mock.calls;
  assert.ok(call?.result?.outcome === 'done');
  const providerToken = call.result.value.token;
  for (const { body, headers } of [...responses, ...read]) {
    const text = JSON.stringify([body, [...headers]]);
    assert.equal(text.includes(providerToken), false);
    assert.equal(text.includes(typed), false);
  }
  const log = app.logLines.slice(logged).join('');
  assert.match(log, /"operation":"login"/);
  for (const secret of [providerToken, token, email, password, typed, 'x@example.com']) {
    assert.equal(log.includes(secret), false, secret);
  }
});

test('a new login renews the one session and its token', async () => {
  const { id, email } = await givenCustomer(app);
  const [first] = await readSessions(app, id);
  await logIn(app, email);
  const [second, ...others] = await readSessions(app, id);
  assert.deepEqual(others, []);
  assert.equal(second?.id, first?.id);
  assert.equal(second?.status, 'ACTIVE');
  assert.notDeepEqual(second?.sealed_token, first?.sealed_token);
});

test('a new login leaves the tokens issued before valid', async () => {
  const { email, token } = await givenCustomer(app);
  const tokens = [token, await logIn(app, email), await logIn(app, email)];
  for (const one of tokens) {
    assert.equal((await app.call('/accounts/balance', { token: one })).status, 200);
  }
});

test('logins of one user at once share one active session', async () => {
  const { id, email } = await givenUser(app);
  const tokens = await Promise.all(Array.from({ length: 8 }, () => logIn(app, email)));
  const sessions = await readSessions(app, id);
  assert.deepEqual(
    sessions.map(({ status }) => status),
    ['ACTIVE'],
  );
  const responses = await Promise.all(
    tokens.map((token) => app.call('/accounts/balance', { token })),
  );
  assert.deepEqual(new Set(responses.map(({ status }) => status)), new Set([200]));
});

test('users have sessions of their own', async () => {
  const [one, other] = [await givenCustomer(app), await givenCustomer(app)];
  const [ofOne] = await readSessions(app, one.id);
  const [ofOther] = await readSessions(app, other.id);
  assert.notEqual(ofOne?.id, ofOther?.id);
});

// 503: too many passwords to hash.

test('503 with Retry-After when more logins come than may wait', async () => {
  const { email } = await givenUser(app);
  const { passwords } = app.context;
  let isStorm = true;
  const hash = cheapHash(password);
  // As many as are checked at once and may wait; each that is through makes way for the next.
  const storm = Array.from({ length: 2 + 256 }, async (_, nth) => {
    while (isStorm) await passwords.verify(password, hash, { network: `network ${nth}` });
  });
  const responses = await Promise.all(['one', 'other'].map((name) => login(`${name}@example.com`)));
  isStorm = false;
  for (const { status, body, headers } of responses) {
    assert.equal(status, 503);
    assert.deepEqual(body, { message: 'The service is busy. Try again in a moment.' });
    assert.equal(headers.get('retry-after'), '1');
  }
  await Promise.all(storm);
  assert.equal((await login('one@example.com')).status, 422);
  assert.equal((await login(email)).status, 200);
});
