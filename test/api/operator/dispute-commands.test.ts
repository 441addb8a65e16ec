/** What operators see of disputes: `ponte pix disputes`, `ponte pix show`, `ponte doctor`. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { notSent } from '../../../src/provider/errors.ts';
import { scam, startDisputeApp } from '../disputes/dispute-app.ts';
import { runPonte } from './command-line.ts';

const app = await startDisputeApp();

async function ponte(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await runPonte(app, args);
  assert.equal(code, 0, stderr);
  return stdout;
}

test('the disputes that wait are listed, the oldest first, without the text', async (t) => {
  const { stderr } = await runPonte(app, ['pix', 'disputes']);
  assert.match(stderr, /No dispute waits\./);
  const [open, requested] = [await app.pay(), await app.pay()];
  await app.open(open);
  t.mock.method(app.context.provider, 'openDispute', () => Promise.reject(notSent('connect')));
  await app.clock.advance(1_000);
  await app.open(requested);
  await app.call('/auth/logout', { token: requested.user.token, method: 'POST' });
  const { disputes } = JSON.parse(await ponte('pix', 'disputes', '--json'));
  const listed = disputes.map((one: { transactionId: string; status: string }) => [
    one.transactionId,
    one.status,
  ]);
  assert.deepEqual(listed, [
    [open.id, 'OPEN'],
    [requested.id, 'REQUESTED'],
  ]);
  const [cut, all] = await Promise.all(
    ['1', '3'].map((limit) => runPonte(app, ['pix', 'disputes', '--limit', limit])),
  );
  assert.match(cut?.stderr ?? '', /There may be more: set a greater --limit\./);
  assert.equal(all?.stderr, '');
  const first = JSON.parse(await ponte('pix', 'disputes', '--limit', '1', '--json'));
  assert.deepEqual([first.disputes.length, first.mayHaveMore], [1, true]);
  const table = await ponte('pix', 'disputes');
  assert.match(table, /REQUESTED .*waits for a login/);
  assert.ok(!table.includes(scam.details));
});

test('a payment is shown with its dispute', async () => {
  const paid = await app.pay();
  await app.open(paid);
  await app.withdraw(paid);
  const shown = await ponte('pix', 'show', paid.id);
  assert.match(shown, /dispute +WITHDRAWN, SCAM/);
  const { dispute } = JSON.parse(await ponte('pix', 'show', paid.id, '--json'));
  assert.deepEqual([dispute.status, dispute.situation], ['WITHDRAWN', 'SCAM']);
  const { dispute: none } = JSON.parse(await ponte('pix', 'show', (await app.pay()).id, '--json'));
  assert.equal(none, null);
});

test('the doctor names a dispute that stands too long without an answer', async () => {
  const paid = await app.pay();
  const age = async (status: string, days: number) => {
    const at = new Date(app.clock.now().getTime() - days * 24 * 60 * 60_000);
    await app.rows(
      `insert into pix_disputes (transaction_id, user_id, status, situation, requested_at,
              opened_at, updated_at)
       values ($1, $2, $3, 'SCAM', $4, case when $3 = 'OPEN' then $4::timestamptz end, $4)
       on conflict (transaction_id) do update set opened_at = excluded.opened_at,
              requested_at = excluded.requested_at, status = excluded.status`,
      [paid.id, paid.user.id, status, at],
    );
    const { stdout } = await runPonte(app, ['doctor']);
    return stdout;
  };
  assert.match(await age('REQUESTED', 0.1), /disputes: one is not confirmed for/);
  await app.rows(
    `update pix_disputes set status = 'OPEN', opened_at = requested_at where status = 'REQUESTED'`,
  );
  assert.match(await age('OPEN', 9), /disputes: one is not decided for/);
});
