/** What one logged-in user may take of the service. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { UserThrottle } from '../../../src/http/user-throttle.ts';
import { startTestApp } from '../../support/app.ts';
import { givenCustomer, type TestUser } from '../../support/factories.ts';

const app = await startTestApp({ environment: { JOBS: 'off', THROTTLE_USER_PER_MINUTE: '3' } });

let sends = 0;

function send({ token }: TestUser, key = `limited-${(sends += 1)}`) {
  return app.call('/pix/send', { token, key, body: { pix_key: 'ana@example.com', amount: 1 } });
}

test('sends of a user are limited by the minute: 429 with Retry-After', async () => {
  const user = await givenCustomer(app);
  for (let count = 0; count < 3; count += 1) assert.equal((await send(user)).status, 200);
  const refused = await send(user);
  assert.equal(refused.status, 429);
  assert.deepEqual(Object.keys(refused.body), ['message']);
  const seconds = Number(refused.headers.get('retry-after'));
  assert.ok(seconds >= 1 && seconds <= 60, String(seconds));
  await app.clock.advance(seconds * 1_000);
  assert.equal((await send(user)).status, 200);
});

test('a repeat that is refused claims nothing about the payment', async () => {
  const user = await givenCustomer(app);
  assert.equal((await send(user, 'once')).status, 200);
  for (let count = 0; count < 2; count += 1) await send(user);
  const repeat = await send(user, 'once');
  assert.equal(repeat.status, 429);
  assert.equal(repeat.headers.get('pix-outcome'), 'unknown');
});

test('each operation and each user is counted apart, and reading a payment is free', async () => {
  const [one, other] = [await givenCustomer(app), await givenCustomer(app)];
  const [first] = await Promise.all([send(one), send(one), send(one)]);
  assert.equal((await send(one)).status, 429);
  assert.equal((await send(other)).status, 200);
  const keys = await app.call('/pix/keys', { token: one.token });
  assert.equal(keys.status, 200);
  for (let count = 0; count < 10; count += 1) {
    const path = `/pix/${first?.body.transaction_id}`;
    assert.equal((await app.call(path, { token: one.token })).status, 200);
  }
});

test('pages of transactions are limited by the minute, receipts are not', async () => {
  const user = await givenCustomer(app);
  const { body } = await send(user);
  const read = async (path: string): Promise<number> =>
    (await app.call(path, { token: user.token })).status;
  for (const status of [200, 200, 200, 429]) assert.equal(await read('/pix'), status);
  for (let count = 0; count < 4; count += 1) {
    assert.equal(await read(`/pix/${body.transaction_id}/receipt`), 200);
  }
});

test('a user has 32 requests under way at a time', () => {
  const limits = new UserThrottle({ clock: app.clock, perMinute: 0 });
  const places = Array.from({ length: 32 }, () => limits.enter(1));
  const isThrottled = { name: 'AppError', code: 'THROTTLED' };
  assert.throws(() => limits.enter(1), isThrottled);
  limits.enter(2)();
  places[0]?.();
  limits.enter(1);
  assert.throws(() => limits.enter(1), isThrottled);
});
