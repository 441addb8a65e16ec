/** A PIX of another amount than the charge that it names: flagged, and in the statement, once. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { previewReplay, replayEvent } from '../../../src/settlement/replay.ts';
import { givenCustomer, type TestUser } from '../../support/factories.ts';
import { results, startSettlingApp } from './settling.ts';

const app = await startSettlingApp();
const { receive, stored } = app;

const { newEndToEnd, pix, receivedBy } = app;

test('a payment of another amount is in the statement once, however it is reported', async () => {
  const payee = await givenCustomer(app);
  const charged = await app.charge(payee, { type: 'dynamic', amount: 40 });
  const { id, transaction_identification: txid } = await stored(charged.body.transaction_id);
  const [endToEndId, before] = [newEndToEnd(), await app.anomalies()];
  const paid = (changes: Record<string, unknown> = {}) =>
    pix({ txid, chave: payee.email, valor: '41.23', endToEndId, ...changes });
  const event = await app.deliver(paid());
  const previewed = await previewReplay(app.context, event);
  assert.ok(previewed.kind === 'preview');
  assert.deepEqual(
    previewed.items.map(({ result, reason, transactionId }) => [result, reason, transactionId]),
    [['anomaly', 'amount_mismatch', id]],
  );
  const settlements = [await app.settle(event), await receive(paid({ n: 2 }))];
  const ids = await Promise.all([app.deliver(paid({ n: 3 })), app.deliver(paid({ n: 4 }))]);
  settlements.push(...(await Promise.all(ids.map((one) => app.settle(one)))));
  for (const one of settlements) {
    assert.deepEqual(results(one), ['anomaly: amount_mismatch']);
    assert.equal(one.items[0]?.transactionId, id);
  }
  await replayEvent(app.context, event);
  assert.equal((await app.anomalies()) - before, 4);
  const received = await receivedBy(payee);
  assert.deepEqual(
    received.map(({ amount, end_to_end: endToEnd }) => [amount, endToEnd]),
    [['41.23', endToEndId]],
  );
  const statement = await app.call('/accounts/statement', { token: payee.token });
  assert.deepEqual(
    statement.body.items.local
      .map(({ type, amount, status }: Record<string, string>) => `${type} ${amount} ${status}`)
      .sort(),
    ['PIX_CHARGE 40 PROCESSING', 'PIX_RECEIVED 41.23 COMPLETED'],
  );
  assert.equal((await app.timeline(id)).at(-1), 'ANOMALY amount_mismatch event');
});

test('what is flagged is flagged after a death between the record and the flag, too', async () => {
  const payee = await givenCustomer(app);
  const charged = await app.charge(payee, { type: 'dynamic', amount: 40 });
  const { id, transaction_identification: txid } = await stored(charged.body.transaction_id);
  const eventId = await app.deliver(pix({ txid, valor: '41.23' }));
  const { db } = app.context;
  const { query } = db;
  Object.assign(db, {
    query: (...call: Parameters<typeof query>) =>
      call[0].name === 'pix-anomaly' ? Promise.reject(new Error('death')) : query(...call),
  });
  await assert.rejects(app.settle(eventId), /death/);
  Object.assign(db, { query });
  assert.equal((await receivedBy(payee)).length, 1);
  assert.deepEqual(results(await app.settle(eventId)), ['anomaly: amount_mismatch']);
  assert.equal((await app.timeline(id)).at(-1), 'ANOMALY amount_mismatch event');
  assert.equal((await receivedBy(payee)).length, 1);
});

test('one payment that is reported with two amounts is received once', async () => {
  const payee = await givenCustomer(app);
  const charged = await app.charge(payee, { type: 'dynamic', amount: 40 });
  const { id, transaction_identification: txid } = await stored(charged.body.transaction_id);
  const [endToEndId, wrong] = [newEndToEnd(), 'anomaly: amount_mismatch'];
  const settlements = async (valor: string, changes = {}) =>
    results(await receive(pix({ txid, valor, endToEndId, ...changes })));
  assert.deepEqual(await settlements('40.00'), ['applied']);
  assert.deepEqual(await settlements('41.23'), [wrong]);
  assert.deepEqual(await receivedBy(payee), []);
  const other = await app.charge(payee, { type: 'dynamic', amount: 30 });
  const { transaction_identification: otherTxid } = await stored(other.body.transaction_id);
  assert.deepEqual(await settlements('41.23', { txid: otherTxid }), [wrong]);
  assert.deepEqual(await receivedBy(payee), []);
  assert.equal((await stored(id)).status, 'COMPLETED');
});

test('a payment of another amount is for the owner of the charge, or for no user', async () => {
  const [owner, named] = [await givenCustomer(app), await givenCustomer(app)];
  await app.listEmail(named);
  const charged = await app.charge(owner, { type: 'dynamic', amount: 40 });
  const { transaction_identification: txid } = await stored(charged.body.transaction_id);
  await receive(pix({ txid, valor: '41.23', chave: named.email }));
  await receive(pix({ txid, valor: '41.24', chave: 'nobody@example.com' }));
  await receive(pix({ txid, valor: '41.25', endToEndId: undefined }));
  await receive(pix({ txid, valor: '41.26', chave: owner.email }));
  const amounts = async (user: TestUser) => (await receivedBy(user)).map(({ amount }) => amount);
  assert.deepEqual([await amounts(owner), await amounts(named)], [['41.26'], []]);
});
