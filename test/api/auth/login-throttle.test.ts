/** How often a login may be attempted, by e-mail and by address. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startTestApp, type TestResponse, type TestApp } from '../../support/app.ts';
import { givenUser, password, providerAttempts } from '../../support/factories.ts';
import { onlyOnServer } from '../../support/open-database.ts';

const environment = {
  JOBS: 'off',
  PROVIDER_RETRIES: '0',
  THROTTLE_LOGIN_PER_MINUTE: '5',
  THROTTLE_ADDRESS_PER_MINUTE: '30',
  // The header below says where a test calls from, so that each has its own address.
  TRUST_PROXY_HOPS: '1',
};

const app = await startTestApp({ environment });

let addresses = 0;

function newAddress(): string {
  addresses += 1;
  return `203.0.113.${addresses}`;
}

interface Attempt {
  readonly email: string;
  readonly password?: string;
  readonly address?: string;
  readonly language?: string;
}

function attempt(attempted: Attempt, at: TestApp = app): Promise<TestResponse> {
  const { email, address = newAddress(), language = 'en' } = attempted;
  return at.call('/auth/login', {
    body: { email, password: attempted.password ?? 'a wrong password' },
    headers: { 'x-forwarded-for': address, 'accept-language': language },
  });
}

async function statuses(attempts: readonly (() => Promise<TestResponse>)[]): Promise<number[]> {
  const seen: number[] = [];
  for (const one of attempts) seen.push((await one()).status);
  return seen;
}

function times<T>(count: number, value: T): T[] {
  return Array.from({ length: count }, () => value);
}

const fiveFailures = times(5, 422);

/** A user whose five attempts of this minute are used up. */
async function givenUsedUp(): Promise<string> {
  const { email } = await givenUser(app);
  assert.deepEqual(await statuses(times(5, () => attempt({ email }))), fiveFailures);
  return email;
}

// By e-mail.

test('429 with Retry-After at the sixth wrong password within a minute', async () => {
  const email = await givenUsedUp();
  const response = await attempt({ email });
  assert.equal(response.status, 429);
  assert.deepEqual(response.body, {
    message: 'Too many attempts. Wait a moment and try again.',
  });
  assert.equal(response.headers.get('retry-after'), '60');
});

test('429 is worded in Portuguese for those who prefer it', async () => {
  const email = await givenUsedUp();
  const response = await attempt({ email, language: 'pt-BR' });
  assert.equal(response.status, 429);
  assert.deepEqual(response.body, {
    message: 'Muitas tentativas. Aguarde um momento e tente novamente.',
  });
});

test('429 for the right password too: without a hash or a call to the provider', async (t) => {
  const email = await givenUsedUp();
  const { mock } = t.mock.method(app.context.passwords, 'verify');
  const before = await providerAttempts(app, 'login');
  assert.equal((await attempt({ email, password })).status, 429);
  assert.equal(mock.callCount(), 0);
  assert.equal(await providerAttempts(app, 'login'), before);
});

test('Retry-After counts down to the end of the minute that the first attempt began', async () => {
  const { email } = await givenUser(app);
  await attempt({ email });
  await app.clock.advance(20_000);
  await statuses(times(4, () => attempt({ email })));
  const waits: (string | null)[] = [];
  for (const ms of [0, 30_500, 9_499]) {
    await app.clock.advance(ms);
    const { status, headers } = await attempt({ email, password });
    assert.equal(status, 429);
    waits.push(headers.get('retry-after'));
  }
  assert.deepEqual(waits, ['40', '10', '1']);
  await app.clock.advance(1);
  assert.equal((await attempt({ email, password })).status, 200);
});

test('a refused attempt does not make the wait longer', async () => {
  const email = await givenUsedUp();
  await app.clock.advance(59_999);
  assert.equal((await attempt({ email })).status, 429);
  await app.clock.advance(1);
  assert.deepEqual(await statuses(times(6, () => attempt({ email }))), [...fiveFailures, 429]);
});

test('429 for an unknown e-mail as for a known one', async () => {
  const attempts = times(6, () => attempt({ email: 'nobody@example.com' }));
  assert.deepEqual(await statuses(attempts), [...fiveFailures, 429]);
});

test('429 after five refusals by the provider, which is not called a sixth time', async () => {
  const { email } = await givenUser(app, { email: 'refused@ponte.test' });
  const before = await providerAttempts(app, 'login');
  const attempts = times(6, () => attempt({ email, password }));
  assert.deepEqual(await statuses(attempts), [...fiveFailures, 429]);
  assert.equal(await providerAttempts(app, 'login'), before + 5);
});

test('an e-mail in another case is the same e-mail', async () => {
  const email = await givenUsedUp();
  assert.equal((await attempt({ email: email.toUpperCase(), password })).status, 429);
});

test('other e-mails are not affected, from the same address either', async () => {
  const address = newAddress();
  const [{ email }, other] = [await givenUser(app), await givenUser(app)];
  await statuses(times(6, () => attempt({ email, address })));
  assert.equal((await attempt({ email: other.email, password, address })).status, 200);
});

test('logins that succeed are not counted', async () => {
  const { email } = await givenUser(app);
  const attempts = times(7, () => attempt({ email, password }));
  assert.deepEqual(await statuses(attempts), times(7, 200));
});

test("the provider's failures are not counted", async () => {
  const { email } = await givenUser(app, { email: 'down@ponte.test' });
  const attempts = times(7, () => attempt({ email, password }));
  assert.deepEqual(await statuses(attempts), times(7, 502));
});

test('faulty fields are not counted', async () => {
  const { email } = await givenUser(app);
  await statuses(times(7, () => attempt({ email, password: '' })));
  assert.equal((await attempt({ email, password })).status, 200);
});

test('of many wrong passwords at once, at most five are answered as wrong', async () => {
  const { email } = await givenUser(app);
  const storm = await Promise.all(times(20, 0).map(() => attempt({ email })));
  const seen = storm.map(({ status }) => status).sort((one, other) => one - other);
  assert.deepEqual(seen, [...fiveFailures, ...times(15, 429)]);
});

test('a right password among many wrong ones is not revealed either', async (t) => {
  const { email } = await givenUser(app);
  const original = app.bank.login.bind(app.bank);
  // The failures come during the call to the provider: all of them have passed the first check.
  t.mock.method(app.bank, 'login', async (credentials: { email: string; password: string }) => {
    await statuses(times(5, () => attempt({ email })));
    return original(credentials);
  });
  assert.equal((await attempt({ email, password })).status, 429);
});

// By address.

test('429 after thirty logins of strangers that failed at one address, faulty ones included', async () => {
  const address = newAddress();
  const [{ email }, stranger] = [await givenUser(app), await givenUser(app)];
  const attempts = [
    () => attempt({ email, password, address }),
    () => attempt({ email: 'nobody-here@example.com', address }),
    ...times(29, () => attempt({ email: 'no e-mail at all', address })),
  ];
  assert.deepEqual(await statuses(attempts), [200, ...times(30, 422)]);
  const response = await attempt({ email: stranger.email, password, address });
  assert.equal(response.status, 429);
  assert.equal(response.headers.get('retry-after'), '60');
  assert.equal((await attempt({ email: 'no e-mail at all', address })).status, 429);
  assert.equal((await attempt({ email, password, address })).status, 200, 'is known there');
  assert.equal((await attempt({ email: stranger.email, password })).status, 200, 'elsewhere');
  await app.clock.advance(60_000);
  const later = await attempt({ email: stranger.email, password, address });
  assert.equal(later.status, 200, 'a minute later');
});

test('a customer at a known address is let in, whatever others do there', async () => {
  const wide = await startTestApp({
    environment: { ...environment, THROTTLE_ADDRESS_PER_MINUTE: '60' },
  });
  const { email } = await givenUser(wide);
  const address = newAddress();
  assert.equal((await attempt({ email, password, address }, wide)).status, 200);
  const junk = await Promise.all(
    times(70, 0).map((_, nth) => attempt({ email: `nobody${nth}@example.com`, address }, wide)),
  );
  assert.equal(junk.filter(({ status }) => status === 422).length, 30);
  assert.equal(junk.filter(({ status }) => status === 429).length, 40);
  assert.equal((await attempt({ email, password, address }, wide)).status, 200);
});

// Where it is counted.

test('the counters contain neither e-mail nor address', async () => {
  const address = newAddress();
  await attempt({ email: 'counted@example.com', address });
  const rows = await app.rows<{ key: string }>('select key from throttle_counters');
  assert.ok(rows.length > 0);
  for (const { key } of rows)
    assert.match(key, /^login(?:-email|-network(?:-hour)?|-known(?:-pace)?|-pace)?:[\w-]+$/);
});

test('instances count together', onlyOnServer, async () => {
  const other = await startTestApp({ database: app.database, environment });
  await other.clock.advance(app.clock.now().getTime() - other.clock.now().getTime());
  const { email } = await givenUser(app);
  const [here, there] = [() => attempt({ email }), () => attempt({ email }, other)];
  assert.deepEqual(await statuses([here, there, here, there, here]), fiveFailures);
  assert.deepEqual(await statuses([there, here]), [429, 429]);
});
