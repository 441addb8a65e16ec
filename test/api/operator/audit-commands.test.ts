/** What operators change is recorded, and listed by `ponte audit list`. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { blockAccount } from '../../../src/operator/accounts.ts';
import { type ActionView, listActions, listSecurityEvents } from '../../../src/operator/audit.ts';
import { retryJobs } from '../../../src/operator/jobs.ts';
import { resolvePix, riskOfCompleting } from '../../../src/operator/pix-resolve.ts';
import { revokeSession } from '../../../src/operator/sessions.ts';
import { createUser, disableUser, enableUser, resetPassword } from '../../../src/operator/users.ts';
import { replayWebhooks } from '../../../src/operator/webhook-replay.ts';
import { queueJob } from '../jobs/loops.ts';
import { startPixApp } from '../pix/pix-app.ts';
import { givenCustomer, password } from '../../support/factories.ts';
import { refused, unwatched } from './asking.ts';
import { runPonte, type Ended } from './command-line.ts';

const app = await startPixApp({ environment: { JOBS: 'off', STUB_SETTLE_MS: '0' } });
const { context } = app;
const type = (argv: readonly string[]): Promise<Ended> => runPonte(app, ['audit', ...argv]);

async function recorded(input: Partial<Parameters<typeof listActions.run>[1]> = {}) {
  const { actions } = await listActions.run(context, { limit: 100, ...input }, unwatched);
  return actions;
}

const said = ({ operator, command, target, reason, outcome }: ActionView) =>
  [operator, command, target, reason, outcome] as const;

describe('a change by an operator', () => {
  it('of a user is recorded: create, disable, enable, reset-password, session revoke', async () => {
    const person = {
      name: 'Maria da Silva',
      email: 'audited@example.com',
      document: '111.444.777-35',
      phone: '(11) 98765-4321',
      password,
    };
    const { id } = await createUser.run(context, person, unwatched);
    await disableUser.run(context, { user: String(id) }, unwatched);
    await enableUser.run(context, { user: String(id) }, unwatched);
    await resetPassword.run(context, { user: String(id), password }, unwatched);
    const target = `user:${id}`;
    assert.deepEqual((await recorded({ target })).map(said), [
      ['ana', 'user reset-password', target, null, 'done'],
      ['ana', 'user enable', target, null, 'done'],
      ['ana', 'user disable', target, null, 'done'],
      ['ana', 'user create', target, null, 'made'],
    ]);
    const customer = await givenCustomer(app);
    const session = await revokeSession.run(context, { of: customer.email }, unwatched);
    const [revoked] = await recorded({ target: `session:${session.id}` });
    assert.equal(revoked?.command, 'session revoke');
  });

  it('has the reason that the operator states', async () => {
    const { id: userId, email } = await givenCustomer(app);
    const change = async (...argv: string[]) => {
      const ended = await runPonte(app, [...argv, '--yes', '--reason', 'ticket 9']);
      assert.equal(ended.code, 0, ended.stderr);
    };
    await change('user', 'disable', email);
    await change('user', 'enable', email);
    const actions = await recorded({ target: `user:${userId}` });
    assert.deepEqual(
      actions.map(({ command, reason }) => [command, reason]),
      [
        ['user enable', 'ticket 9'],
        ['user disable', 'ticket 9'],
      ],
    );
    const { email: other } = await givenCustomer(app);
    await change('session', 'revoke', other);
    const [revoked] = await recorded({});
    assert.deepEqual([revoked?.command, revoked?.reason], ['session revoke', 'ticket 9']);
    const job = await queueJob(app, 'settle-webhook', { status: 'dead', attempts: 8 });
    await app.rows('update jobs set finished_at = created_at where id = $1', [job]);
    await change('jobs', 'retry', job);
    assert.equal((await recorded({ target: `job:${job}` }))[0]?.reason, 'ticket 9');
  });

  it('is refused with a reason that names a person', async () => {
    const { email } = await givenCustomer(app);
    const argv = ['user', 'disable', email, '--yes', '--reason', 'for ana@example.com'];
    const { code, stderr } = await runPonte(app, argv);
    assert.equal(code, 2);
    assert.match(stderr, /must not contain an e-mail/);
  });

  it('of an account carries its reason', async () => {
    const { email } = await givenCustomer(app);
    const { id } = await blockAccount.run(context, { user: email, reason: 'ticket 7' }, unwatched);
    const target = `account:${id}`;
    assert.deepEqual((await recorded({ target })).map(said), [
      ['ana', 'account block', target, 'ticket 7', 'BLOCKED'],
    ]);
  });

  it('of payments, jobs and events is recorded for each of them', async () => {
    const user = await givenCustomer(app);
    const sent = await app.throughTime(
      app.send(user, { pix_key: 'lost@ponte.test', amount: 10 }, { key: 'audited' }),
    );
    const id: string = sent.body.transaction_id;
    const completed = { id, as: 'completed', confirm: riskOfCompleting } as const;
    await resolvePix.run(context, { ...completed, reason: 'ticket 8' }, unwatched);
    const target = `pix:${id}`;
    assert.deepEqual((await recorded({ target })).map(said), [
      ['ana', 'pix resolve --as completed', target, 'ticket 8', 'COMPLETED'],
    ]);
    const job = await queueJob(app, 'settle-webhook', { status: 'dead', attempts: 8 });
    await app.rows('update jobs set finished_at = created_at where id = $1', [job]);
    await retryJobs.run(context, { ids: [job] }, unwatched);
    assert.equal((await recorded({ target: `job:${job}` }))[0]?.outcome, 'queued');
    const payload = JSON.stringify({ event: 'an unknown event' });
    const posted = await app.call('/webhooks/provider', { method: 'POST', body: payload });
    const eventId: string = posted.body.event_id;
    await replayWebhooks.run(context, { eventIds: [eventId], limit: 10 }, unwatched);
    assert.equal((await recorded({ target: `event:${eventId}` }))[0]?.command, 'webhook replay');
  });

  it('that is refused, or changes nothing, leaves no record', async () => {
    const before = await recorded();
    await refused(disableUser.run(context, { user: '99999' }, unwatched), /no user/, 'NOT_FOUND');
    const { email } = await givenCustomer(app);
    await refused(enableUser.run(context, { user: email }, unwatched), /already active/);
    assert.deepEqual(await recorded(), before);
  });

  it('is not made when it cannot be recorded', async () => {
    const { id } = await givenCustomer(app);
    // PostgreSQL stores no such text.
    const caller = { ...unwatched, operator: 'ana\0' };
    await assert.rejects(disableUser.run(context, { user: String(id) }, caller), /0x00/);
    const [user] = await app.rows<{ status: string }>('select status from users where id = $1', [
      id,
    ]);
    assert.equal(user?.status, 'ACTIVE');
  });
});

describe('ponte audit list', () => {
  it('finds a target as it is pasted, and says what is none', async () => {
    const { id: userId, email } = await givenCustomer(app);
    await runPonte(app, ['user', 'show', email]);
    const { stdout } = await type(['list', '--target', ` User:${userId} `]);
    assert.match(stdout, new RegExp(`user show +user:${userId} `));
    const endToEnd = 'pix:E11165756202611210349AZI8BYWKo82';
    for (const wrong of [String(userId), email, '', 'user', 'usr:42', 'constructor:1', endToEnd]) {
      const { code, stderr } = await type(['list', '--target', wrong]);
      assert.equal(code, 2, wrong);
      assert.match(stderr, /a kind with an id, such as user:42 .*; kinds are account, .*, user\./);
    }
  });

  it('lists of a user also what names the account, the session, a payment or an event', async () => {
    const user = await givenCustomer(app);
    const other = await givenCustomer(app);
    const sent = await app.send(user, { pix_key: 'bruno@example.com', amount: 10 });
    const { transaction_id: id, end_to_end: endToEnd } = sent.body;
    const body = { event: 'PIX_PAYMENT_OUT', endToEnd, status: 'CONFIRMED', amount: 10 };
    const posted = await app.call('/webhooks/provider', { method: 'POST', body });
    for (const { email } of [user, other]) {
      await blockAccount.run(context, { user: email, reason: 'ticket 7' }, unwatched);
      await revokeSession.run(context, { of: email }, unwatched);
      await disableUser.run(context, { user: email }, unwatched);
    }
    await runPonte(app, ['pix', 'show', id]);
    await runPonte(app, ['webhook', 'replay', '--yes', posted.body.event_id]);
    const commands = [
      'webhook replay',
      'pix show',
      'user disable',
      'session revoke',
      'account block',
    ];
    for (const reference of [user.id, user.email.toUpperCase()]) {
      const { stdout } = await type(['list', '--target', `user:${reference}`, '--json']);
      const { actions } = JSON.parse(stdout) as { actions: ActionView[] };
      assert.deepEqual(
        actions.map(({ command }) => command),
        commands,
      );
    }
    const { stderr, code } = await type(['list', '--target', 'user:nobody@example.com']);
    assert.deepEqual([code, stderr], [1, 'ponte: there is no user nobody@example.com\n']);
  });

  it('shows who, when, what and why, filtered by operator', async () => {
    const { stdout, code } = await type(['list', '--operator', 'AN', '--json', '--limit', '3']);
    assert.equal(code, 0);
    const { actions, mayHaveMore } = JSON.parse(stdout) as {
      actions: ActionView[];
      mayHaveMore: boolean;
    };
    assert.equal(actions.length, 3);
    assert.equal(mayHaveMore, true);
    const none = await type(['list', '--operator', 'somebody else']);
    assert.match(none.stdout + none.stderr, /There are no such actions/);
  });
});

describe('ponte audit events', () => {
  const readEvents = async (user: string) => {
    const { events } = await listSecurityEvents.run(context, { user, limit: 50 }, unwatched);
    return events.map(({ kind }) => kind);
  };

  it('shows logins, refused logins and what operators have done to a user', async () => {
    const { id, email } = await givenCustomer(app);
    const wrong = { email, password: 'not the password' };
    assert.equal((await app.call('/auth/login', { body: wrong })).status, 422);
    await disableUser.run(context, { user: String(id) }, unwatched);
    await enableUser.run(context, { user: String(id) }, unwatched);
    await resetPassword.run(context, { user: String(id), password }, unwatched);
    const kinds = ['password_reset', 'user_enabled', 'user_disabled', 'login_refused', 'login'];
    assert.deepEqual(await readEvents(String(id)), kinds);
    assert.deepEqual(await readEvents(email.toUpperCase()), kinds);
    const { stdout } = await type(['events', '--user', email, '--json']);
    assert.equal((JSON.parse(stdout) as { events: unknown[] }).events.length, kinds.length);
  });

  it('knows an e-mail that no user has, and stores neither e-mails nor addresses', async () => {
    const body = { email: 'nobody@example.com', password: 'whatever it is' };
    await app.call('/auth/login', { body });
    assert.deepEqual(await readEvents('nobody@example.com'), ['login_refused']);
    const rows = JSON.stringify(await app.rows('select * from security_events'));
    assert.ok(!rows.includes('@') && !rows.includes('127.0.0.1'));
  });
});
