/** A stolen token: without the password it sets no limits, and an operator undoes what is set. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { cheapHash } from '../../support/cheap-hash.ts';
import { startTestApp, type TestResponse } from '../../support/app.ts';
import { givenCustomer, givenUser, password } from '../../support/factories.ts';
import type { TestUser } from '../../support/factories.ts';
import { runPonte } from '../operator/command-line.ts';

const app = await startTestApp({ environment: { JOBS: 'off' } });
const paced = await startTestApp({
  environment: {
    JOBS: 'off',
    THROTTLE_LOGIN_PER_MINUTE: '5',
    THROTTLE_ADDRESS_PER_MINUTE: '600',
    TRUST_PROXY_HOPS: '1',
  },
});

function change(user: TestUser, body: object): Promise<TestResponse> {
  return app.call('/pix/limits', { method: 'PUT', token: user.token, body });
}

const set = (user: TestUser, limits: object) => change(user, { password, ...limits });

async function pays(user: TestUser, amount: number): Promise<boolean> {
  const body = { pix_key: 'ana@example.com', amount };
  const { status } = await app.call('/pix/send', { token: user.token, key: randomUUID(), body });
  return status === 200;
}

const limit = (...argv: readonly string[]) => runPonte(app, ['limit', ...argv, '--yes']);
const because = ['--reason', 'ticket 7', '--by', 'ana'] as const;

test('a token without the password sets no limit, and the customer pays on', async () => {
  const user = await givenCustomer(app);
  for (const body of [
    { day: 0, night: 0 },
    { password: 'a guess', day: 0, night: 0 },
  ]) {
    const { status, body: refusal } = await change(user, body);
    assert.equal(status, 422);
    assert.deepEqual(Object.keys(refusal.errors), ['password']);
  }
  assert.ok(await pays(user, 100));
  const events = await app.rows<{ kind: string }>(
    `select kind from security_events where user_id = $1 and kind <> 'login'`,
    [user.id],
  );
  assert.deepEqual(events, [{ kind: 'password_refused' }]);
  const wrong = await app.call('/pix/limits', {
    method: 'PUT',
    token: user.token,
    body: { password: 'a guess', day: 0 },
    headers: { 'accept-language': 'pt-BR' },
  });
  assert.deepEqual(wrong.body.errors, { password: ['A senha está incorreta.'] });
});

test('guesses with a stolen token are paced as logins, and the customer is not refused', async () => {
  const { id, email } = await givenUser(paced);
  const home = { 'x-forwarded-for': '198.51.100.1' };
  const credentials = { email, password };
  const { body } = await paced.call('/auth/login', { body: credentials, headers: home });
  const token: string = body.access_token;
  const attempt = async (text: string, headers: Record<string, string>) => {
    const limits = { password: text, day: 10 };
    return (await paced.call('/pix/limits', { method: 'PUT', token, body: limits, headers }))
      .status;
  };
  const thief = { 'x-forwarded-for': '203.0.113.9' };
  const statuses: number[] = [];
  for (let nth = 0; nth < 20; nth += 1) statuses.push(await attempt(`guess ${nth}`, thief));
  assert.ok(statuses.filter((status) => status === 422).length <= 5, String(statuses));
  assert.equal(statuses.at(-1), 429);
  assert.equal(await attempt(password, thief), 429);
  assert.equal(await attempt(password, home), 200);
  const [row] = await paced.rows('select own_day from pix_limits where user_id = $1', [id]);
  assert.deepEqual(row, { own_day: '10.00' });
});

test('a password that is reset while it is verified sets no limit', async (t) => {
  const user = await givenCustomer(app);
  const { verify } = app.context.passwords;
  t.mock.method(app.context.passwords, 'verify', async (text: string, stored: string | null) => {
    const isRight = await verify(text, stored);
    await app.rows('update users set password_hash = $1 where id = $2', [
      cheapHash('another password'),
      user.id,
    ]);
    return isRight;
  });
  const { status, body } = await set(user, { day: 0 });
  assert.deepEqual([status, Object.keys(body.errors)], [422, ['password']]);
  assert.ok(await pays(user, 100));
});

test('an operator restores at once what applied before, with a reason', async () => {
  const user = await givenCustomer(app);
  await set(user, { day: 500, night: 500, companies: { day: 600 } });
  await app.clock.advance(600_000);
  const { body: before } = await set(user, { night_from: 22 });
  await app.clock.advance(60_000);
  assert.equal((await set(user, { day: 0, night: 0, companies: { day: 0 } })).status, 200);
  assert.equal(await pays(user, 1), false);

  const { stdout } = await runPonte(app, ['limit', 'show', user.email]);
  assert.match(stdout, /own until .*, replaced by the customer: day 500\.00; night 500\.00/);
  assert.equal((await limit('restore', user.email)).code, 2, 'without a reason');
  const restored = await limit('restore', user.email, ...because);
  assert.equal(restored.code, 0, restored.stderr);
  assert.deepEqual((await app.call('/pix/limits', { token: user.token })).body, before);
  assert.ok(await pays(user, 400));
  const actions = await app.rows(
    `select command, reason, outcome, operator like '%ana%' as is_named from operator_actions
      where target = $1 and outcome <> 'read'`,
    [`user:${user.id}`],
  );
  const outcome =
    'day default, own 500.00; night default, own 500.00; ' +
    'day to companies, own 600.00; from 20, later 22';
  const command = 'limit restore';
  assert.deepEqual(actions, [{ command, reason: 'ticket 7', outcome, is_named: true }]);

  const earlier = 'select own_earlier from pix_limits where user_id = $1';
  const kept = await app.rows(earlier, [user.id]);
  const again = await limit('restore', user.email, ...because);
  assert.equal(again.code, 0, again.stderr);
  assert.deepEqual(await app.rows(earlier, [user.id]), kept, 'and is no change');
  assert.ok(await pays(user, 50), 'the same command again changes nothing');
});

test('limits that were changed in turn are restored as they stood at a time', async () => {
  const user = await givenCustomer(app);
  await set(user, { day: 700, night: 700 });
  await app.clock.advance(60_000);
  const good = app.clock.now().toISOString();
  await app.clock.advance(60_000);
  // Somebody who knows the password as well changes them often, so that what stood long is lost.
  for (let nth = 0; nth < 60; nth += 1) {
    await set(user, { day: nth % 2, night: 0 });
    await app.clock.advance(1_000);
  }
  assert.equal(await pays(user, 50), false);
  const { code, stderr } = await limit('restore', user.email, '--at', good, ...because);
  assert.equal(code, 0, stderr);
  assert.ok(await pays(user, 650));
});

test('nothing is restored for a customer who has changed nothing', async () => {
  const user = await givenCustomer(app);
  const { code, stderr } = await limit('restore', user.email, ...because);
  assert.equal(code, 1);
  assert.match(stderr, /no own limits are kept/);
});
