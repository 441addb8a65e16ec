/** `ponte limit`: what an operator types, and what is stored and shown of it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setLimits, showLimits } from '../../../src/operator/spending-limits.ts';
import { startTestApp } from '../../support/app.ts';
import { givenUser } from '../../support/factories.ts';
import { refused, unwatched } from './asking.ts';
import { runPonte } from './command-line.ts';

const environment = { PIX_LIMIT_DAY: '100.00' };
const app = await startTestApp({ environment: { ...environment, JOBS: 'off' } });

const limit = (...argv: readonly string[]) => runPonte(app, ['limit', ...argv], { environment });

test('limit show has the defaults of the settings for a user without limits', async () => {
  const { id, email } = await givenUser(app);
  const { stdout } = await limit('show', email);
  const lines = [
    `Limits of user ${id} (${email})`,
    '  day    R$ 100.00 (default)',
    '  night  no limit (default)',
    '  night begins at 20:00',
  ];
  assert.equal(stdout, `${lines.join('\n')}\n`);
});

test('limit set records what was changed, who has done it and why', async () => {
  const { id, email } = await givenUser(app);
  const words = ['--day', '150.00', '--night', '10', '--night-from', '22', '--reason', 'ticket 7'];
  const { code, stdout, stderr } = await limit('set', email, ...words, '--yes', '--by', 'ana');
  assert.equal(code, 0, stderr);
  assert.deepEqual(stdout.split('\n').slice(1, 4), [
    '  day    R$ 100.00 (default), R$ 150.00 from 2026-05-25 12:00:00Z',
    '  night  R$ 10.00',
    '  night begins at 20:00, at 22:00 from 2026-05-25 12:00:00Z',
  ]);
  const [action] = await app.rows(
    'select command, reason, outcome from operator_actions where target = $1',
    [`user:${id}`],
  );
  assert.deepEqual(action, {
    command: 'limit set',
    reason: 'ticket 7',
    outcome: 'day default, later 150.00; night 10.00; from 20, later 22',
  });
});

test('limit set of what is set records nothing', async () => {
  const { id, email } = await givenUser(app);
  const words = ['--night', '10', '--reason', 'ticket 7', '--yes'];
  const first = await limit('set', email, ...words);
  const again = await limit('set', email, ...words);
  assert.deepEqual([again.code, again.stdout, again.stderr], [0, first.stdout, '']);
  const count = 'select count(*)::int as actions from operator_actions where target = $1';
  assert.deepEqual(await app.rows(count, [`user:${id}`]), [{ actions: 1 }]);
});

test('limit show of a service without limits does not deny those of the customer', async () => {
  const unlimited = await startTestApp({ environment: { JOBS: 'off' } });
  const { id, email } = await givenUser(unlimited);
  const set = 'insert into pix_limits (user_id, version, own_day) values ($1, 1, 50)';
  await unlimited.rows(set, [id]);
  const { stdout } = await runPonte(unlimited, ['limit', 'show', email]);
  assert.deepEqual(stdout.split('\n').slice(0, 2), [
    `Limits of user ${id} (${email}); PIX_LIMIT_DAY and PIX_LIMIT_NIGHT are unset`,
    "  day    no limit (default); customer's own R$ 50.00; applies R$ 50.00",
  ]);
});

test('limit set with --json prints the limits', async () => {
  const { id, email } = await givenUser(app);
  const words = ['--night', '0', '--reason', 'ticket 7', '--yes', '--json'];
  const { stdout } = await limit('set', email, ...words);
  const none = { own: null, nextOwn: null };
  assert.deepEqual(JSON.parse(stdout), {
    id,
    email,
    areOn: true,
    day: { amount: '100.00', isDefault: true, next: null, ...none, applies: '100.00' },
    night: { amount: '0.00', isDefault: false, next: null, ...none, applies: '0.00' },
    companies: { day: null, night: null },
    ownDocument: { day: null, night: null },
    nightHour: 20,
    nextNightHour: null,
  });
});

test('limit show has what the customer has set, and limit set removes it', async () => {
  const { id, email } = await givenUser(app);
  await app.rows(
    `insert into pix_limits
            (user_id, version, own_day, own_night, own_night_next, own_night_next_at)
     values ($1, 1, 50, 30, 40, $2)`,
    [id, new Date('2026-05-25T00:00:00.000Z')],
  );
  const { stdout } = await limit('show', email);
  assert.deepEqual(stdout.split('\n').slice(1, 3), [
    "  day    R$ 100.00 (default); customer's own R$ 50.00; applies R$ 50.00",
    "  night  no limit (default); customer's own R$ 30.00, R$ 40.00 from 2026-05-25 00:00:00Z;" +
      ' applies R$ 30.00',
  ]);
  const words = ['--reset-own', '--reason', 'ticket 7', '--yes', '--by', 'ana'];
  const { code, stderr } = await limit('set', email, ...words);
  assert.equal(code, 0, stderr);
  assert.deepEqual(await outcomesOfSet(id), [
    'day default, own 50.00, later none; night default, own 30.00, later none; from 20',
  ]);
});

test('limit show has what differs by payee, and limit set --reset-own removes it', async () => {
  const { id, email } = await givenUser(app);
  const unset = { value: null, next: null, nextAt: null, sharedUntil: null };
  const companies = { day: { ...unset, value: 3_000 }, night: unset };
  await app.rows('insert into pix_limits (user_id, version, own_by_payee) values ($1, 1, $2)', [
    id,
    JSON.stringify({ company: companies, own: { day: unset, night: unset } }),
  ]);
  const { stdout } = await limit('show', email);
  assert.deepEqual(stdout.split('\n').slice(3, 4), [
    "  day to companies  R$ 100.00 (default); customer's own R$ 30.00; applies R$ 30.00",
  ]);
  const words = ['--reset-own', '--reason', 'ticket 7', '--yes', '--by', 'ana'];
  const { code, stderr } = await limit('set', email, ...words);
  assert.equal(code, 0, stderr);
  assert.deepEqual(await outcomesOfSet(id), [
    'day default; night default; day to companies, own 30.00, later none; from 20',
  ]);
});

test('limit show has a limit of the settings for one class of payees', async () => {
  const { email } = await givenUser(app);
  const pixLimitsByPayee = {
    company: { day: null, night: null },
    own: { day: null, night: 70_000 },
  };
  const context = { ...app.context, config: { ...app.context.config, pixLimitsByPayee } };
  const { companies, ownDocument } = await showLimits.run(context, { user: email }, unwatched);
  assert.deepEqual([companies, ownDocument.day], [{ day: null, night: null }, null]);
  assert.deepEqual(
    [ownDocument.night?.amount, ownDocument.night?.isDefault, ownDocument.night?.applies],
    ['700.00', true, '700.00'],
  );
});

test('limit set refuses what is no amount, no reason and nothing to set', async () => {
  const { email } = await givenUser(app);
  for (const words of [
    ['--day', '-1', '--reason', 'ticket 7'],
    ['--day', '1,50', '--reason', 'ticket 7'],
    ['--night', '1000000000', '--reason', 'ticket 7'],
    ['--night-from', '21', '--reason', 'ticket 7'],
    ['--day', '1'],
    ['--reason', 'ticket 7'],
  ]) {
    assert.equal((await limit('set', email, ...words, '--yes')).code, 2, words.join(' '));
  }
  const { code, stderr } = await limit('set', email, '--day', '1', '--reason', email, '--yes');
  assert.deepEqual([code, stderr.includes('e-mail')], [2, true]);
});

test('limit set refuses where limits are off: it would not know what a raise is', async () => {
  const off = { ...app.context, config: { ...app.context.config } };
  Object.assign(off.config, { pixLimits: { day: null, night: null } });
  const { email } = await givenUser(app);
  const change = { user: email, day: 100, reason: 'ticket 7' };
  await refused(setLimits.run(off, change, unwatched), /limits are off: set PIX_LIMIT_DAY/);
  const reset = { user: email, reason: 'ticket 7', resetsOwn: true };
  assert.equal((await setLimits.run(off, reset, unwatched)).areOn, false);
});

test('limit show refuses a user who does not exist', async () => {
  await refused(showLimits.run(app.context, { user: '999999' }, unwatched), /no user/, 'NOT_FOUND');
});

async function outcomesOfSet(userId: number): Promise<unknown[]> {
  const rows = await app.rows<{ outcome: string }>(
    `select outcome from operator_actions where target = $1 and command = 'limit set'`,
    [`user:${userId}`],
  );
  return rows.map(({ outcome }) => outcome);
}
