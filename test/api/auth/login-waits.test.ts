/** How long a login waits when others guess at its e-mail, and what waits behind it: nothing. */
import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { test, type TestContext } from 'node:test';
import { SignJWT, decodeJwt, decodeProtectedHeader } from 'jose';
import { resetPassword } from '../../../src/operator/users.ts';
import { startTestApp, type TestResponse } from '../../support/app.ts';
import { eventually } from '../../support/eventually.ts';
import { givenUser, password } from '../../support/factories.ts';
import { watchLogins, type TypedLogin } from '../../support/waiting-logins.ts';
import { unwatched } from '../operator/asking.ts';

const app = await startTestApp({
  environment: {
    JOBS: 'off',
    THROTTLE_LOGIN_PER_MINUTE: '5',
    THROTTLE_ADDRESS_PER_MINUTE: '600',
    TRUST_PROXY_HOPS: '1',
  },
});

const dayMs = 24 * 60 * 60_000;

let networks = 0;

/** An address in a /24 that no other test has. */
function newAddress(): string {
  networks += 1;
  return `10.${Math.floor(networks / 256)}.${networks % 256}.7`;
}

const { attempt, pass } = watchLogins(app);

function storm(count: number, attempted: TypedLogin): Promise<TestResponse>[] {
  return Array.from({ length: count }, () => attempt(attempted));
}

function countStatuses(responses: readonly TestResponse[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { status } of responses) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
}

interface Home {
  readonly email: string;
  /** The address that the user has logged in from. */
  readonly address: string;
  /** The access token of that login. */
  readonly token: string;
}

/** A customer at a known address, with some wrong passwords there. */
async function givenHome(wrongPasswords: number): Promise<Home> {
  const { email } = await givenUser(app);
  const address = newAddress();
  const { status, body } = await attempt({ email, address, typed: password });
  assert.equal(status, 200);
  for (let nth = 0; nth < wrongPasswords; nth += 1) {
    assert.equal((await attempt({ email, address })).status, 422);
  }
  return { email, address, token: body.access_token };
}

/** How many logins wait for their turn. */
function countWaiting(): number {
  return app.context.loginLines.count();
}

interface Parked {
  readonly responses: Promise<TestResponse[]>;
}

/** Sends logins at once; resolves when each of them has its answer or waits for its turn. */
async function park(count: number, attempted: TypedLogin): Promise<Parked> {
  let answered = 0;
  const logins = storm(count, attempted);
  const addOne = (): void => void (answered += 1);
  for (const login of logins) void login.then(addOne);
  await waitUntil(() => answered + countWaiting() === count);
  // One has been hashed, before or after the others came.
  assert.ok(countWaiting() === 4 || countWaiting() === 5, String(countWaiting()));
  return { responses: Promise.all(logins) };
}

function waitUntil(holds: () => boolean): Promise<boolean> {
  return eventually(holds, 'logins that wait or are answered');
}

test('after forty wrong passwords at home the right one is answered within ten seconds', async () => {
  const { email, address } = await givenHome(5);
  const guesses = await park(40, { email, address });
  const begun = app.clock.now().getTime();
  const { status } = await pass(attempt({ email, address, typed: password }));
  const tookMs = app.clock.now().getTime() - begun;
  assert.ok(tookMs <= 11_000, `the right password had its answer after ${tookMs} ms`);
  assert.ok(status === 200 || status === 429, String(status));
  await pass(guesses.responses);
  assert.ok((countStatuses(await guesses.responses)['429'] ?? 0) >= 35);
  await app.clock.advance(3_000);
  const later = await attempt({ email, address, typed: password });
  assert.equal(later.status, 200, 'when nobody guesses any more');
});

/** The times at which passwords are hashed from now on. */
function watchHashes(t: TestContext): readonly number[] {
  const { passwords } = app.context;
  const verify = passwords.verify.bind(passwords);
  const times: number[] = [];
  t.mock.method(passwords, 'verify', (...checked: Parameters<typeof verify>) => {
    times.push(app.clock.now().getTime());
    return verify(...checked);
  });
  return times;
}

test('a known address over its limit has one hash in three seconds, ten seconds long', async (t) => {
  const { email, address } = await givenHome(5);
  const hashed = watchHashes(t);
  const begun = app.clock.now().getTime();
  const responses = await pass(Promise.all(storm(6, { email, address })));
  const tookMs = app.clock.now().getTime() - begun;
  assert.ok(tookMs <= 12_000, `the last answer came after ${tookMs} ms`);
  const { 422: wrong = 0, 429: refused = 0 } = countStatuses(responses);
  assert.ok(wrong >= 2 && wrong <= 4, `${wrong} were hashed in ten seconds`);
  assert.equal(wrong + refused, 6);
  for (const [nth, at] of hashed.slice(1).entries()) assert.ok(at - (hashed[nth] ?? 0) >= 3_000);
  const late = responses.find(({ status }) => status === 429);
  assert.equal(late?.headers.get('retry-after'), '10');
});

test('a sixth login that waits takes the place of another one, which gets 429 at once', async () => {
  const { email, address } = await givenHome(5);
  const begun = app.clock.now().getTime();
  const { responses } = await park(9, { email, address });
  assert.equal(app.clock.now().getTime(), begun);
  await pass(responses);
  assert.ok((countStatuses(await responses)['429'] ?? 0) >= 3);
});

test('the logins of one account, and of a process, leave connections to the others', async () => {
  const { email, address } = await givenHome(5);
  const { responses } = await park(190, { email, address });
  const health = await fetch(`${app.url}/health/ready`);
  assert.equal(health.status, 200);
  const others = await Promise.all(
    Array.from({ length: 20 }, async () => {
      const other = await givenUser(app);
      return attempt({ email: other.email, address: newAddress(), typed: password });
    }),
  );
  assert.deepEqual(countStatuses(others), { 200: 20 });
  await pass(responses);
});

// The lane of a device.

test('a device that shows its last token waits for nobody, at home and elsewhere', async () => {
  const { email, address, token } = await givenHome(5);
  const { responses } = await park(10, { email, address });
  const begun = app.clock.now().getTime();
  for (const from of [address, newAddress()]) {
    const { status } = await attempt({ email, address: from, typed: password, token });
    assert.equal(status, 200);
  }
  assert.equal(app.clock.now().getTime(), begun);
  await pass(responses);
});

test('strangers who have used up a network or an address do not keep its device out', async () => {
  const { email, token } = await givenHome(0);
  const address = newAddress();
  for (let nth = 0; nth < 5; nth += 1) await attempt({ email, address });
  for (let nth = 0; nth < 25; nth += 1) {
    assert.equal((await attempt({ email: 'no e-mail', address })).status, 422);
  }
  assert.equal((await attempt({ email, address, typed: password })).status, 429);
  assert.equal((await attempt({ email, address, typed: password, token })).status, 200);
});

test('an expired token is enough', async (t) => {
  const { email, token } = await givenHome(0);
  await app.clock.advance(40 * dayMs);
  assert.equal((await app.call('/accounts/me', { token })).status, 401);
  const address = newAddress();
  for (let nth = 0; nth < 5; nth += 1) await attempt({ email, address });
  assert.equal((await attempt({ email, address, typed: password })).status, 429);
  const { mock } = t.mock.method(app.context.passwords, 'verify');
  assert.equal((await attempt({ email, address, typed: password, token })).status, 200);
  assert.equal(mock.callCount(), 1);
});

test('the lane has five places a minute; then the device is as one without a token', async () => {
  const { email, token } = await givenHome(0);
  const address = newAddress();
  for (let nth = 0; nth < 5; nth += 1) {
    assert.equal((await attempt({ email, address, token })).status, 422);
  }
  assert.equal((await attempt({ email, address, typed: password, token })).status, 429);
  await app.clock.advance(60_000);
  assert.equal((await attempt({ email, address, typed: password, token })).status, 200);
});

/** Whether a token lets its device in from a network that is used up. */
async function opensLane({ email }: { email: string }, token: string): Promise<boolean> {
  // The failures of an hour ago do not pace these.
  await app.clock.advance(60 * 60_000);
  const address = newAddress();
  for (let nth = 0; nth < 5; nth += 1) await attempt({ email, address });
  const { status } = await attempt({ email, address, typed: password, token });
  return status === 200;
}

test('after a logout or a reset a token opens no lane, nor does an expired session then', async () => {
  const [loggedOut, wasReset, lateReset] = [
    await givenHome(0),
    await givenHome(0),
    await givenHome(0),
  ];
  await app.call('/auth/logout', { method: 'POST', token: loggedOut.token });
  assert.equal(await opensLane(loggedOut, loggedOut.token), false, 'after a logout');
  await app.rows(
    `update banking_sessions set status = 'EXPIRED', sealed_token = null, ended_at = $2
      where user_id = (select id from users where email = $1)`,
    [lateReset.email, app.clock.now()],
  );
  assert.equal(await opensLane(lateReset, lateReset.token), true, 'before the reset');
  await app.rows(
    `update banking_sessions set status = 'EXPIRED', sealed_token = null, ended_at = $2
      where user_id = (select id from users where email = $1) and status = 'ACTIVE'`,
    [lateReset.email, app.clock.now()],
  );
  for (const { email } of [wasReset, lateReset]) {
    await resetPassword.run(app.context, { user: email, password }, unwatched);
  }
  assert.equal(await opensLane(wasReset, wasReset.token), false, 'after a reset');
  assert.equal(await opensLane(lateReset, lateReset.token), false, 'after the session expired');
});

test('a token of another user, a forged one and text open no lane', async () => {
  const [{ email, token }, other] = [await givenHome(0), await givenHome(0)];
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const { alg: _alg, ...header } = decodeProtectedHeader(token);
  const forged = await new SignJWT(decodeJwt(token))
    .setProtectedHeader({ ...header, alg: 'RS256' })
    .sign(privateKey);
  const unsigned = token.replace(/[^.]+$/, '');
  const none = Buffer.from('{"alg":"none","typ":"at+jwt"}').toString('base64url');
  const payload = token.split('.')[1];
  for (const shown of [other.token, forged, unsigned, `${none}.${payload}.`, 'token', 'a.b.c']) {
    assert.equal(await opensLane({ email }, shown), false);
  }
  assert.equal(await opensLane({ email }, token), true);
});
