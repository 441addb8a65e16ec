/** The response about a dynamic code: what is read of it, and what is never guessed. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ProviderError } from '../../../../src/provider/errors.ts';
import { readCodeCharge } from '../../../../src/provider/http/code-charge.ts';

const payable = {
  status: 'ATIVA',
  endToEnd: 'E11165756202605241200aB3dE5gH7jK',
  key: 'Loja@Example.com',
  transactionIdentification: '7978c0c97ea847e78e8849634473c1f1',
  amount: 103.2,
};

test('a charge is read with its payee, its amounts and its times', () => {
  const charge = readCodeCharge({
    data: {
      ...payable,
      amountChangeable: true,
      minimumAmount: '50.00',
      maximumAmount: 200,
      originalAmount: 100,
      discount: 0,
      interest: 1.2,
      fine: 2,
      dueDate: '2026-05-20',
      expiresAt: '2026-06-20T23:59:59-03:00',
      payerRequest: 'Pedido 1234',
      owner: { name: 'Loja de Teste', taxIdNumber: '11222333000181' },
      account: { participant: '60701190' },
    },
  });
  assert.deepEqual(charge, {
    name: 'Loja de Teste',
    document: '11222333000181',
    ispb: '60701190',
    state: 'payable',
    endToEnd: payable.endToEnd,
    key: 'loja@example.com',
    txid: payable.transactionIdentification,
    amounts: { amountCents: 10_320, isChangeable: true, minCents: 5_000, maxCents: 20_000 },
    originalCents: 10_000,
    discountCents: null,
    interestCents: 120,
    fineCents: 200,
    dueDate: '2026-05-20',
    expiresAt: new Date('2026-06-21T02:59:59.000Z'),
    description: 'Pedido 1234',
  });
});

test('a value that is in two places is read, in any spelling', () => {
  const data = { amount: '103.20', key: 'loja@example.com', txid: '', expiresAt: '' };
  const charge = readCodeCharge({ ...payable, data });
  assert.deepEqual([charge.amounts.amountCents, charge.key], [10_320, 'loja@example.com']);
});

const states = [
  ['CONCLUIDA', 'paid'],
  ['EXPIRADA', 'expired'],
  ['REMOVIDA_PELO_USUARIO_RECEBEDOR', 'removed'],
  ['removida_pelo_psp', 'removed'],
] as const;
for (const [word, state] of states) {
  test(`${word} means ${state}; such a charge needs no end-to-end id and no amount`, () => {
    const { endToEnd: _id, amount: _amount, ...ended } = { ...payable, status: word };
    const charge = readCodeCharge(ended);
    assert.deepEqual([charge.state, charge.endToEnd], [state, null]);
  });
}

const unusable: [what: string, change: object][] = [
  ['an unknown state', { status: 'PENDENTE' }],
  ['no state', { status: null }],
  ['two states', { data: { status: 'CONCLUIDA' } }],
  ['no end-to-end id', { endToEnd: null }],
  ['no key', { key: null }],
  ['a key in no format', { key: 'loja' }],
  ['no txid', { transactionIdentification: null }],
  ['a txid with other characters', { transactionIdentification: 'a/b' }],
  ['no amount where it is fixed', { amount: null }],
  ['an amount of three decimals', { amount: 1.234 }],
  ['a bound that cannot be read', { minimumAmount: 'ten' }],
  ['an expiry without a zone', { expiresAt: '2026-06-20T23:59:59' }],
  ['an expiry that is none', { expiresAt: '2026-13-20T23:59:59Z' }],
  ['an expiry that is a number', { expiresAt: 1_781_992_799 }],
  ['two amounts', { data: { amount: 200 } }],
  ['two spellings of the amount', { Amount: 200 }],
  ['two keys', { data: { key: 'other@example.com' } }],
  ['two txids', { txid: 'a'.repeat(26) }],
  ['two end-to-end ids', { endToEndId: 'E99999999202605241200aB3dE5gH7jK' }],
  ['two bounds', { minimumAmount: 1, data: { minimumAmount: 2 } }],
  ['a doubt whether the amount may change', { amountChangeable: true, AmountChangeable: false }],
];
for (const [what, change] of unusable) {
  test(`a response with ${what} is not used`, () => {
    assert.throws(
      () => readCodeCharge({ ...payable, ...change }),
      (error) => error instanceof ProviderError && error.code === 'PROVIDER_INVALID_RESPONSE',
    );
  });
}

test('bounds that no amount is between are not used', () => {
  const read = (bounds: object) => () =>
    readCodeCharge({ ...payable, amountChangeable: true, ...bounds });
  assert.throws(read({ minimumAmount: 50, maximumAmount: 49.99 }), ProviderError);
  assert.doesNotThrow(read({ minimumAmount: 50, maximumAmount: 50 }));
});
