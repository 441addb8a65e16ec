/** Logins of many customers from one address of a carrier, which none of them has used before. */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { startTestApp, type TestResponse } from '../../support/app.ts';
import { givenUser, password } from '../../support/factories.ts';

const environment = {
  JOBS: 'off',
  THROTTLE_LOGIN_PER_MINUTE: '5',
  THROTTLE_ADDRESS_PER_MINUTE: '600',
  TRUST_PROXY_HOPS: '1',
};

const app = await startTestApp({ environment });

let addresses = 0;

function newAddress(): string {
  addresses += 1;
  return `198.51.${addresses}.7`;
}

function attempt(email: string, address: string, typed = password): Promise<TestResponse> {
  const headers = { 'x-forwarded-for': address };
  return app.call('/auth/login', { body: { email, password: typed }, headers });
}

async function givenEmails(length: number): Promise<string[]> {
  const users = Array.from({ length }, () => givenUser(app));
  return (await Promise.all(users)).map(({ email }) => email);
}

function count(responses: readonly TestResponse[], status: number): number {
  return responses.filter((response) => response.status === status).length;
}

test('forty-five customers behind one address log in within a minute', async () => {
  const [address, emails] = [newAddress(), await givenEmails(45)];
  for (const email of emails) assert.equal((await attempt(email, address)).status, 200);
});

test('forty-five customers behind one address log in at once', async () => {
  const [address, emails] = [newAddress(), await givenEmails(45)];
  const responses = await Promise.all(emails.map((email) => attempt(email, address)));
  assert.equal(count(responses, 200), 45);
});

test('thirty wrong passwords a minute are what an address has, one by one and at once', async () => {
  const [address, other] = [newAddress(), newAddress()];
  const [right = '', late = '', ...emails] = await givenEmails(72);
  for (const [nth, email] of emails.slice(0, 30).entries()) {
    assert.equal((await attempt(email, address, 'a wrong one')).status, 422);
    if (nth === 20) assert.equal((await attempt(right, address)).status, 200);
  }
  assert.equal((await attempt(late, address)).status, 429);
  const storm = await Promise.all(emails.map((email) => attempt(email, other, 'a wrong one')));
  assert.deepEqual([count(storm, 422), count(storm, 429)], [30, 40]);
});

test('guesses that are refused use up no place of their address', async () => {
  const [address, [guessed = '', customer = '']] = [newAddress(), await givenEmails(2)];
  for (let nth = 0; nth < 40; nth += 1) {
    const { status } = await attempt(guessed, address, 'a wrong one');
    assert.equal(status, nth < 5 ? 422 : 429);
  }
  assert.equal((await attempt(customer, address)).status, 200);
});

/** Holds each login at the hash until the test lets all of them go on. */
function holdHashes(t: TestContext): { begun(): number; release(): void } {
  const { passwords } = app.context;
  const verify = passwords.verify.bind(passwords);
  const { promise, resolve } = Promise.withResolvers<void>();
  let begun = 0;
  t.mock.method(passwords, 'verify', async (...checked: Parameters<typeof verify>) => {
    begun += 1;
    await promise;
    return verify(...checked);
  });
  return { begun: () => begun, release: resolve };
}

test('what other processes have counted meanwhile refuses a wrong password, not the right one', async (t) => {
  const [address, emails] = [newAddress(), await givenEmails(12)];
  const [right = '', ...wrong] = emails;
  const guess = (email: string) => attempt(email, address, 'a wrong one');
  for (const email of wrong.slice(0, 7)) assert.equal((await guess(email)).status, 422);
  const hashes = holdHashes(t);
  const guesses = wrong.slice(7).map(guess);
  const login = attempt(right, address);
  while (hashes.begun() < 5) await new Promise((resolve) => setTimeout(resolve, 1));
  const changed = await app.rows(
    `update throttle_counters set attempts = 28 where key like 'login:%' and attempts = 7
     returning key`,
  );
  assert.equal(changed.length, 1);
  hashes.release();
  const responses = await Promise.all(guesses);
  assert.deepEqual([count(responses, 422), count(responses, 429)], [2, 2]);
  assert.equal((await login).status, 200);
});

test('a login waits for a place that a right password may give back, and not for others', async (t) => {
  const hashes = holdHashes(t);
  const [address, emails] = [newAddress(), await givenEmails(31)];
  const logins = emails.map((email) => attempt(email, address));
  while (hashes.begun() < 30 || app.context.loginLines.count('places') < 1) {
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  const [elsewhere = ''] = await givenEmails(1);
  const other = attempt(elsewhere, newAddress());
  while (hashes.begun() < 31) await new Promise((resolve) => setTimeout(resolve, 1));
  hashes.release();
  assert.equal((await other).status, 200);
  assert.equal(count(await Promise.all(logins), 200), 31);
});

test('the networks of an IPv6 address count up to its /32', async () => {
  const keys = async (): Promise<number> => {
    const rows = await app.rows(`select key from throttle_counters where key like 'login:%'`);
    return rows.length;
  };
  const before = await keys();
  await attempt('nobody-six@example.com', '2001:db8:77:1::1');
  assert.equal((await keys()) - before, 5);
  await attempt('nobody-six@example.com', '2001:db8:78:1::1');
  assert.equal((await keys()) - before, 8, 'the same /40 and /32');
});
