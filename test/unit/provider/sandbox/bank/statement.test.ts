import assert from 'node:assert/strict';
import { test } from 'node:test';
import { manualClock } from '../../../../support/clock.ts';
import { chargeOrder, failure, logIn, openBank, orderFor, rejected } from './open-bank.ts';
import { findSendEvidence } from '../../../../../src/settlement/statement-evidence.ts';
import { readLines } from '../../../../support/read-lines.ts';

test('the statement shows payments, reversals and what came in, newest first', async () => {
  const { provider, bank, clock } = openBank();
  const session = await logIn(provider);
  const good = await orderFor(provider, session, { clientRequestId: 'good' });
  const receipt = await provider.pay({ session, order: good });
  await clock.advance(10_000);
  const failing = { key: 'fail@ponte.test', amountCents: 500, clientRequestId: 'failing' };
  const bad = await orderFor(provider, session, failing);
  const badReceipt = await provider.pay({ session, order: bad });
  await clock.advance(10_000);
  await provider.createStaticCharge({ session, order: chargeOrder() });
  const paid = await bank.payCharge(chargeOrder().transactionIdentification);
  assert.ok(paid.outcome === 'done');
  const statement = await provider.statement({ session, start: '2026-05-24', end: '2026-05-24' });
  const payment = { type: 'PIX_PAYMENT_OUT', direction: 'DEBIT', description: 'Almoço' };
  assert.deepEqual(statement.items, [
    {
      id: statement.items[0]?.['id'],
      type: 'PIX_RECEIVED',
      direction: 'CREDIT',
      endToEnd: paid.value.endToEnd,
      transactionIdentification: chargeOrder().transactionIdentification,
      amount: 25.99,
      status: 'CONFIRMED',
      createdAt: '2026-05-24T12:00:20.000Z',
    },
    {
      ...payment,
      id: `${badReceipt.providerTxid}-reversal`,
      type: 'PIX_PAYMENT_REVERSAL',
      direction: 'CREDIT',
      endToEnd: bad.endToEnd,
      clientRequestId: 'failing',
      amount: 5,
      status: 'CONFIRMED',
      createdAt: '2026-05-24T12:00:11.500Z',
    },
    {
      ...payment,
      id: badReceipt.providerTxid,
      endToEnd: bad.endToEnd,
      clientRequestId: 'failing',
      amount: 5,
      status: 'ERROR',
      createdAt: '2026-05-24T12:00:10.000Z',
    },
    {
      ...payment,
      id: receipt.providerTxid,
      endToEnd: good.endToEnd,
      clientRequestId: 'good',
      amount: 10.5,
      status: 'CONFIRMED',
      createdAt: '2026-05-24T12:00:00.000Z',
    },
  ]);
  assert.equal(findSendEvidence(readLines(statement.lines), good).evidence, 'completed');
  assert.equal(findSendEvidence(readLines(statement.lines), bad).evidence, 'unclear');
});

test('a payment that is going to fail is pending until then, not executed', async () => {
  const { provider } = openBank();
  const session = await logIn(provider);
  const order = await orderFor(provider, session, { key: 'fail@ponte.test' });
  await provider.pay({ session, order });
  const today = { start: '2026-05-24', end: '2026-05-24' };
  const { items, lines } = await provider.statement({ session, ...today });
  assert.equal(items[0]?.['status'], 'PROCESSING');
  assert.equal(findSendEvidence(readLines(lines), order).evidence, 'pending');
});

test('a refused payment and the payments of others do not appear', async () => {
  const { provider } = openBank();
  const session = await logIn(provider);
  const other = await logIn(provider, 'other@ponte.test');
  await provider.pay({ session: other, order: await orderFor(provider, other) });
  const refused = await orderFor(provider, session, { key: 'reject@ponte.test' });
  await failure(provider.pay({ session, order: refused }));
  const today = { start: '2026-05-24', end: '2026-05-24' };
  assert.deepEqual((await provider.statement({ session, ...today })).items, []);
});

test('a day is a day in São Paulo', async () => {
  // 02:59:59.999 UTC is still the day before there.
  const clock = manualClock(new Date('2026-05-24T02:59:59.999Z'));
  const { provider } = openBank({ clock });
  const session = await logIn(provider);
  await provider.pay({
    session,
    order: await orderFor(provider, session, { clientRequestId: 'before' }),
  });
  await clock.advance(1);
  await provider.pay({
    session,
    order: await orderFor(provider, session, { clientRequestId: 'after' }),
  });
  const readIds = async (start: string, end: string) =>
    (await provider.statement({ session, start, end })).items.map(
      (item) => item['clientRequestId'],
    );
  assert.deepEqual(await readIds('2026-05-23', '2026-05-23'), ['before']);
  assert.deepEqual(await readIds('2026-05-24', '2026-05-24'), ['after']);
  assert.deepEqual(await readIds('2026-05-23', '2026-05-24'), ['after', 'before']);
  assert.deepEqual(await readIds('2026-05-25', '2026-05-26'), []);
});

test('a range that is none is refused', async () => {
  const { provider } = openBank();
  const session = await logIn(provider);
  const range = { start: '2026-05-25', end: '2026-05-24' };
  assert.deepEqual(
    await failure(provider.statement({ session, ...range })),
    rejected('InvalidRange'),
  );
});
