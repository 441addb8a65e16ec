/** `ponte account`: what an operator types, and what it does to accounts. */
import assert from 'node:assert/strict';
import { userInfo } from 'node:os';
import { describe, it } from 'node:test';
import { blockAccount, unblockAccount } from '../../../src/operator/accounts.ts';
import { startTestApp, type TestResponse } from '../../support/app.ts';
import { givenCustomer, givenUser, logIn, type TestUser } from '../../support/factories.ts';
import { isPlainJson, refused, unwatched } from './asking.ts';
import { runPonte, type Ended, type Typed } from './command-line.ts';

const app = await startTestApp({ environment: { JOBS: 'off' } });

const reason = ['--reason', 'ticket 7'];
const decision = { reason: 'ticket 7' };

const type = (argv: readonly string[], typed?: Typed): Promise<Ended> =>
  runPonte(app, ['account', ...argv], typed);

let sends = 0;

function send({ token }: TestUser): Promise<TestResponse> {
  const key = `send-${(sends += 1)}`;
  return app.call('/pix/send', { token, key, body: { pix_key: 'ana@example.com', amount: 1 } });
}

async function readStatus(user: TestUser): Promise<string> {
  const { body } = await app.call('/accounts/me', { token: user.token });
  return body.account.status;
}

describe('ponte account block and unblock', () => {
  it('keep an account from paying, and let it pay again', async () => {
    const user = await givenCustomer(app);
    const blocked = await type(['block', user.email, ...reason, '--yes']);
    assert.equal(blocked.code, 0, blocked.stderr);
    const whose = `The account of user ${user.id} (${user.email})`;
    assert.equal(blocked.stdout, `${whose} is blocked; it can still be read.\n`);
    assert.equal(await readStatus(user), 'BLOCKED');
    assert.equal((await send(user)).status, 422);
    const token = await logIn(app, user.email);
    assert.equal(await readStatus({ ...user, token }), 'BLOCKED', 'a login changes nothing of it');
    const unblocked = await type(['unblock', String(user.id), ...reason, '--yes']);
    assert.equal(unblocked.stdout, `${whose} is active again.\n`);
    assert.equal((await send(user)).status, 200);
  });

  it('print one JSON document with --json', async () => {
    const user = await givenCustomer(app);
    const account = await app.call('/accounts/me', { token: user.token });
    const { id } = account.body.account;
    for (const [command, status] of [
      ['block', 'BLOCKED'],
      ['unblock', 'ACTIVE'],
    ] as const) {
      const { code, stdout } = await type([command, user.email, ...reason, '--yes', '--json']);
      assert.equal(code, 0);
      const printed = { id, userId: user.id, email: user.email, status, isComplete: true };
      assert.deepEqual(JSON.parse(stdout), printed);
    }
  });

  it('say who has done it in the log', async (t) => {
    const user = await givenCustomer(app);
    const { mock } = t.mock.method(app.context.log, 'warn');
    for (const op of [blockAccount, unblockAccount]) {
      isPlainJson(await op.run(app.context, { user: user.email, ...decision }, unwatched));
    }
    const accountId = (await app.call('/accounts/me', { token: user.token })).body.account.id;
    const facts = { userId: user.id, accountId, operator: 'ana' };
    assert.deepEqual(
      mock.calls.map((call) => call.arguments),
      [
        [{ ...facts, command: 'account block' }, 'an operator changed an account'],
        [{ ...facts, command: 'account unblock' }, 'an operator changed an account'],
      ],
    );
  });

  it('name the operator after the user of this machine, and after --by', async () => {
    const user = await givenCustomer(app);
    await type(['block', user.email, ...reason, '--yes']);
    await type(['unblock', user.email, ...reason, '--by', 'Maria', '--yes']);
    const recorded = await app.rows<{ operator: string }>(
      'select operator from operator_actions order by id desc limit 2',
    );
    const { username } = userInfo();
    assert.deepEqual(
      recorded.map(({ operator }) => operator),
      [`${username} (Maria)`, username],
    );
  });

  it('need a reason: exit 2', async () => {
    const user = await givenCustomer(app);
    for (const command of ['block', 'unblock']) {
      const { code, stderr } = await type([command, user.email, '--yes']);
      assert.equal(code, 2);
      assert.match(stderr, /--reason/);
    }
    assert.equal(await readStatus(user), 'ACTIVE');
  });

  it('take no reason that is empty or names a person, and no unknown operator: exit 2', async () => {
    const user = await givenCustomer(app);
    const input = { user: user.email, ...decision };
    const said = (wrong: Partial<typeof decision>) =>
      blockAccount.run(app.context, { ...input, ...wrong }, unwatched);
    await refused(said({ reason: ' ' }), /a reason is required/, 'INVALID');
    await refused(
      said({ reason: 'requested by maria@example.com' }),
      /must not contain an e-mail/,
      'INVALID',
    );
    await refused(said({ reason: 'x'.repeat(501) }), /501 characters/, 'INVALID');
    const unnamed = { ...unwatched, operator: '' };
    await refused(blockAccount.run(app.context, input, unnamed), /name the operator/, 'INVALID');
    const { code } = await type(['block', user.email, '--reason', ' ', '--yes']);
    assert.equal(code, 2);
    assert.equal(await readStatus(user), 'ACTIVE');
  });

  for (const [status, what, block, unblock] of [
    ['ACTIVE', 'it is blocked', true, false],
    ['BLOCKED', 'it is unblocked', false, true],
    ['PENDING', 'neither', false, false],
    ['REJECTED', 'neither', false, false],
  ] as const) {
    it(`of an account that is ${status}: ${what}`, async () => {
      for (const [command, allowed, only, to] of [
        ['block', block, 'an ACTIVE account can be blocked', 'BLOCKED'],
        ['unblock', unblock, 'a BLOCKED account can be unblocked', 'ACTIVE'],
      ] as const) {
        const user = await givenCustomer(app);
        await app.rows('update accounts set status = $2 where user_id = $1', [user.id, status]);
        const { code, stderr } = await type([command, String(user.id), ...reason, '--yes']);
        assert.equal(code, allowed ? 0 : 1);
        assert.equal(await readStatus(user), allowed ? to : status);
        if (allowed) continue;
        assert.equal(stderr, `ponte: the account of user ${user.id} is ${status}: only ${only}\n`);
      }
    });
  }

  it('refuse who is not there, and who has no account: exit 1', async () => {
    const { id } = await givenUser(app);
    for (const [user, says] of [
      ['999999', 'there is no user 999999'],
      [String(id), `user ${id} has no account`],
    ] as const) {
      for (const command of ['block', 'unblock']) {
        const { code, stdout, stderr } = await type([command, user, ...reason, '--yes']);
        assert.deepEqual([code, stdout, stderr], [1, '', `ponte: ${says}\n`]);
      }
    }
  });

  it('ask first, and do nothing without a yes', async () => {
    const user = await givenCustomer(app);
    const unasked = await type(['block', user.email, ...reason]);
    assert.equal(unasked.code, 2);
    assert.equal(unasked.stderr, 'ponte: this command changes data: confirm it with --yes\n');
    const declined = await type(['block', user.email, ...reason], { input: '\r' });
    assert.equal(declined.code, 1);
    assert.match(declined.stderr, /Block the account of user \d+ .*Nothing was changed\.\n$/s);
    assert.equal(await readStatus(user), 'ACTIVE');
    const accepted = await type(['block', user.email, ...reason], { input: 'y\r' });
    assert.equal(accepted.code, 0);
    assert.equal(await readStatus(user), 'BLOCKED');
  });
});
