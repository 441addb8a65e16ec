import assert from 'node:assert/strict';
import { test } from 'node:test';
import { failure, logIn, openBank, orderFor, payer, doubted, rejected } from './open-bank.ts';

const openingBalanceCents = 1_000_000;

test('a payment is accepted as PROCESSING, debited at once, and reported by one webhook', async () => {
  const { provider, clock, notices } = openBank();
  const session = await logIn(provider);
  const order = await orderFor(provider, session);
  const receipt = await provider.pay({ session, order });
  assert.deepEqual(
    { ...receipt, providerTxid: null },
    {
      endToEnd: order.endToEnd,
      clientRequestId: 'request-1',
      providerTxid: null,
      status: 'PROCESSING',
    },
  );
  assert.equal((await provider.balance({ session })).cents, openingBalanceCents - 1_050);
  await clock.advance(1_499);
  assert.deepEqual(notices(), []);
  await clock.advance(1);
  assert.deepEqual(notices(), [
    {
      event: 'PIX_PAYMENT_OUT',
      id: receipt.providerTxid,
      endToEnd: order.endToEnd,
      clientRequestId: 'request-1',
      status: 'CONFIRMED',
      amount: 10.5,
      createdAt: '2026-05-24T12:00:01.500Z',
    },
  ]);
});

test('an order that repeats a payment gets its receipt, and is executed once', async () => {
  const { provider, clock, notices } = openBank();
  const session = await logIn(provider);
  const order = await orderFor(provider, session);
  const first = await provider.pay({ session, order });
  await clock.advance(2_000);
  assert.deepEqual(await provider.pay({ session, order }), first);
  await clock.advance(60_000);
  assert.equal(notices().length, 1);
  assert.equal((await provider.balance({ session })).cents, openingBalanceCents - 1_050);
});

test('payments that come at the same time never spend more than the balance', async () => {
  const { provider } = openBank({ openingBalanceCents: 3_000 });
  const session = await logIn(provider);
  const orders = await Promise.all(
    Array.from({ length: 5 }, (_, nth) =>
      orderFor(provider, session, { amountCents: 1_000, clientRequestId: `request-${nth}` }),
    ),
  );
  const results = await Promise.allSettled(orders.map((order) => provider.pay({ session, order })));
  assert.equal(results.filter(({ status }) => status === 'fulfilled').length, 3);
  assert.equal((await provider.balance({ session })).cents, 0);
});

test('an end-to-end id that paid one request pays no other', async () => {
  const { provider } = openBank();
  const session = await logIn(provider);
  const order = await orderFor(provider, session);
  await provider.pay({ session, order });
  assert.deepEqual(
    await failure(provider.pay({ session, order: { ...order, clientRequestId: 'request-2' } })),
    doubted('DUPLICATEDENDTOENDID'),
  );
});

test('a request that was paid is not paid with another end-to-end id', async () => {
  const { provider } = openBank();
  const session = await logIn(provider);
  await provider.pay({ session, order: await orderFor(provider, session) });
  assert.deepEqual(
    await failure(provider.pay({ session, order: await orderFor(provider, session) })),
    doubted('DUPLICATEDCLIENTREQUESTID'),
  );
  assert.equal((await provider.balance({ session })).cents, openingBalanceCents - 1_050);
});

test('the ids of a payment with another amount are refused', async () => {
  const { provider } = openBank();
  const session = await logIn(provider);
  const order = await orderFor(provider, session);
  await provider.pay({ session, order });
  assert.deepEqual(
    await failure(provider.pay({ session, order: { ...order, amountCents: 1_051 } })),
    doubted('DUPLICATEDENDTOENDID'),
  );
});

test('a payment needs an end-to-end id issued to its customer, payer and key', async () => {
  const { provider } = openBank();
  const session = await logIn(provider);
  const other = await logIn(provider, 'other@ponte.test');
  const order = await orderFor(provider, session);
  const wrong = [
    provider.pay({ session, order: { ...order, endToEnd: 'E11165756202605241200aaaaaaaaaaa' } }),
    provider.pay({ session: other, order }),
    provider.pay({ session, order: { ...order, payer: { ...payer, document: '12345678909' } } }),
    provider.pay({ session, order: { ...order, key: 'joao@example.com' } }),
  ];
  const failures = await Promise.all(wrong.map(failure));
  for (const one of failures) assert.deepEqual(one, doubted('ENDTOENDIDNOTISSUED'));
  assert.equal((await provider.balance({ session })).cents, openingBalanceCents);
});

test('two customers may use the same request id', async () => {
  const { provider } = openBank();
  for (const email of ['dev@ponte.test', 'other@ponte.test']) {
    const session = await logIn(provider, email);
    await provider.pay({ session, order: await orderFor(provider, session) });
    assert.equal((await provider.balance({ session })).cents, openingBalanceCents - 1_050);
  }
});

test('an amount over the balance is refused, undebited, and its ids are used up', async () => {
  const { provider, clock, notices } = openBank({ openingBalanceCents: 1_000 });
  const session = await logIn(provider);
  const order = await orderFor(provider, session, { amountCents: 1_001 });
  const insufficient = {
    outcome: 'rejected',
    code: 'INSUFFICIENT_FUNDS',
    statusClass: '4xx',
    retryable: false,
    reason: 'NOT_ENOUGH_BALANCE',
  };
  assert.deepEqual(await failure(provider.pay({ session, order })), insufficient);
  assert.deepEqual(await failure(provider.pay({ session, order })), insufficient);
  await clock.advance(60_000);
  assert.deepEqual(notices(), []);
  assert.equal((await provider.balance({ session })).cents, 1_000);
});

test('an amount that is no amount is refused', async () => {
  const { provider } = openBank();
  const session = await logIn(provider);
  for (const amountCents of [0, -1, 100_000_000_000]) {
    const clientRequestId = `request-${amountCents}`;
    const order = await orderFor(provider, session, { amountCents, clientRequestId });
    assert.deepEqual(await failure(provider.pay({ session, order })), rejected('AM12'));
  }
});

test('with a settlement time of 0 no webhook comes by itself, whatever the key', async () => {
  const { provider, bank, clock, notices } = openBank({ settleMs: 0 });
  const session = await logIn(provider);
  const keys = ['maria@example.com', 'slow', 'fail', 'early', 'twice'];
  for (const name of keys) {
    const key = name.includes('@') ? name : `${name}@ponte.test`;
    const order = await orderFor(provider, session, { key, clientRequestId: name });
    await provider.pay({ session, order });
  }
  await clock.advance(3_600_000);
  assert.deepEqual(notices(), []);
  const order = await orderFor(provider, session, { clientRequestId: 'by hand' });
  await provider.pay({ session, order });
  await bank.settle(order.endToEnd);
  assert.deepEqual(
    notices().map(({ endToEnd, status }) => ({ endToEnd, status })),
    [{ endToEnd: order.endToEnd, status: 'CONFIRMED' }],
  );
});

test('a payment settled by hand is settled once, and cannot end otherwise later', async () => {
  const { provider, bank, clock, notices } = openBank();
  const session = await logIn(provider);
  const order = await orderFor(provider, session);
  await provider.pay({ session, order });
  await bank.settle(order.endToEnd, 'FAILED');
  await bank.settle(order.endToEnd);
  await assert.rejects(bank.settle(order.endToEnd, 'COMPLETED'), /has ended as FAILED/);
  await clock.advance(60_000);
  assert.deepEqual(
    notices().map(({ status, error }) => ({ status, error })),
    [{ status: 'ERROR', error: { code: 'DS04' } }],
  );
  assert.equal((await provider.balance({ session })).cents, openingBalanceCents);
});

test('what was not executed cannot be settled', async () => {
  const { provider, bank } = openBank();
  const session = await logIn(provider);
  const order = await orderFor(provider, session, { key: 'reject@ponte.test' });
  await assert.rejects(bank.settle(order.endToEnd), /no payment/);
  await failure(provider.pay({ session, order }));
  await assert.rejects(bank.settle(order.endToEnd), /was refused/);
});
