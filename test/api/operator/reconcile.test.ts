/** `ponte reconcile`: an operator reconciles a day whose webhooks were lost. */
import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { noteSight } from '../../../src/settlement/statement-sight-repository.ts';
import { startPixApp } from '../pix/pix-app.ts';
import { startSandbox } from '../../support/sandboxed-app.ts';
import { givenUser, logIn } from '../../support/factories.ts';
import { afterFile } from '../../support/suite.ts';
import { givenUnheard, loseADay, unheard } from '../jobs/lost-webhooks.ts';
import { runPonte as runAnywhere } from './command-line.ts';

const { clock, sandbox, environment } = await startSandbox();
const app = await startPixApp({
  clock,
  bank: sandbox.bank,
  environment: { ...environment, JOBS: 'off' },
});
const folder = await mkdtemp(join(tmpdir(), 'reconcile-'));
afterFile(() => rm(folder, { recursive: true, force: true }));

const hourMs = 60 * 60_000;

/** A command with a provider of its own, or in the service that has the database open. */
const runPonte = (...argv: readonly string[]) => runAnywhere(app, argv, { environment });

const movements = async (userId: number) => {
  const rows = await app.rows<{ operation: string; status: string; amount: string }>(
    `select operation, status, amount from pix_transactions where user_id = $1
      order by operation, amount`,
    [userId],
  );
  return rows.map(({ operation, status, amount }) => `${operation} ${amount} ${status}`);
};

const user = await givenUnheard(app);
const away = await givenUser(app, { email: 'away@example.com' });
await app.call('/auth/logout', { method: 'POST', token: await logIn(app, away.email) });
const day = '2026-05-24';
const lost = await loseADay(app, user);
const before = await movements(user.id);
const report = join(folder, 'closing.jsonl');

test('a day that has not ended is refused, and so is what is no day', async () => {
  const early = await runPonte('reconcile', '--day', day, '--yes');
  assert.equal(early.code, 1);
  assert.match(early.stderr, /has not ended/);
  for (const typed of ['2026-02-30', 'yesterday']) {
    for (const command of [['run', '--yes'], ['list']]) {
      const { code, stderr } = await runPonte('reconcile', ...command, '--day', typed);
      assert.equal(code, 2);
      assert.match(stderr, /^ponte: .* is invalid\. It must be a day such as/);
    }
  }
  await clock.advance(24 * hourMs);
  await logIn(app, unheard);
});

test('it asks before it changes anything', async () => {
  const { code, stderr } = await runPonte('reconcile', '--day', day);
  assert.equal(code, 2);
  assert.match(stderr, /confirm it with --yes/);
});

test('a dry run proves no debit that no earlier reading has shown, and stores no sight', async () => {
  const { code, stdout } = await runPonte('reconcile', '--day', day, '--dry-run');
  assert.equal(code, 1);
  assert.doesNotMatch(stdout, /would be (?:corrected 13|completed 11)\.00 /);
  assert.match(stdout, /2 users, 1 not read; 5 to settle, 4 differences, 0 explained\./);
  const seen = await app.rows(`select from pix_timeline where phase = 'SEEN'`);
  assert.equal(seen.length, 0);
});

/** An earlier reading has shown the debits, and the ten minutes since then no reversal. */
async function givenSeenDebits(): Promise<void> {
  const seenAt = new Date(clock.now().getTime() - 11 * 60_000);
  const debits = await app.rows<{ id: string }>(
    `select id from pix_transactions
      where user_id = $1 and operation = 'SEND' and amount in (11, 13, 14)`,
    [user.id],
  );
  for (const { id } of debits) await noteSight(app.context, id, { readAt: seenAt });
}

test('a dry run shows what would be settled, and writes nothing', async () => {
  await givenSeenDebits();
  const { code, stdout } = await runPonte('reconcile', '--day', day, '--dry-run');
  assert.equal(code, 1);
  assert.match(stdout, new RegExp(`would be received 42\\.50 ${lost.received}`));
  assert.match(stdout, /would be corrected 13\.00 /);
  assert.match(stdout, /2 users, 1 not read; 7 to settle, 1 difference, 0 explained\./);
  assert.deepEqual(await movements(user.id), before);
  const tables = ['reconciliations', 'reconciliation_differences', 'operator_actions'];
  for (const table of tables) {
    const [row] = await app.rows<{ count: string }>(`select count(*) from ${table}`);
    assert.equal(row?.count, '0', table);
  }
});

test('a report that cannot be written ends it before anything is settled: exit 2', async () => {
  const { code, stderr } = await runPonte('reconcile', '--day', day, '--yes', '--report', folder);
  assert.deepEqual([code, stderr], [2, `ponte: ${folder} cannot be written\n`]);
  assert.deepEqual(await movements(user.id), before);
});

test('it settles what the statement proves, and lists the rest with the next step', async () => {
  const argv = ['reconcile', '--day', day, '--yes', '--by', 'maria', '--report', report];
  const { code, stdout } = await runPonte(...argv);
  assert.equal(code, 1);
  assert.match(stdout, /completed 11\.00 /);
  assert.match(stdout, /corrected 13\.00 /);
  assert.match(stdout, /completed 15\.00 /);
  assert.match(stdout, /received 42\.50 /);
  assert.equal(stdout.match(/: returned /g)?.length, 2);
  assert.match(stdout, /OTHER_STATUS 12\.00 E\w+: the line has failed, which proves nothing/);
  const next = `ponte pix resolve ${lost.failed.id} --as failed`;
  assert.ok(stdout.includes(next), stdout);
  assert.match(stdout, new RegExp(`user ${away.id}: the statement was not read \\(NO_SESSION\\)`));
  assert.match(stdout, /2026-05-24: 2 users, 1 not read; 7 settled, 1 difference, 0 explained\./);
  assert.deepEqual(await movements(user.id), [
    'CHARGE 15.00 COMPLETED',
    'RECEIVED 42.50 COMPLETED',
    'REFUND_IN 7.00 COMPLETED',
    'REFUND_OUT 2.50 COMPLETED',
    'SEND 11.00 COMPLETED',
    'SEND 12.00 PROCESSING',
    'SEND 13.00 COMPLETED',
    'SEND 14.00 COMPLETED',
  ]);
  const { stdout: audit } = await runPonte('audit', 'list', '--json');
  const { actions } = JSON.parse(audit);
  assert.equal(actions.length, 7);
  assert.ok(actions.every((one: { operator: string }) => one.operator.endsWith('(maria)')));
});

test('the report has a line of JSON for each user', async () => {
  const lines = (await readFile(report, 'utf8')).trim().split('\n');
  const users = lines.map((text) => JSON.parse(text));
  assert.deepEqual(
    users.map((one) => {
      const { settled, differences } = one;
      return [one.day, one.userId, one.state, one.reason, settled.length, differences.length];
    }),
    [
      [day, user.id, 'READ', null, 7, 1],
      [day, away.id, 'UNREAD', 'NO_SESSION', 0, 0],
    ],
  );
});

test('a run that is repeated leaves out who is done, and records nothing more', async () => {
  const [difference] = JSON.parse(
    (await runPonte('reconcile', 'list', '--json')).stdout,
  ).differences;
  assert.equal(difference.transactionId, lost.failed.id);
  const resolve = ['pix', 'resolve', lost.failed.id, '--as', 'failed', '--reason', 'ticket 7'];
  const confirmed = ['--yes', '--confirm', 'money may have moved'];
  assert.equal((await runPonte(...resolve, ...confirmed)).code, 0);
  const again = JSON.parse((await runPonte('reconcile', '--day', day, '--yes', '--json')).stdout);
  // The open difference is checked again: the operator has resolved it.
  assert.deepEqual([again.users, again.settled, again.explained, again.unread], [2, 0, 1, 1]);
  const third = JSON.parse((await runPonte('reconcile', '--day', day, '--yes', '--json')).stdout);
  assert.deepEqual([third.users, third.unread], [1, 1]);
  const all = ['reconcile', '--day', day, '--yes', '--json', '--read-before', '2026-05-30'];
  assert.equal(JSON.parse((await runPonte(...all)).stdout).users, 2);
  assert.match((await runPonte('reconcile', 'list')).stderr, /There are no such differences\./);
});

test('who could not be read is listed', async () => {
  const { stdout, code } = await runPonte('reconcile', 'waiting', '--user', away.email);
  assert.equal(code, 0);
  assert.match(
    stdout,
    new RegExp(`2026-05-24 +${away.id} +NO_SESSION +2026-05-25 \\d\\d:\\d\\d:\\d\\dZ`),
  );
});

test('a difference is accepted once, with a reason and a name', async () => {
  const [row] = await app.rows<{ id: string }>(
    `insert into reconciliation_differences
            (day, user_id, kind, reason, subject, end_to_end, amount, found_at, seen_at)
     values ($1, $2, 'MISSING_HERE', 'payment_out', 'line', 'E1', 5, $3, $3) returning id`,
    [day, user.id, clock.now()],
  );
  const id = row?.id ?? '';
  const listed = await runPonte('reconcile', 'list', '--user', unheard);
  assert.match(listed.stdout, /money left under an end-to-end id that no send here has\./);
  assert.ok(listed.stdout.includes(`ponte pix list --user ${user.id} --amount 5.00`));
  assert.equal((await runPonte('doctor')).stdout.includes('differences: 1, none for more'), true);
  await clock.advance(25 * hourMs);
  const doctor = await runPonte('doctor');
  assert.match(doctor.stdout, /differences: 1 between the provider's statement and what is stored/);
  const accept = ['reconcile', 'accept', id, '--reason', 'paid in another channel', '--yes'];
  assert.equal((await runPonte(...accept)).code, 0);
  const twice = await runPonte(...accept);
  assert.equal(twice.code, 1);
  assert.match(twice.stdout, new RegExp(`There is no open difference ${id}\\.`));
  const [action] = JSON.parse((await runPonte('audit', 'list', '--json')).stdout).actions;
  assert.deepEqual(
    [action.command, action.target, action.outcome],
    ['reconcile accept', `difference:${id}`, 'accepted'],
  );
});

test('what is no id of a difference is refused', async () => {
  for (const id of ['abc', '9'.repeat(20)]) {
    const { code, stderr } = await runPonte('reconcile', 'accept', id, '--reason', 'x', '--yes');
    assert.equal(code, 2);
    assert.match(stderr, new RegExp(`${id} is not the id of a difference`));
  }
});
