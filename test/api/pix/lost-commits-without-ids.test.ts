/** After a loss of commits, a bank whose statement does not have our ids. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { acceptOp as accept, listDifferences } from '../../../src/operator/reconcile.ts';
import { givenCustomer } from '../../support/factories.ts';
import { unwatched } from '../operator/asking.ts';
import { startPixApp } from './pix-app.ts';
import { forget, recordLoss } from './pix-app-loss.ts';
import { acceptance, startScriptedBank } from './scripted-bank.ts';

const bank = await startScriptedBank();
const environment = { ...bank.environment, JOBS: 'off', PROVIDER_RETRIES: '0' };
const app = await startPixApp({ bank: {} as never, environment });
bank.onPayment = acceptance;

const payment = { pix_key: 'bruno@example.com', amount: 12.5 };
const debit = { amount: 12.5, type: 'PIX_PAYMENT_OUT', status: 'CONFIRMED' };

const complete = `update pix_transactions
  set status = 'COMPLETED', phase = 'SETTLED', settled_at = $2 where id = $1`;

const statement = (...lines: readonly object[]): void => {
  bank.onStatement = () => ({ status: 200, body: lines });
};

for (const [what, idOf] of [
  ['with its request id alone', (key: string) => ({ clientRequestId: key })],
  ["with the bank's id alone", (key: string) => ({ id: `of-${key}` })],
  ['without any id', () => ({})],
] as const) {
  test(`a debit ${what} blocks its amount, unless a stored order accounts for it`, async () => {
    statement();
    const user = await givenCustomer(app);
    const [lost, kept] = [randomUUID(), randomUUID()];
    const { body } = await app.send(user, payment, { key: lost });
    const other = await app.send(user, payment, { key: kept });
    await app.rows(complete, [other.body.transaction_id, app.clock.now()]);
    await forget(app, body.transaction_id);
    const unread = { ...debit, amount: 'much', type: 'SALDO' };
    statement({ ...debit, ...idOf(lost) }, { ...debit, ...idOf(kept) }, unread);
    await recordLoss(app, new Date(app.clock.now().getTime() - 120_000));
    for (const key of [lost, randomUUID()]) {
      const blocked = await app.send(user, payment, { key });
      assert.deepEqual([blocked.status, blocked.headers.get('pix-next')], [422, 'ask']);
    }
    assert.equal((await app.send(user, { ...payment, amount: 13 })).status, 200, 'another amount');
    const input = { user: String(user.id), blocking: true, limit: 10 };
    const { differences } = await listDifferences.run(app.context, input, unwatched);
    assert.deepEqual(
      differences.map(({ endToEnd, amount }) => [endToEnd, amount]),
      [[null, '12.50']],
    );
    const ids = differences.map(({ id }) => id);
    await accept.run(app.context, { ids, reason: 'ticket 7' }, unwatched);
    assert.equal((await app.send(user, payment)).status, 200);
  });
}

for (const [what, change] of [
  ['whose payment may be lost', `phase = 'RESERVED', outcome = null, end_to_end = null`],
  ['that has failed', `phase = 'SETTLED', status = 'FAILED', settled_at = updated_at`],
] as const) {
  test(`a stored order ${what} does not account for the debit with its request id`, async () => {
    statement();
    const user = await givenCustomer(app);
    const key = randomUUID();
    const { body } = await app.send(user, payment, { key });
    await app.ownerRows(`
      do $$ begin
        perform set_config('session_replication_role', 'replica', true);
        update pix_transactions set ${change} where id = '${body.transaction_id}';
      end $$`);
    statement({ ...debit, amount: '12,50 reais', clientRequestId: key });
    await recordLoss(app, new Date(app.clock.now().getTime() - 120_000));
    const blocked = await app.send(user, payment, { key: randomUUID() });
    assert.deepEqual([blocked.status, blocked.headers.get('pix-next')], [422, 'ask']);
  });
}
