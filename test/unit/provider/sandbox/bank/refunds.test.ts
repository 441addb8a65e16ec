/** The bank gives payments back, and reports charges that have expired. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isReturnId } from '../../../../../src/domain/pix.ts';
import { chargeOrder, logIn, openBank, orderFor, settleMs } from './open-bank.ts';

const openingBalanceCents = 1_000_000;

async function atTheCounter() {
  const open = openBank();
  const session = await logIn(open.provider);
  const balance = async () => (await open.provider.balance({ session })).cents;
  return { ...open, session, balance };
}

async function paid(key = 'maria@example.com') {
  const open = await atTheCounter();
  const { provider, session, clock, bank } = open;
  const order = await orderFor(provider, session, { key, amountCents: 1_001 });
  await provider.pay({ session, order });
  await clock.advance(settleMs);
  await bank.idle();
  return { ...open, endToEnd: order.endToEnd };
}

const refusedWith = (reason: string, kind = 'rule') => ({
  outcome: 'refused',
  refusal: { kind, reason },
});

test('a payment is refunded in parts, up to its amount, each with its webhook', async () => {
  const { bank, notices, endToEnd, balance } = await paid();
  const part = await bank.refund(endToEnd, 400);
  assert.ok(part.outcome === 'done' && isReturnId(part.value.returnId));
  assert.deepEqual(await bank.refund(endToEnd, 602), refusedWith('AM09'));
  const rest = await bank.refund(endToEnd);
  assert.ok(rest.outcome === 'done');
  assert.equal(rest.value.amountCents, 601);
  assert.deepEqual(await bank.refund(endToEnd), refusedWith('AM09'));
  assert.deepEqual(await bank.refund('E0'), refusedWith('TransferNotFound', 'not_found'));
  const refunds = notices().filter(({ event }) => event === 'PIX_REFUND_IN');
  assert.deepEqual(
    refunds.map((one) => [one['endToEnd'], one['returnId'], one['amount']]),
    [
      [endToEnd, part.value.returnId, 4],
      [endToEnd, rest.value.returnId, 6.01],
    ],
  );
  assert.equal(await balance(), openingBalanceCents);
});

test('a payment to the magic key is completed, then half of it comes back', async () => {
  const { bank, notices, balance, provider, session, clock } = await paid('refund@ponte.test');
  await bank.idle();
  assert.deepEqual(
    notices().map(({ event, amount }) => [event, amount]),
    [
      ['PIX_PAYMENT_OUT', 10.01],
      ['PIX_REFUND_IN', 5.01],
    ],
  );
  assert.equal(await balance(), openingBalanceCents - 500);
  const day = clock.now().toISOString().slice(0, 10);
  const { items } = await provider.statement({ session, start: day, end: day });
  assert.deepEqual(
    items.map(({ type, direction, amount }) => [type, direction, amount]),
    [
      ['PIX_REFUND_IN', 'CREDIT', 5.01],
      ['PIX_PAYMENT_OUT', 'DEBIT', 10.01],
    ],
  );
});

test('a received PIX is given back, and leaves the account', async () => {
  const { bank, provider, session, notices, balance } = await atTheCounter();
  const order = chargeOrder();
  await provider.createDynamicCharge({ session, order });
  const receipt = await bank.payCharge(order.transactionIdentification);
  assert.ok(receipt.outcome === 'done');
  assert.equal((await bank.refund(receipt.value.endToEnd)).outcome, 'done');
  assert.equal(notices().at(-1)?.['event'], 'PIX_REFUND_OUT');
  assert.equal(await balance(), openingBalanceCents);
});

test('an unpaid dynamic charge expires at its time, once, and cannot be paid any more', async () => {
  const { bank, provider, session, clock, notices } = await atTheCounter();
  const order = chargeOrder({ expirationSeconds: 600 });
  const { transactionIdentification: txid } = order;
  await provider.createDynamicCharge({ session, order });
  await clock.advance(599_999);
  await bank.idle();
  assert.deepEqual(notices(), []);
  await clock.advance(1);
  await bank.idle();
  assert.deepEqual(
    notices().map((one) => [one['event'], one['transactionIdentification'], one['amount']]),
    [['CHARGE_EXPIRED', txid, 25.99]],
  );
  assert.deepEqual(await bank.payCharge(txid), refusedWith('ChargeExpired'));
  assert.deepEqual(await bank.expireCharge(txid), refusedWith('ChargeExpired'));
});

test('a paid charge and a static one do not expire', async () => {
  const { bank, provider, session, clock, notices } = await atTheCounter();
  const order = chargeOrder({ expirationSeconds: 600 });
  await provider.createDynamicCharge({ session, order });
  await bank.payCharge(order.transactionIdentification);
  const fixed = chargeOrder({ transactionIdentification: 'b'.repeat(26) });
  await provider.createStaticCharge({ session, order: fixed });
  await clock.advance(4_000_000);
  await bank.idle();
  assert.deepEqual(
    notices().map(({ event }) => event),
    ['PIX_RECEIVED'],
  );
  const { transactionIdentification: paidTxid } = order;
  assert.deepEqual(await bank.expireCharge(paidTxid), refusedWith('ChargeAlreadyPaid'));
  const { transactionIdentification: fixedTxid } = fixed;
  assert.deepEqual(await bank.expireCharge(fixedTxid), refusedWith('ChargeDoesNotExpire'));
});
