/** Guesses at one e-mail from many networks: what is hashed, and whether the customer gets in. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pause } from '../../../src/clock.ts';
import { startTestApp, type TestResponse } from '../../support/app.ts';
import { givenUser, password } from '../../support/factories.ts';
import { watchLogins } from '../../support/waiting-logins.ts';

const app = await startTestApp({
  environment: {
    JOBS: 'off',
    THROTTLE_LOGIN_PER_MINUTE: '5',
    THROTTLE_ADDRESS_PER_MINUTE: '600',
    TRUST_PROXY_HOPS: '1',
  },
});

const logins = watchLogins(app);

const hourMs = 60 * 60_000;

let networks = 0;

/** An address in a /24 that no other test has. */
function newAddress(): string {
  networks += 1;
  return `10.${Math.floor(networks / 256)}.${networks % 256}.7`;
}

function attempt(email: string, address: string, typed?: string): Promise<TestResponse> {
  return logins.attempt({ email, address, typed });
}

interface Attack {
  /** The guesses that were hashed so far. */
  hashed(): number;
  end(): Promise<unknown>;
}

/** Guesses without a pause, two at a time from each network. */
function beginAttack(email: string, addresses: readonly string[]): Attack {
  let [isOver, hashed] = [false, 0];
  const guess = async (address: string): Promise<void> => {
    while (!isOver) {
      const { status } = await attempt(email, address);
      if (status === 422) hashed += 1;
      else await pause(app.clock, 500);
    }
  };
  const guessing = Promise.all([...addresses, ...addresses].map(guess));
  return {
    hashed: () => hashed,
    end() {
      isOver = true;
      return logins.pass(guessing);
    },
  };
}

test('against twenty networks the right password of a new one is let in within five tries', async () => {
  const { email } = await givenUser(app);
  const begun = app.clock.now().getTime();
  const attack = beginAttack(email, Array.from({ length: 20 }, newAddress));
  await logins.pass(pause(app.clock, 3_000));
  for (const customer of ['one', 'another', 'a third']) {
    const [address, before] = [newAddress(), attack.hashed()];
    const statuses: number[] = [];
    while (!statuses.includes(200) && statuses.length < 5) {
      statuses.push((await logins.pass(attempt(email, address, password))).status);
    }
    assert.equal(statuses.at(-1), 200, `the tries of ${customer}: ${statuses.join(' ')}`);
    const passed = attack.hashed() - before;
    assert.ok(passed <= 1, `${passed} of forty guesses that waited went before ${customer}`);
  }
  const tookMs = app.clock.now().getTime() - begun;
  const hashed = attack.hashed();
  await attack.end();
  const most = 31 + Math.ceil(tookMs / 3_000);
  assert.ok(hashed >= 20 && hashed <= most, `${hashed} guesses in ${tookMs} ms`);
});

/** Sets the failures of the day of an e-mail that has failed this often. */
async function setDay(failures: number, before: number): Promise<void> {
  const changed = await app.rows(
    `update throttle_counters set attempts = $1
      where key like 'login-email:%' and attempts = $2 and expires_at > $3 returning key`,
    [failures, before, new Date(app.clock.now().getTime() + 2 * hourMs)],
  );
  assert.equal(changed.length, 1);
}

test('after five thousand failures of a day only new networks are hashed', async (t) => {
  const { email } = await givenUser(app);
  const [guesser, home] = [newAddress(), newAddress()];
  assert.equal((await attempt(email, home, password)).status, 200);
  for (let nth = 0; nth < 4; nth += 1) assert.equal((await attempt(email, guesser)).status, 422);
  await setDay(4_999, 4);
  const other = newAddress();
  assert.equal((await attempt(email, other)).status, 422, 'the five thousandth');
  const { mock } = t.mock.method(app.context.passwords, 'verify');
  for (const address of [guesser, other]) {
    const refused = await attempt(email, address, password);
    assert.equal(refused.status, 429);
    assert.equal(refused.headers.get('retry-after'), '3600');
  }
  assert.equal(mock.callCount(), 0);
  assert.equal((await attempt(email, home, password)).status, 200, 'at a known address');
  assert.equal((await attempt(email, newAddress(), password)).status, 200, 'from a new network');
  await app.clock.advance(24 * hourMs);
  assert.equal((await attempt(email, guesser, password)).status, 200, 'a day later');
});

test('three hundred failures of an e-mail in a day raise an alarm, once', async () => {
  const { email } = await givenUser(app);
  const count = async (): Promise<number> => {
    const { values } = await app.context.metrics.guessedEmails.get();
    return values[0]?.value ?? 0;
  };
  const before = await count();
  for (let nth = 0; nth < 3; nth += 1) await attempt(email, newAddress());
  await setDay(298, 3);
  await attempt(email, newAddress());
  assert.equal(await count(), before);
  await attempt(email, newAddress());
  await attempt(email, newAddress());
  assert.equal(await count(), before + 1);
  assert.ok(app.logLines.some((line) => line.includes('strangers guess the password')));
});

test('refused logins are counted by e-mail, network and hour', async () => {
  const { id, email } = await givenUser(app);
  const sinceHour = app.clock.now().getTime() % hourMs;
  await app.clock.advance(hourMs - sinceHour);
  const [one, other] = [newAddress(), newAddress()];
  const neighbour = one.replace(/\d+$/, '200');
  for (const address of [one, neighbour, other, one]) await attempt(email, address);
  await app.clock.advance(hourMs);
  await attempt(email, neighbour);
  const stored = await app.rows(
    `select kind, times, hour = date_trunc('hour', at) as "inHour" from security_events
      where user_id = $1 order by id`,
    [id],
  );
  const row = { kind: 'login_refused', inHour: true };
  assert.deepEqual(stored, [
    { ...row, times: 3 },
    { ...row, times: 1 },
    { ...row, times: 1 },
  ]);
});

test('a storm of wrong passwords makes one row for each network', async () => {
  const { id, email } = await givenUser(app);
  const addresses = Array.from({ length: 3 }, newAddress);
  const storm = addresses.flatMap((address) =>
    Array.from({ length: 4 }, () => attempt(email, address)),
  );
  const responses = await logins.pass(Promise.all(storm));
  // The clock runs on: the last ones may have waited for ten seconds of it.
  const wrong = responses.filter(({ status }) => status === 422).length;
  assert.ok(wrong >= 6, `${wrong} were hashed`);
  const rows = await app.rows<{ times: number }>(
    'select times from security_events where user_id = $1',
    [id],
  );
  assert.equal(rows.length, 3);
  assert.equal(
    rows.reduce((sum, { times }) => sum + times, 0),
    wrong,
  );
});

test('an instance of release 1.2.0 adds a row for each refusal', async () => {
  const insert = `insert into security_events (at, kind, user_id, identity, address)
                  values ($1, 'login_refused', null, 'of 1.2.0', 'address')`;
  for (let nth = 0; nth < 2; nth += 1) await app.rows(insert, [app.clock.now()]);
  const rows = await app.rows(
    `select times, hour from security_events where identity = 'of 1.2.0'`,
  );
  assert.deepEqual(rows, [
    { times: 1, hour: null },
    { times: 1, hour: null },
  ]);
});
