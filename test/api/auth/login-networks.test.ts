/** Who is stopped by failed logins: the network that they come from, and not the customer. */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { startTestApp, type TestResponse } from '../../support/app.ts';
import { eventually } from '../../support/eventually.ts';
import { givenUser, password } from '../../support/factories.ts';
import { watchLogins } from '../../support/waiting-logins.ts';

const environment = {
  JOBS: 'off',
  THROTTLE_LOGIN_PER_MINUTE: '5',
  THROTTLE_ADDRESS_PER_MINUTE: '30',
  TRUST_PROXY_HOPS: '1',
};

const app = await startTestApp({ environment });

const logins = watchLogins(app);

/** An address has two attempts a minute here. */
const strict = await startTestApp({
  environment: { ...environment, THROTTLE_ADDRESS_PER_MINUTE: '2' },
});

const dayMs = 24 * 60 * 60_000;

let networks = 0;

/** An address in a /24 that no other test has. */
function newAddress(): string {
  networks += 1;
  return `10.${Math.floor(networks / 256)}.${networks % 256}.7`;
}

/** A login that fails, unless the password is right. */
function attempt(email: string, address: string, typed?: string): Promise<TestResponse> {
  return logins.attempt({ email, address, typed });
}

/** Fails from an address until it is refused; at most five failures pass. */
async function fail(email: string, address: string, times: number): Promise<void> {
  for (let nth = 0; nth < times; nth += 1) {
    assert.equal((await attempt(email, address)).status, 422);
  }
}

/** How many logins wait for their turn. */
function countWaiting(): number {
  return app.context.loginLines.count();
}

/** The names of the statements that some work runs. */
async function captureStatements(t: TestContext, work: () => Promise<unknown>): Promise<string[]> {
  const { mock } = t.mock.method(app.context.db, 'query');
  await work();
  mock.restore();
  return mock.calls.map(({ arguments: [statement] }) => statement.name);
}

const sites: readonly (readonly [what: string, own: string, neighbour: string, other: string])[] = [
  ['an IPv4 /24', '192.0.2.1', '192.0.2.250', '192.0.3.1'],
  ['an IPv6 /56', '2001:db8:a:100::1', '2001:db8:a:1ff::1', '2001:db8:a:200::1'],
];

for (const [what, own, neighbour, other] of sites) {
  test(`five failures refuse ${what}, and no other network`, async () => {
    const { email } = await givenUser(app);
    await fail(email, own, 5);
    assert.equal((await attempt(email, neighbour, password)).status, 429);
    assert.equal((await attempt(email, other, password)).status, 200);
  });
}

test('an address that the user has logged in from is counted apart', async () => {
  const { email } = await givenUser(app);
  const home = newAddress();
  assert.equal((await attempt(email, home, password)).status, 200);
  const neighbour = home.replace(/\d+$/, '200');
  await fail(email, neighbour, 5);
  assert.equal((await attempt(email, neighbour)).status, 429);
  await fail(email, home, 4);
  assert.equal((await attempt(email, home, password)).status, 200);
});

test('an address is known for thirty days after a login, and only to its user', async () => {
  const [{ email }, other] = [await givenUser(app), await givenUser(app)];
  const [home, elsewhere] = [newAddress(), newAddress()];
  await attempt(email, home, password);
  const knows = async (one: { email: string }, address: string): Promise<boolean> => {
    const neighbour = address.replace(/\d+$/, '201');
    await fail(one.email, neighbour, 5);
    const { status } = await attempt(one.email, address, password);
    await app.clock.advance(60_000);
    return status === 200;
  };
  assert.equal(await knows(other, home), false);
  assert.equal(await knows({ email }, elsewhere), false);
  await app.clock.advance(29 * dayMs);
  assert.equal(await knows({ email }, home), true, 'and that login counts from now on');
  await app.clock.advance(29 * dayMs);
  assert.equal(await knows({ email }, home), true);
  await app.clock.advance(30 * dayMs);
  assert.equal(await knows({ email }, home), false);
});

test('an address is stored as a digest that cannot be tried without the key', async () => {
  const { id, email } = await givenUser(app);
  const home = newAddress();
  await attempt(email, home, password);
  const stored = await app.rows<{ address_digest: Buffer }>(
    'select address_digest from login_addresses where user_id = $1',
    [id],
  );
  assert.deepEqual(stored, [{ address_digest: app.context.sealer.identify(home) }]);
});

test('a login that fails makes no address known', async () => {
  const { email } = await givenUser(app);
  const address = newAddress();
  await fail(email, address, 5);
  await app.clock.advance(60_000);
  await fail(email, address.replace(/\d+$/, '200'), 5);
  assert.equal((await attempt(email, address, password)).status, 429);
});

/** Fails from some networks, once each. */
async function failWidely(email: string, addresses: readonly string[]): Promise<void> {
  for (const address of addresses) await fail(email, address, 1);
}

/** Waits until this many logins wait for their turn. */
function waiting(count: number): Promise<unknown> {
  return eventually(() => countWaiting() === count, `${count} logins that wait`);
}

test('from thirty failures in an hour on strangers have one hash in three seconds', async (t) => {
  const { email } = await givenUser(app);
  await failWidely(email, Array.from({ length: 30 }, newAddress));
  const { passwords } = app.context;
  const verify = passwords.verify.bind(passwords);
  const hashed: number[] = [];
  t.mock.method(passwords, 'verify', (...checked: Parameters<typeof verify>) => {
    hashed.push(app.clock.now().getTime());
    return verify(...checked);
  });
  const guesses = Array.from({ length: 4 }, () => attempt(email, newAddress()));
  await logins.pass(Promise.all(guesses));
  assert.ok(hashed.length >= 2);
  for (const [nth, at] of hashed.slice(1).entries()) assert.ok(at - (hashed[nth] ?? 0) >= 3_000);
});

test('a network without a wrong password goes before those that have guessed', async () => {
  const { email } = await givenUser(app);
  const guessers = Array.from({ length: 30 }, newAddress);
  await failWidely(email, guessers);
  const guesses = guessers.slice(0, 20).map((address) => attempt(email, address));
  await waiting(19);
  const right = attempt(email, newAddress(), password);
  await waiting(20);
  assert.equal((await logins.pass(right)).status, 200);
  const responses = await logins.pass(Promise.all(guesses));
  const hashed = responses.filter(({ status }) => status === 422).length;
  assert.ok(hashed <= 4, `${hashed} of 20 guesses were hashed in ten seconds`);
});

test('a burst does not go round the waits: one hash at a time, and new networks first', async (t) => {
  const { email } = await givenUser(app);
  await failWidely(email, Array.from({ length: 10 }, newAddress));
  const { passwords } = app.context;
  const verify = passwords.verify.bind(passwords);
  let [running, most] = [0, 0];
  const hashed: string[] = [];
  t.mock.method(passwords, 'verify', async (...checked: Parameters<typeof verify>) => {
    running += 1;
    most = Math.max(most, running);
    try {
      const isRight = await verify(...checked);
      hashed.push(checked[0]);
      return isRight;
    } finally {
      running -= 1;
    }
  });
  const guesser = newAddress();
  const burst = Array.from({ length: 20 }, (_, nth) => attempt(email, guesser, `guess ${nth}`));
  const customer = attempt(email, newAddress(), password);
  assert.equal((await logins.pass(customer)).status, 200);
  const responses = await logins.pass(Promise.all(burst));
  const wrong = responses.filter(({ status }) => status === 422).length;
  assert.ok(wrong <= 5 && wrong >= 1, `${wrong} guesses were hashed`);
  assert.ok(responses.every(({ status }) => status === 422 || status === 429));
  assert.equal(most, 1, 'one hash at a time');
  assert.equal(hashed.length, wrong + 1);
});

test('an unknown e-mail is refused and delayed like a known one', async (t) => {
  const email = 'nobody-at-all@example.com';
  const address = newAddress();
  // A hash of nobody is one at the full cost.
  const { mock } = t.mock.method(app.context.passwords, 'verify', () => Promise.resolve(false));
  await failWidely(email, Array.from({ length: 30 }, newAddress));
  mock.restore();
  await fail(email, address, 1);
  const before = app.clock.now().getTime();
  assert.equal((await logins.pass(attempt(email, address))).status, 422);
  assert.ok(app.clock.now().getTime() - before >= 3_000);
});

// Addresses.

const wider: readonly (readonly [
  prefix: string,
  addresses: number,
  address: (nth: number) => string,
])[] = [
  ['/64', 1, () => '2001:db8:b:1::9'],
  ['/56', 4, (nth) => `2001:db8:c:${(0x100 + nth).toString(16)}::1`],
  ['/48', 16, (nth) => `2001:db8:d:${(0x100 * nth).toString(16)}::1`],
];

for (const [prefix, addresses, address] of wider) {
  test(`a ${prefix} has ${addresses} times the attempts of an address`, async () => {
    const faulty = async (from: string): Promise<number> => {
      const headers = { 'x-forwarded-for': from };
      return (await strict.call('/auth/login', { body: {}, headers })).status;
    };
    for (let nth = 0; nth < addresses; nth += 1) {
      for (let times = 0; times < 2; times += 1) assert.equal(await faulty(address(nth)), 422);
    }
    assert.equal(await faulty(address(addresses)), 429);
    assert.equal(await faulty('2001:db8:e::1'), 422);
    await strict.clock.advance(60_000);
    assert.equal(await faulty(address(addresses)), 422);
  });
}

// What refusing costs.

test('a refusal costs a read of the user only', async (t) => {
  const { email } = await givenUser(app);
  const address = newAddress();
  await fail(email, address, 5);
  const neighbour = address.replace(/\d+$/, '99');
  const ofEmail = await captureStatements(t, () => attempt(email, neighbour));
  assert.deepEqual(ofEmail, ['user-by-email']);
  for (let times = 0; times < 25; times += 1) await attempt('no e-mail', address);
  const ofAddress = await captureStatements(t, async () => {
    assert.equal((await attempt(email, address)).status, 429);
  });
  assert.deepEqual(ofAddress, ['user-by-email']);
});
