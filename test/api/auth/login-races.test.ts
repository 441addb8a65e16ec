/** A login during which its user changes: no session outlives the password that opened it. */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { revokeSession } from '../../../src/operator/sessions.ts';
import { disableUser, resetPassword } from '../../../src/operator/users.ts';
import { unwatched } from '../operator/asking.ts';
import { startTestApp, type TestResponse } from '../../support/app.ts';
import { eventually } from '../../support/eventually.ts';
import {
  givenCustomer,
  givenUser,
  logIn,
  password,
  readSessions,
} from '../../support/factories.ts';
import { onlyOnServer } from '../../support/open-database.ts';

const app = await startTestApp({ environment: { JOBS: 'off' } });

const newPassword = 'a new pass phrase';

function login(email: string, typed = password): Promise<TestResponse> {
  return app.call('/auth/login', { body: { email, password: typed } });
}

type Change = (user: string) => Promise<unknown>;

const reset: Change = (user) =>
  resetPassword.run(app.context, { user, password: newPassword }, unwatched);
const disable: Change = (user) => disableUser.run(app.context, { user }, unwatched);

const changes = { 'the password is reset': reset, 'the user is disabled': disable };

/** Where a login waits: for its turn to hash, and for the provider. */
type Wait = (t: TestContext, change: () => Promise<unknown>) => void;

const waits: Readonly<Record<string, Wait>> = {
  'in the hash queue'(t, change) {
    const { passwords } = app.context;
    const verify = passwords.verify.bind(passwords);
    t.mock.method(passwords, 'verify', async (...checked: Parameters<typeof verify>) => {
      const isRight = await verify(...checked);
      await change();
      return isRight;
    });
  },
  'for the provider'(t, change) {
    const original = app.bank.login.bind(app.bank);
    t.mock.method(app.bank, 'login', async (...args: Parameters<typeof original>) => {
      await change();
      return original(...args);
    });
  },
};

async function activeSessions(userId: number): Promise<number> {
  const sessions = await readSessions(app, userId);
  return sessions.filter(({ status }) => status === 'ACTIVE').length;
}

function assertRefused({ status, body }: TestResponse): void {
  assert.equal(status, 422);
  assert.deepEqual(body, {
    message: 'The e-mail or the password is wrong.',
    errors: { email: ['The e-mail or the password is wrong.'] },
  });
}

for (const [where, wait] of Object.entries(waits)) {
  for (const [what, change] of Object.entries(changes)) {
    test(`422 and no session when ${what} while a login waits ${where}`, async (t) => {
      const { id, email } = await givenUser(app);
      wait(t, () => change(email));
      assertRefused(await login(email));
      assert.deepEqual(await readSessions(app, id), []);
      const accounts = await app.rows('select id from accounts where user_id = $1', [id]);
      assert.deepEqual(accounts, [], 'what the provider said of the account is not stored either');
      const logins = await app.rows(
        `select id from security_events where user_id = $1 and kind = 'login'`,
        [id],
      );
      assert.deepEqual(logins, []);
    });
  }

  test(`an older token stays refused when the password is reset ${where}`, async (t) => {
    const { id, email, token } = await givenCustomer(app);
    wait(t, () => reset(email));
    assertRefused(await login(email));
    assert.equal((await app.call('/accounts/me', { token })).status, 401);
    assert.equal(await activeSessions(id), 0);
  });
}

test('a login refused because its password was reset counts as a failed one', async (t) => {
  const limited = await startTestApp({ environment: { THROTTLE_LOGIN_PER_MINUTE: '1' } });
  const { email } = await givenUser(limited);
  const original = limited.bank.login.bind(limited.bank);
  t.mock.method(limited.bank, 'login', async (...args: Parameters<typeof original>) => {
    await resetPassword.run(limited.context, { user: email, password: newPassword }, unwatched);
    return original(...args);
  });
  const body = { email, password };
  assertRefused(await limited.call('/auth/login', { body }));
  assert.equal((await limited.call('/auth/login', { body })).status, 429);
});

test('the new password logs in', async () => {
  const { id, email } = await givenCustomer(app);
  await reset(email);
  assertRefused(await login(email));
  assert.equal((await login(email, newPassword)).status, 200);
  assert.equal(await activeSessions(id), 1);
});

/** Waits until this many statements of the database wait for a lock. */
function lockedStatements(count: number): Promise<unknown> {
  return eventually(async () => {
    const waiting = await app.rows(
      `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
    );
    return waiting.length === count;
  }, `${count} statements that wait for a lock`);
}

for (const [what, column] of [
  ['is reset', `password_hash = 'another'`],
  ['belongs to a user who is disabled', `status = 'DISABLED'`],
] as const) {
  test(
    `a login waits for a change that has begun: its password ${what}`,
    onlyOnServer,
    async () => {
      const { id, email } = await givenUser(app);
      const changing = await app.context.db.em();
      await changing.begin();
      await changing.execute(`update users set ${column} where id = ${id}`);
      const answered = login(email);
      await lockedStatements(1);
      await changing.commit();
      assertRefused(await answered);
      assert.deepEqual(await readSessions(app, id), []);
    },
  );
}

for (const [what, change] of Object.entries(changes)) {
  test(`a session that is being opened when ${what} ends`, onlyOnServer, async () => {
    const { id, email } = await givenUser(app);
    const holder = await app.context.db.em();
    await holder.begin();
    // The login waits to see whether this other session of its user is committed.
    await holder.execute(
      `insert into banking_sessions
              (id, user_id, status, sealed_token, created_at, renewed_at)
       values (gen_random_uuid(), ${id}, 'ACTIVE', '', now(), now())`,
    );
    const answered = login(email);
    await lockedStatements(1);
    const changed = change(email);
    await lockedStatements(2);
    await holder.rollback();
    assert.equal((await answered).status, 200);
    assert.partialDeepStrictEqual(await changed, { endedSession: true });
    assert.equal(await activeSessions(id), 0);
  });
}

test('a session revoked while a login waits for the provider is not renewed', async (t) => {
  const { id, email, token } = await givenCustomer(app);
  waits['for the provider']?.(t, () => revokeSession.run(app.context, { of: email }, unwatched));
  const newer = await logIn(app, email);
  const [ended, opened] = (await readSessions(app, id))
    .map(({ status }) => status)
    .toSorted()
    .toReversed();
  assert.deepEqual([ended, opened], ['ENDED', 'ACTIVE']);
  assert.equal((await app.call('/accounts/me', { token })).status, 401);
  assert.equal((await app.call('/accounts/me', { token: newer })).status, 200);
});
