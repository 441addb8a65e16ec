/** The app event of a change of limits. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setLimits } from '../../../src/operator/spending-limits.ts';
import { startTestApp } from '../../support/app.ts';
import { givenCustomer, password } from '../../support/factories.ts';
import { unwatched } from '../operator/asking.ts';

const app = await startTestApp({
  environment: {
    APP_EVENTS_URL: 'http://127.0.0.1:9/events',
    APP_EVENTS_SECRET: `whsec_${'A'.repeat(32)}`,
  },
});

async function countEvents(userId: number): Promise<unknown> {
  const count = "select count(*)::int as n from app_events where user_id = $1 and type ~ '^limits'";
  return (await app.rows(count, [userId]))[0]?.['n'];
}

test('a change of the own limits is an app event, once', async () => {
  const user = await givenCustomer(app);
  for (const day of [500, 500]) {
    const { status } = await app.call('/pix/limits', {
      method: 'PUT',
      token: user.token,
      body: { password, day },
    });
    assert.equal(status, 200);
  }
  const events = await app.rows(
    `select e.type, e.status, e.transaction_id, j.kind from app_events e
       join jobs j on j.unique_key = 'app-event:' || e.id
      where user_id = $1 and type like 'limits.%'`,
    [user.id],
  );
  const changed = { type: 'limits.changed', status: 'CHANGED', transaction_id: null };
  assert.deepEqual(events, [{ ...changed, kind: 'deliver-app-event' }]);
});

test('an operator who removes the own limits is an app event, who sets those of the bank is none', async () => {
  const user = await givenCustomer(app);
  const body = { password, day: 500 };
  await app.call('/pix/limits', { method: 'PUT', token: user.token, body });
  const context = { ...app.context, config: { ...app.context.config } };
  Object.assign(context.config, { pixLimits: { day: 100_000, night: null } });
  const decision = { user: user.email, reason: 'ticket 7' };
  await setLimits.run(context, { ...decision, day: 50_000 }, unwatched);
  const ofBank = await countEvents(user.id);
  await setLimits.run(context, { ...decision, resetsOwn: true }, unwatched);
  assert.deepEqual([ofBank, await countEvents(user.id)], [1, 2]);
});
