/** A FAILED transaction that was paid becomes COMPLETED, once; COMPLETED never changes. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fromStatement } from '../../../src/domain/pix.ts';
import { dayMs } from '../../../src/clock.ts';
import { listPix } from '../../../src/operator/pix-list.ts';
import { showPix } from '../../../src/operator/pix-show.ts';
import { correctTransaction } from '../../../src/ledger/correction-repository.ts';
import { moveTransaction } from '../../../src/ledger/move-repository.ts';
import { previewReplay, replayEvent } from '../../../src/settlement/replay.ts';
import { findBrokenRules } from '../../support/broken-rules.ts';
import { givenCustomer } from '../../support/factories.ts';
import { unwatched } from '../operator/asking.ts';
import { confirmed, results, startSettlingApp } from './settling.ts';

const app = await startSettlingApp();
const { receive, stored, customer } = app;

/** A send that an event with a listed code has ended. */
async function givenFailedSend(amount = 10.5) {
  const send = await app.givenSend(undefined, amount);
  const { end_to_end: endToEnd } = send;
  const failed = { status: 'ERROR', endToEnd, error: { code: 'AC03' } };
  assert.deepEqual(results(await receive(confirmed(failed))), ['applied']);
  assert.equal((await stored(send.id)).status, 'FAILED');
  return send;
}

/** A dynamic charge that the sweep has ended as expired. */
async function givenExpiredCharge(amount = 40) {
  const payee = await givenCustomer(app);
  await app.listEmail(payee);
  const body = { type: 'dynamic', amount, key: payee.email };
  const { body: charged } = await app.charge(payee, body);
  const { id, transaction_identification: txid } = await stored(charged.transaction_id);
  await app.clock.advance(3 * dayMs);
  await moveTransaction(app.context, id, {
    from: ['ACCEPTED'],
    to: 'SETTLED',
    status: 'FAILED',
    failureCode: 'CHARGE_EXPIRED',
    timeline: [{ phase: 'SETTLED', note: 'expired' }],
  });
  return { id, payee, txid };
}

async function corrections(): Promise<number> {
  const [value] = (await app.context.metrics.pixCorrections.get()).values;
  return value?.value ?? 0;
}

test('a failed send is corrected by its end-to-end id and its amount, once', async () => {
  const { id, end_to_end: endToEnd } = await givenFailedSend();
  const before = await corrections();
  const event = await app.deliver(confirmed({ endToEnd, amount: 10.5 }));
  const preview = await previewReplay(app.context, event);
  assert.ok(preview.kind === 'preview');
  assert.deepEqual(
    preview.items.map(({ result, reason, from, to }) => [result, reason, from, to]),
    [['anomaly', 'corrected', 'FAILED', 'COMPLETED']],
  );
  assert.deepEqual(results(await app.settle(event)), ['anomaly: corrected']);
  const { status, phase, outcome, failure_code: failureCode } = await stored(id);
  assert.deepEqual(
    { status, phase, outcome, failureCode },
    { status: 'COMPLETED', phase: 'SETTLED', outcome: 'accepted', failureCode: null },
  );
  assert.equal((await app.timeline(id)).at(-1), 'SETTLED corrected event');
  assert.equal((await corrections()) - before, 1);
  await replayEvent(app.context, event);
  const again = confirmed({ endToEnd, amount: 10.5, n: 2 });
  assert.deepEqual(results(await receive(again)), ['already']);
  assert.equal((await corrections()) - before, 1);
});

test('everything that the app reads shows the correction', async () => {
  const { id, end_to_end: endToEnd } = await givenFailedSend();
  const { token } = customer;
  const failed = await app.view(customer, id);
  assert.equal('corrected_at' in failed.body, false);
  await receive(confirmed({ endToEnd, amount: 10.5 }));
  const at = app.clock.now().toISOString();
  const view = await app.view(customer, id);
  assert.deepEqual(view.body, { transaction_id: id, status: 'COMPLETED', corrected_at: at });
  assert.notEqual(view.headers.get('etag'), failed.headers.get('etag'));
  const receipt = await app.call(`/pix/${id}/receipt`, { token });
  assert.deepEqual(
    [receipt.body.status, receipt.body.corrected_at, receipt.body.failure],
    ['COMPLETED', at, undefined],
  );
  const list = await app.call('/pix?limit=1', { token });
  const [item] = list.body.items;
  assert.deepEqual([item.transaction_id, item.status, item.corrected_at], [id, 'COMPLETED', at]);
});

test('a correction names the later send of the same key and amount', async () => {
  const first = await givenFailedSend(77);
  await app.clock.advance(1_000);
  const other = await app.givenSend(undefined, 78);
  const again = await app.givenSend(undefined, 77);
  await receive(confirmed({ endToEnd: first.end_to_end, amount: 77 }));
  const { body } = await app.view(customer, first.id);
  assert.equal(body.paid_again_by, again.id);
  assert.notEqual(body.paid_again_by, other.id);
  const { transaction, operator } = await showPix.run(app.context, { id: first.id }, unwatched);
  assert.equal(transaction.paidAgainBy, again.id);
  assert.match(operator, new RegExp(again.id));
});

test('without its end-to-end id or with another amount a failed send stays so', async () => {
  const send = await givenFailedSend();
  const { id, end_to_end: endToEnd } = send;
  const [{ idempotency_key: key } = { idempotency_key: '' }] = await app.rows<{
    idempotency_key: string;
  }>('select idempotency_key from pix_transactions where id = $1', [id]);
  for (const proof of [
    { endToEnd },
    { endToEnd, amount: 10.51 },
    { clientRequestId: key, amount: 10.5 },
  ]) {
    const [result = ''] = results(await receive(confirmed(proof)));
    assert.match(result, /^anomaly: (?!corrected)/);
    assert.equal((await stored(id)).status, 'FAILED');
  }
});

test('a completed send never becomes failed', async () => {
  const { id, end_to_end: endToEnd } = await givenFailedSend();
  await receive(confirmed({ endToEnd, amount: 10.5 }));
  const failed = { status: 'ERROR', endToEnd, amount: 10.5, error: { code: 'AC03' } };
  assert.deepEqual(results(await receive(confirmed(failed))), [
    'anomaly: contradicts_final_status',
  ]);
  assert.equal((await stored(id)).status, 'COMPLETED');
});

test('the database refuses to complete a failed transaction without a correction', async () => {
  const { id } = await givenFailedSend();
  await assert.rejects(
    app.rows(`update pix_transactions set status = 'COMPLETED' where id = $1`, [id]),
    /final transaction/,
  );
});

test('an expired charge is corrected by its identification, amount and payee', async () => {
  const { id, payee, txid } = await givenExpiredCharge();
  const paid = app.pix({ txid, chave: payee.email, valor: '40.00' });
  assert.deepEqual(results(await receive(paid)), ['anomaly: corrected']);
  assert.equal((await stored(id)).status, 'COMPLETED');
  assert.deepEqual(await app.receivedBy(payee), []);
});

const endings: readonly (readonly [
  title: string,
  expiry: ((own: string | null) => object) | null,
  completion: (own: string | null) => object,
])[] = [
  ['expired, and was paid by an event without an id', () => ({ id: 'x' }), () => ({})],
  ['expired, and was paid, with one id', () => ({ id: 'x' }), () => ({ id: 'x' })],
  ['was paid by an event with its own id', null, (own) => ({ id: own })],
];

for (const [title, expiry, completion] of endings) {
  test(`a charge that ${title}: its payment is recorded once`, async () => {
    const payee = await givenCustomer(app);
    await app.listEmail(payee);
    for (const type of ['static', 'dynamic']) {
      const { body: charged } = await app.charge(payee, { type, amount: 20 });
      const charge = await stored(charged.transaction_id);
      const ofCharge = { txid: charge.transaction_identification, amount: 20 };
      const own = charge.provider_txid;
      if (expiry) await receive({ event: 'CHARGE_EXPIRED', ...ofCharge, ...expiry(own) });
      const paid = { event: 'CHARGE_COMPLETED', ...ofCharge, key: payee.email };
      await receive({ ...paid, ...completion(own) });
      assert.equal((await stored(charge.id)).status, 'COMPLETED');
      const endToEnd = app.newEndToEnd();
      const pix = { event: 'PIX_RECEIVED', ...ofCharge, key: payee.email, id: `pix-${type}` };
      assert.deepEqual(results(await receive({ ...pix, endToEnd })), ['already']);
      assert.deepEqual(await app.receivedBy(payee), []);
      assert.equal((await stored(charge.id)).end_to_end, endToEnd);
    }
  });
}

test('an expired charge stays failed where the payee is absent or another one', async () => {
  const { id, payee, txid } = await givenExpiredCharge();
  for (const chave of [undefined, 'somebody@example.com', customer.email]) {
    const [result = ''] = results(await receive(app.pix({ txid, chave, valor: '40.00' })));
    assert.match(result, /^anomaly: (?!corrected)/);
  }
  const other = app.pix({ txid, chave: payee.email, valor: '40.01' });
  assert.deepEqual(results(await receive(other)), ['anomaly: amount_mismatch']);
  assert.equal((await stored(id)).status, 'FAILED');
});

test('concurrent corrections change a transaction once', async () => {
  const { id, end_to_end: endToEnd } = await givenFailedSend();
  const proof = { endToEnd, providerTxid: null, source: fromStatement };
  const all = await Promise.all([1, 2, 3].map(() => correctTransaction(app.context, id, proof)));
  assert.equal(all.filter((one) => one !== null).length, 1);
});

test('operators list corrected transactions, and every rule of the audit holds', async () => {
  const { id, end_to_end: endToEnd } = await givenFailedSend();
  await app.clock.advance(1_000);
  await receive(confirmed({ endToEnd, amount: 10.5 }));
  const input = { corrected: true, limit: 1 };
  const { transactions } = await listPix.run(app.context, input, unwatched);
  assert.deepEqual(
    transactions.map((one) => one.id),
    [id],
  );
  assert.deepEqual(await findBrokenRules(app), []);
});
