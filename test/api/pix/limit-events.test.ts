/** The app event of a change of limits. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startTestApp } from '../../support/app.ts';
import { givenCustomer, password } from '../../support/factories.ts';

const app = await startTestApp({
  environment: {
    APP_EVENTS_URL: 'http://127.0.0.1:9/events',
    APP_EVENTS_SECRET: `whsec_${'A'.repeat(32)}`,
  },
});

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
