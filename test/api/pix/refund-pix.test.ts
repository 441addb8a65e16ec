/** Returns of received Pix: whole, in parts, at once, refused, and repeated. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { auditPix } from '../../../src/operator/pix-audit.ts';
import { givenCustomer } from '../../support/factories.ts';
import { unwatched } from '../operator/asking.ts';
import { startReturnApp } from './return-app.ts';

const app = await startReturnApp();
const off = await startReturnApp({ environment: { PROVIDER_FEATURES: 'none' } });

const outcome = (response: { readonly headers: Headers }) => response.headers.get('pix-outcome');

async function holdsEveryRule(): Promise<void> {
  const { invariants } = await auditPix.run(app.context, {}, unwatched);
  const broken = invariants.filter((one) => one.broken > 0);
  assert.deepEqual(
    broken.map(({ name, rows }) => [name, rows]),
    [],
  );
}

test('a received Pix is returned whole: a transaction of its own, with receipts of both', async () => {
  const user = await givenCustomer(app);
  const received = await app.givenReceived(user, 2_000);
  const made = await app.giveBack(user, received.id, 20, { reason: 'PAID_TWICE' });
  assert.equal(made.status, 200, JSON.stringify(made.body));
  assert.equal(outcome(made), 'accepted');
  const { transaction_id: id, return_id: returnId } = made.body;
  assert.deepEqual(made.body, { transaction_id: id, status: 'PROCESSING', return_id: returnId });
  assert.match(returnId, /^D11165756\d{12}[0-9A-Za-z]{11}$/);
  assert.deepEqual(app.returned(received.endToEnd), [[returnId, 20]]);
  assert.deepEqual(await app.timeline(id), ['RESERVED', 'PAYING 1', 'ACCEPTED 1 2xx']);
  assert.deepEqual(await app.sums(received.id), { refunded: null, refunding: '20.00' });

  await app.bank.settle(returnId);
  assert.equal((await app.settled(id)).status, 'COMPLETED');
  assert.deepEqual(await app.sums(received.id), { refunded: '20.00', refunding: null });
  const { token } = user;
  const { body: receipt } = await app.call(`/pix/${id}/receipt`, { token });
  assert.partialDeepStrictEqual(receipt, {
    type: 'PIX_REFUND_OUT',
    status: 'COMPLETED',
    amount: 20,
    end_to_end: received.endToEnd,
    return_id: returnId,
    original_transaction_id: received.id,
    description: 'PAID_TWICE',
  });
  const { body: original } = await app.call(`/pix/${received.id}/receipt`, { token });
  assert.partialDeepStrictEqual(original, { status: 'COMPLETED', refunded_amount: 20 });
  const { body: list } = await app.call('/pix', { token });
  assert.deepEqual(
    list.items.map(({ transaction_id: one }: { transaction_id: string }) => one),
    [id, received.id],
  );
  await holdsEveryRule();
});

test('a paid charge is returned, and named by its Pix or by the charge it has one sum', async () => {
  const user = await givenCustomer(app);
  const charged = await app.charge(user, { type: 'dynamic', amount: 10 });
  const { transaction_id: chargeId } = charged.body;
  const { transaction_identification: txid } = await app.stored(chargeId);
  await app.bank.payCharge(txid ?? '');
  const { end_to_end: endToEnd } = await app.settled(chargeId);
  // Recorded as a Pix of its own, too, as by an event that did not name the charge.
  const pixId = randomUUID();
  await app.rows(
    `insert into pix_transactions (id, user_id, operation, status, phase, outcome, amount,
                                   end_to_end, created_at, updated_at, settled_at)
     select $1, user_id, 'RECEIVED', 'COMPLETED', 'SETTLED', 'accepted', amount, end_to_end,
            settled_at, settled_at, settled_at from pix_transactions where id = $2`,
    [pixId, chargeId],
  );
  await app.rows(
    `insert into pix_timeline (transaction_id, phase, at, note)
     values ($1, 'SETTLED', $2, 'found_in_statement')`,
    [pixId, app.clock.now()],
  );
  assert.equal((await app.giveBack(user, chargeId, 6)).status, 200);
  const other = await app.giveBack(user, pixId, 4);
  assert.equal(other.status, 200, JSON.stringify(other.body));
  assert.equal((await app.giveBack(user, pixId, 0.01)).status, 422);
  assert.deepEqual(await app.sums(chargeId), { refunded: null, refunding: '10.00' });
  assert.equal(app.returned(endToEnd ?? '').length, 2);
});

test('of six returns of 8.00 at once two fit into 20.00', async () => {
  const user = await givenCustomer(app);
  const received = await app.givenReceived(user, 2_000);
  const made = await Promise.all(
    Array.from({ length: 6 }, () => app.giveBack(user, received.id, 8)),
  );
  const accepted = made.filter(({ status }) => status === 200);
  assert.equal(accepted.length, 2, JSON.stringify(made.map(({ body }) => body)));
  for (const refused of made.filter(({ status }) => status !== 200)) {
    assert.equal(refused.status, 422);
    assert.deepEqual(refused.body.errors, {
      amount: ['The amount exceeds what is left to return: R$ 4.00.'],
    });
    assert.equal(outcome(refused), 'not_sent');
  }
  assert.equal(app.returned(received.endToEnd).length, 2);
  assert.deepEqual(await app.sums(received.id), { refunded: null, refunding: '16.00' });
  const rest = await app.giveBack(user, received.id, 4);
  assert.equal(rest.status, 200);
});

test('repeats of one key return once, and get the same return', async () => {
  const user = await givenCustomer(app);
  const received = await app.givenReceived(user);
  const key = randomUUID();
  const all = await Promise.all([1, 2, 3].map(() => app.giveBack(user, received.id, 5, { key })));
  const ids = new Set(all.map(({ body }) => body.transaction_id));
  assert.equal(ids.size, 1, JSON.stringify(all.map(({ body }) => body)));
  const again = await app.giveBack(user, received.id, 5, { key });
  assert.equal(again.headers.get('idempotency-replayed'), 'true');
  assert.equal(app.returned(received.endToEnd).length, 1);
  const other = await app.giveBack(user, received.id, 6, { key });
  assert.equal(other.status, 422);
  assert.ok(other.body.errors['Idempotency-Key']);
  assert.equal(outcome(other), 'accepted', 'of the return that has the key');
  // The keys of sends are apart.
  const sent = await app.send(user, { pix_key: 'ana@example.com', amount: 5 }, { key });
  assert.equal(sent.status, 200);
  assert.notEqual(sent.body.transaction_id, again.body.transaction_id);
});

test('a return that the bank refuses fails, and its amount is left again', async () => {
  const user = await givenCustomer(app);
  const received = await app.givenReceived(user);
  const refused = await app.giveBack(user, received.id, 0.91);
  assert.equal(refused.status, 502);
  assert.deepEqual([refused.body.code, outcome(refused)], ['PROVIDER_REJECTED', 'rejected']);
  assert.deepEqual(await app.sums(received.id), { refunded: null, refunding: null });
  const whole = await app.giveBack(user, received.id, 20);
  assert.equal(whole.status, 200);
});

test('an accepted return that fails later is FAILED by its event, with the reason', async () => {
  const user = await givenCustomer(app);
  const received = await app.givenReceived(user);
  const { body } = await app.giveBack(user, received.id, 0.93);
  await app.bank.settle(body.return_id);
  const { status, failure_code: code } = await app.settled(body.transaction_id);
  assert.deepEqual([status, code], ['FAILED', 'DS04']);
  assert.deepEqual(await app.sums(received.id), { refunded: null, refunding: null });
  await holdsEveryRule();
});

test('an unknown outcome is 200 PROCESSING until the event settles it, once', async () => {
  const user = await givenCustomer(app);
  const received = await app.givenReceived(user);
  const made = await app.throughTime(app.giveBack(user, received.id, 0.92));
  assert.equal(made.status, 200);
  assert.deepEqual([made.body.status, outcome(made)], ['PROCESSING', 'unknown']);
  const { transaction_id: id, return_id: returnId } = made.body;
  assert.equal((await app.stored(id)).phase, 'UNKNOWN');
  assert.deepEqual(app.returned(received.endToEnd), [[returnId, 0.92]], 'one, whatever the tries');
  await app.bank.settle(returnId);
  assert.equal((await app.settled(id)).status, 'COMPLETED');
  assert.deepEqual(await app.sums(received.id), { refunded: '0.92', refunding: null });
  const refunds = await app.rows('select id from pix_transactions where original_id = $1', [
    received.id,
  ]);
  assert.equal(refunds.length, 1, 'the event is not stored as a second refund');
});

test('what cannot be returned is refused by field, in both languages', async () => {
  const user = await givenCustomer(app);
  const stranger = await givenCustomer(app);
  const received = await app.givenReceived(user);
  for (const [who, id] of [
    [stranger, received.id],
    [user, randomUUID()],
  ] as const) {
    const foreign = await app.giveBack(who, id, 1);
    assert.deepEqual([foreign.status, outcome(foreign)], [404, 'not_sent']);
  }
  const { body: sent } = await app.send(user, { pix_key: 'ana@example.com', amount: 5 });
  const ofSend = await app.giveBack(user, sent.transaction_id, 1);
  assert.deepEqual([ofSend.status, outcome(ofSend)], [422, 'not_sent']);
  assert.deepEqual(Object.keys(ofSend.body.errors), ['transactionId']);
  const { body: charged } = await app.charge(user, { type: 'dynamic', amount: 10 });
  const unpaid = await app.giveBack(user, charged.transaction_id, 1, {
    headers: { 'accept-language': 'pt' },
  });
  assert.deepEqual(unpaid.body.errors, { transactionId: ['Este Pix ainda não foi recebido.'] });
  for (const [field, body] of [
    ['reason', { amount: 1, reason: 'because' }],
    ['reason', { amount: 1, reason: 'x'.repeat(5_000) }],
    ['reason', { amount: 1 }],
    ['amount', { amount: 0, reason: 'OTHER' }],
    ['amount', { amount: 1.005, reason: 'OTHER' }],
  ] as const) {
    const { token } = user;
    const path = `/pix/${received.id}/refund`;
    const invalid = await app.call(path, { token, key: randomUUID(), body });
    assert.deepEqual([invalid.status, outcome(invalid)], [422, 'not_sent'], JSON.stringify(body));
    assert.deepEqual(Object.keys(invalid.body.errors), [field]);
  }
  const tooMuch = await app.giveBack(user, received.id, 20.01, {
    headers: { 'accept-language': 'pt' },
  });
  assert.deepEqual(tooMuch.body.errors, {
    amount: ['O valor excede o que resta a devolver: R$ 20,00.'],
  });
  assert.deepEqual(app.returned(received.endToEnd), []);
});

test('a Pix is returned up to 90 days after it was received', async () => {
  const user = await givenCustomer(app);
  const day = 24 * 60 * 60_000;
  for (const [ageMs, status] of [
    [90 * day - 1_000, 200],
    [90 * day + 1_000, 422],
  ] as const) {
    const received = await app.givenReceived(user);
    await app.ownerRows(
      `do $$ begin
         perform set_config('session_replication_role', 'replica', true);
         update pix_transactions set created_at = '${new Date(
           app.clock.now().getTime() - ageMs,
         ).toISOString()}' where id = '${received.id}';
       end $$`,
    );
    const made = await app.giveBack(user, received.id, 1);
    assert.equal(made.status, status, JSON.stringify(made.body));
    if (status === 422) assert.deepEqual(Object.keys(made.body.errors), ['transactionId']);
  }
});

test('only an ACTIVE account returns', async () => {
  const user = await givenCustomer(app);
  const received = await app.givenReceived(user);
  await app.rows(`update accounts set status = 'BLOCKED' where user_id = $1`, [user.id]);
  const refused = await app.giveBack(user, received.id, 1);
  assert.deepEqual([refused.status, outcome(refused)], [422, 'not_sent']);
  assert.deepEqual(Object.keys(refused.body.errors), ['account']);
  assert.deepEqual(app.returned(received.endToEnd), []);
});

test('a return counts towards no limit', async () => {
  const limited = await startReturnApp({
    environment: { PIX_LIMIT_DAY: '10', PIX_LIMIT_NIGHT: '10' },
  });
  const user = await givenCustomer(limited);
  const received = await limited.givenReceived(user, 5_000);
  assert.equal((await limited.giveBack(user, received.id, 50)).status, 200);
  const sent = await limited.send(user, { pix_key: 'ana@example.com', amount: 10 });
  assert.equal(sent.status, 200, JSON.stringify(sent.body));
});

test('without the feature returns are not available', async () => {
  const user = await givenCustomer(off);
  const received = await off.givenReceived(user);
  const refused = await off.giveBack(user, received.id, 1);
  assert.equal(refused.status, 501);
  assert.equal(refused.body.code, 'NOT_AVAILABLE');
  assert.deepEqual(off.returned(received.endToEnd), []);
  assert.equal(await off.countRows(user), 1);
});

test('a charge that was paid without an end-to-end id says what its return lacks', async () => {
  const user = await givenCustomer(app);
  const charged = await app.charge(user, { type: 'dynamic', amount: 10 });
  const { transaction_id: id } = charged.body;
  await app.rows(
    `update pix_transactions set status = 'COMPLETED', phase = 'SETTLED', settled_at = $2,
            end_to_end = null where id = $1`,
    [id, app.clock.now()],
  );
  const refused = await app.giveBack(user, id, 10);
  assert.equal(refused.status, 422);
  assert.match(refused.body.errors.transactionId[0], /without its end-to-end id/);
});
