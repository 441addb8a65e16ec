/** Two customers of the bank pay each other: one payment, with two sides. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { BankOptions } from '../../../../../src/provider/sandbox/bank/bank.ts';
import type { Row } from '../../../../../src/provider/sandbox/bank/rows.ts';
import type { StateFile } from '../../../../../src/provider/sandbox/bank/state-file.ts';
import { chargeOrder, doubted, failure, logIn, openBank, orderFor } from './open-bank.ts';

const openingBalanceCents = 1_000_000;

const [ana, bia] = ['ana@example.com', 'bia@example.com'];

const identities: Record<string, { name: string; document: string | null }> = {
  [ana]: { name: 'Ana Souza', document: '52998224725' },
  [bia]: { name: 'Bia Lima', document: '15350946056' },
};

const introduce = async (email: string) => identities[email] ?? null;

async function twoCustomers(options: Omit<Partial<BankOptions>, 'clock'> = {}) {
  const open = openBank({ settleMs: 0, introduce, ...options });
  const { provider, bank } = open;
  const sessions = { [ana]: await logIn(provider, ana), [bia]: await logIn(provider, bia) };
  const session = (email: string) => sessions[email] ?? assert.fail();
  const balances = () =>
    Promise.all([ana, bia].map(async (email) => (await cents(email)) - openingBalanceCents));
  const cents = async (email: string) =>
    (await provider.balance({ session: session(email) })).cents;
  return {
    ...open,
    session,
    balances,
    /** Ana pays a key, and the payment ends. */
    async pay(
      key: string,
      { txid = null, ...wish }: { txid?: string | null; amountCents?: number } = {},
    ) {
      const order = await orderFor(provider, session(ana), { key, clientRequestId: key, ...wish });
      await provider.pay({ session: session(ana), order: { ...order, txid } });
      await bank.settle(order.endToEnd);
      return order.endToEnd;
    },
  };
}

test('both sides are reported under one id, each to its own customer', async () => {
  const { pay, notices, balances } = await twoCustomers();
  const endToEnd = await pay(bia, { amountCents: 1_050 });
  const [sent, received] = notices();
  assert.deepEqual([sent?.['event'], sent?.['endToEnd']], ['PIX_PAYMENT_OUT', endToEnd]);
  assert.deepEqual([received?.['event'], received?.['endToEnd']], ['PIX_RECEIVED', endToEnd]);
  assert.notEqual(sent?.['id'], received?.['id']);
  assert.deepEqual(received?.['payer'], identities[ana]);
  assert.deepEqual(await balances(), [-1_050, 1_050]);
});

test('the event names a key that the directory has, and no other', async () => {
  const { pay, notices, provider, session } = await twoCustomers();
  await pay(bia);
  await pay('15350946056');
  const account = { agency: '0001', accountNumber: '1', document: '15350946056' };
  const key = { keyType: 'CELULAR', key: '+5511999990001', account } as const;
  await provider.createKey({ session: session(bia), ...key });
  await pay(key.key);
  assert.deepEqual(
    notices().flatMap((one) => (one['event'] === 'PIX_RECEIVED' ? [one['key']] : [])),
    [undefined, '15350946056', '+5511999990001'],
  );
});

test('a registered key is that of its customer, whoever has made a charge with it', async () => {
  const { pay, provider, session, balances, notices } = await twoCustomers();
  const key = 'shop@example.com';
  const order = chargeOrder({ key });
  await provider.createStaticCharge({ session: session(ana), order });
  const account = { agency: '0001', accountNumber: '1', document: '15350946056' };
  await provider.createKey({ session: session(bia), keyType: 'E_MAIL', key, account });
  await pay(key, { txid: order.transactionIdentification.slice(0, 25), amountCents: 2_599 });
  assert.deepEqual(await balances(), [-2_599, 2_599]);
  assert.equal(notices().at(-1)?.['transactionIdentification'], undefined, 'it pays no charge');
});

test('a customer who asks for money for a key of another bank pays that bank', async () => {
  const { pay, provider, session, balances } = await twoCustomers();
  const key = 'shop@example.com';
  await provider.createStaticCharge({ session: session(ana), order: chargeOrder({ key }) });
  await pay(key, { amountCents: 2_599 });
  assert.deepEqual(await balances(), [-2_599, 0]);
});

test('a payment that fails reaches nobody', async () => {
  const { provider, session, bank, notices, balances } = await twoCustomers();
  const order = await orderFor(provider, session(ana), { key: bia });
  await provider.pay({ session: session(ana), order });
  await bank.settle(order.endToEnd, 'FAILED');
  assert.deepEqual(
    notices().map(({ event }) => event),
    ['PIX_PAYMENT_OUT'],
  );
  assert.deepEqual(await balances(), [0, 0]);
});

test('what is paid to the own account is credited once, under an id of its own', async () => {
  const { pay, bank, balances, notices } = await twoCustomers();
  const endToEnd = await pay(ana, { amountCents: 700 });
  await bank.settle(endToEnd);
  assert.deepEqual(
    notices().map((one) => [one['event'], one['endToEnd'] === endToEnd]),
    [
      ['PIX_PAYMENT_OUT', true],
      ['PIX_RECEIVED', false],
    ],
  );
  assert.deepEqual(await balances(), [0, 0]);
});

test('what goes back is one sum, whichever side asks for it', async () => {
  const { pay, bank, provider, session, balances, notices } = await twoCustomers();
  const endToEnd = await pay(bia, { amountCents: 1_000 });
  const account = { agency: '0001', accountNumber: '1', document: '15350946056' };
  const returnId = 'D11165756202605241200abcdefghijk';
  const order = { returnId, clientRequestId: 'return', endToEnd, amountCents: 300, account };
  await provider.refund({ session: session(bia), order });
  assert.deepEqual(await balances(), [-1_000, 700], 'Ana has it when the return is completed');
  await bank.settle(returnId);
  assert.deepEqual(await balances(), [-700, 700]);
  await bank.refund(endToEnd, 200);
  assert.deepEqual(await balances(), [-500, 500]);
  assert.equal((await bank.refund(endToEnd, 501)).outcome, 'refused');
  const again = { ...order, returnId: returnId.replace('abc', 'xyz'), clientRequestId: 'second' };
  assert.deepEqual(
    await failure(
      provider.refund({ session: session(bia), order: { ...again, amountCents: 501 } }),
    ),
    doubted('AM09'),
  );
  assert.deepEqual(
    notices()
      .slice(2)
      .map((one) => [one['event'], one['amount']]),
    [
      ['PIX_REFUND_OUT', 3],
      ['PIX_REFUND_IN', 3],
      ['PIX_REFUND_IN', 2],
      ['PIX_REFUND_OUT', 2],
    ],
  );
});

test('a return that fails gives the money back to the one who made it', async () => {
  const { pay, bank, provider, session, balances } = await twoCustomers();
  const endToEnd = await pay(bia, { amountCents: 1_000 });
  const account = { agency: '0001', accountNumber: '1', document: '15350946056' };
  const returnId = 'D11165756202605241200abcdefghijk';
  const order = { returnId, clientRequestId: 'return', endToEnd, amountCents: 300, account };
  await provider.refund({ session: session(bia), order });
  await bank.settle(returnId, 'FAILED');
  assert.deepEqual(await balances(), [-1_000, 1_000]);
});

/** The rows of a bank, and how many more are kept: then the process has ended. */
function rowsThatOutlive(kept: Row[]) {
  let left = Infinity;
  const file: StateFile = {
    read: () => [...kept],
    append(row) {
      left -= 1;
      if (left < 0) throw new Error('the process has ended');
      kept.push(row);
    },
    close() {},
  };
  return { file, endAfter: (rows: number) => (left = rows) };
}

test('a crash between the two sides of a payment credits its payee once', async () => {
  const kept: Row[] = [];
  const first = rowsThatOutlive(kept);
  const before = await twoCustomers({ file: first.file });
  const order = await orderFor(before.provider, before.session(ana), { key: bia });
  await before.provider.pay({ session: before.session(ana), order });
  first.endAfter(1);
  await assert.rejects(before.bank.settle(order.endToEnd), /the process has ended/);
  const after = await twoCustomers({ file: rowsThatOutlive(kept).file });
  await after.bank.settle(order.endToEnd);
  assert.deepEqual(await after.balances(), [-order.amountCents, order.amountCents]);
  assert.deepEqual(
    after.notices().map(({ event }) => event),
    ['PIX_PAYMENT_OUT', 'PIX_RECEIVED'],
  );
});

test('a customer is who the service says, from the next login on, and after a restart', async () => {
  const kept: Row[] = [];
  const { provider, session } = await twoCustomers({ file: rowsThatOutlive(kept).file });
  const owner = async (by: typeof provider) => {
    const { name, document } = await by.lookUpKey({
      session: session(ana),
      payerId: '52998224725',
      key: bia,
    });
    return { name, document };
  };
  assert.deepEqual(await owner(provider), identities[bia]);
  const married = { name: 'Bia Lima Souza', document: '15350946056' };
  const renamed = openBank({ file: rowsThatOutlive(kept).file, introduce: async () => married });
  assert.deepEqual(await owner(renamed.provider), identities[bia]);
  await logIn(renamed.provider, bia);
  assert.deepEqual(await owner(renamed.provider), married);
  const alone = openBank({ file: rowsThatOutlive(kept).file });
  assert.deepEqual(await owner(alone.provider), married);
});

test('of a customer whom nobody has introduced, the event names the account alone', async () => {
  const { provider, bank, notices } = openBank({ settleMs: 0 });
  const { account } = await provider.login({ email: bia, password: 'any' });
  await bank.receive(bia, 500);
  const { agency, accountNumber } = account;
  const [received] = notices();
  assert.deepEqual(received?.['account'], { agency, accountNumber });
  assert.ok(!('key' in (received ?? {})));
});
