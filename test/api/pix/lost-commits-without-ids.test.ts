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
const debit = { id: 'a-debit', amount: 12.5, type: 'PIX_PAYMENT_OUT', status: 'CONFIRMED' };

const statement = (...lines: readonly object[]): void => {
  bank.onStatement = () => ({ status: 200, body: lines });
};

for (const [what, idOf] of [
  ['with its request id alone', (key: string) => ({ clientRequestId: key })],
  ['without any id of ours', () => ({})],
] as const) {
  test(`a debit ${what} blocks its amount, unless a stored order accounts for it`, async () => {
    statement();
    const user = await givenCustomer(app);
    const [lost, kept] = [randomUUID(), randomUUID()];
    const { body } = await app.send(user, payment, { key: lost });
    assert.equal((await app.send(user, payment, { key: kept })).body.status, 'PROCESSING');
    await forget(app, body.transaction_id);
    const ofBoth = [lost, kept].map((key, nth) => ({ ...debit, ...idOf(key), id: `debit-${nth}` }));
    const unread = { ...debit, id: 'fee', amount: 'much', type: 'SALDO' };
    statement(...ofBoth, unread);
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
