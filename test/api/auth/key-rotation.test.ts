/** Another first ENCRYPTION_KEY: what is stored under the older one is still found. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { findLoginUser } from '../../../src/auth/user-repository.ts';
import { listSecurityEvents } from '../../../src/operator/audit.ts';
import { createSealer } from '../../../src/security/sealing.ts';
import { unwatched } from '../operator/asking.ts';
import { startTestApp } from '../../support/app.ts';
import { givenUser, logIn } from '../../support/factories.ts';

const [older, newer, other] = [randomBytes(32), randomBytes(32), randomBytes(32)];

const app = await startTestApp({
  environment: {
    JOBS: 'off',
    ENCRYPTION_KEY: older.toString('base64'),
    THROTTLE_LOGIN_PER_MINUTE: '5',
    THROTTLE_ADDRESS_PER_MINUTE: '600',
  },
});

test('events and known addresses are found by every key of the ring, and by no other', async () => {
  const { email } = await givenUser(app);
  await logIn(app, email);
  const address = '127.0.0.1';
  // Releases up to 1.1.0 stored digests without the id of their key.
  await app.rows(
    `insert into security_events (at, kind, identity, address) values (now(), 'login', $1, null)`,
    [app.context.sealer.digest(email).toString('base64url')],
  );
  const found = async (ring: [Buffer, ...Buffer[]]) => {
    const context = { ...app.context, sealer: createSealer(ring) };
    const { events } = await listSecurityEvents.run(
      context,
      { user: email.toUpperCase(), limit: 9 },
      unwatched,
    );
    const user = await findLoginUser(context, email, address);
    return { events: events.length, isKnown: user?.knowsAddress };
  };
  assert.deepEqual(await found([older]), { events: 2, isKnown: true });
  assert.deepEqual(await found([newer, older]), { events: 2, isKnown: true });
  assert.deepEqual(await found([newer, other]), { events: 0, isKnown: false });
});

test('the counters of throttles have keyed digests, which a guess cannot be compared with', async () => {
  await app.call('/auth/login', { body: { email: 'counted@example.com', password: 'is wrong' } });
  const keys = async (): Promise<string[]> => {
    const rows = await app.rows<{ key: string }>(`select key from throttle_counters order by key`);
    return rows.map(({ key }) => key);
  };
  const digest = app.context.sealer.identify('counted@example.com').toString('base64url');
  assert.ok((await keys()).includes(`login-email:${digest}`));
  const keyId = createSealer([older, newer]).identify('x').subarray(0, 4);
  for (const key of await keys()) {
    const bytes = Buffer.from(key.split(':').at(-1) ?? '', 'base64url');
    assert.deepEqual([bytes.length, bytes.subarray(0, 4)], [20, keyId], key);
  }
});
