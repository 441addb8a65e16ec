/** A stop finishes the logins that are under way: before their hash, and before their turn. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startTestApp } from '../../support/app.ts';
import { eventually } from '../../support/eventually.ts';
import { givenCustomer, givenUser, password } from '../../support/factories.ts';
import { passUntil } from '../../support/passing-time.ts';

test('a stop finishes logins, and a change of the limits, before their hash', async (t) => {
  const app = await startTestApp({ environment: { JOBS: 'off' } });
  const { passwords } = app.context;
  const [users, { token }] = [
    [await givenUser(app), await givenUser(app)],
    await givenCustomer(app),
  ];
  const verify = passwords.verify.bind(passwords);
  const { promise: isStopping, resolve: begin } = Promise.withResolvers<void>();
  const { mock } = t.mock.method(
    passwords,
    'verify',
    async (...stated: Parameters<typeof verify>) => {
      await isStopping;
      return verify(...stated);
    },
  );
  const requests = [
    ...users.map(({ email }) => app.call('/auth/login', { body: { email, password } })),
    app.call('/pix/limits', { method: 'PUT', token, body: { day: 100, password } }),
  ];
  await eventually(() => mock.callCount() === requests.length, 'the hashes');
  const stopped = app.stop();
  assert.ok(app.context.stopping.aborted);
  begin();
  const statuses = (await Promise.all(requests)).map(({ status }) => status);
  assert.deepEqual(statuses, [200, 200, 200]);
  await passUntil(app.clock, stopped, 500);
});

test('a stop waits for a login that waits for its pace', async () => {
  const environment = { JOBS: 'off', THROTTLE_LOGIN_PER_MINUTE: '5' };
  const app = await startTestApp({ environment });
  const { email } = await givenUser(app);
  const attempt = (typed: string) => app.call('/auth/login', { body: { email, password: typed } });
  assert.equal((await attempt(password)).status, 200);
  for (let nth = 0; nth < 6; nth += 1) assert.equal((await attempt('wrong')).status, 422);
  const login = attempt(password);
  await eventually(() => app.context.loginLines.count() === 1, 'the login that waits');
  const stopped = app.stop();
  assert.equal((await passUntil(app.clock, login, 500)).status, 200);
  await passUntil(app.clock, stopped, 500);
});
