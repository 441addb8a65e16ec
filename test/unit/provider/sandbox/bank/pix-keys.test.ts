import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { NewPixKey } from '../../../../../src/provider/provider.ts';
import { failure, logIn, openBank, payer, rejected } from './open-bank.ts';

const evp = 'EVP_ENDERECO_VIRTUAL_DE_PAGAMENTO';

const company = { ...payer, document: '12ABC34501DE35' };

async function atTheDesk() {
  const open = openBank();
  return { ...open, session: await logIn(open.provider) };
}

const cpfKey: NewPixKey = { keyType: 'CPF', key: payer.document, account: payer };
const evpKey: NewPixKey = { keyType: evp, key: null, account: payer };

test('a key is created, listed and deleted', async () => {
  const { provider, session } = await atTheDesk();
  const created = await provider.createKey({ session, ...cpfKey });
  assert.deepEqual(created, {
    key: '11144477735',
    keyType: 'CPF',
    account: {
      participant: '11165756',
      branch: '0001',
      accountNumber: '123456789',
      accountType: 'TRAN',
    },
    owner: { type: 'NATURAL_PERSON', taxIdNumber: '11144477735' },
    creationDate: '2026-05-24T12:00:00.000Z',
    keyOwnershipDate: '2026-05-24T12:00:00.000Z',
  });
  assert.deepEqual(await provider.listKeys({ session, account: payer }), {
    account: created['account'],
    keys: [created],
  });
  const deleted = await provider.deleteKey({ session, key: '11144477735', account: payer });
  assert.equal(deleted['key'], '11144477735');
  assert.deepEqual((await provider.listKeys({ session, account: payer }))['keys'], []);
});

test('the directory draws the random keys', async () => {
  const { provider, session } = await atTheDesk();
  const first = await provider.createKey({ session, ...evpKey });
  const second = await provider.createKey({ session, ...evpKey });
  assert.match(String(first['key']), /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
  assert.notEqual(first['key'], second['key']);
});

test('every kind of key is accepted in the form of the directory, and in no other', async () => {
  const { provider, session } = await atTheDesk();
  const good: NewPixKey[] = [
    { keyType: 'CELULAR', key: '+5511987654321', account: payer },
    { keyType: 'E_MAIL', key: 'dev@ponte.test', account: payer },
    { keyType: 'CNPJ', key: company.document, account: company },
  ];
  for (const key of good) await provider.createKey({ session, ...key });
  const bad: NewPixKey[] = [
    { keyType: 'CELULAR', key: '11987654321', account: payer },
    { keyType: 'E_MAIL', key: 'Dev@Ponte.Test', account: payer },
    { keyType: 'E_MAIL', key: `${'a'.repeat(70)}@ponte.test`, account: payer },
    { keyType: 'CPF', key: '12345678909', account: payer },
    { keyType: 'CNPJ', key: '00000000000191', account: company },
    { keyType: 'CPF', key: null, account: payer },
  ];
  for (const key of bad) {
    assert.deepEqual(
      await failure(provider.createKey({ session, ...key })),
      rejected('EntryInvalid'),
    );
  }
});

test('a key that exists is refused to each customer', async () => {
  const { provider, session } = await atTheDesk();
  const other = await logIn(provider, 'other@ponte.test');
  await provider.createKey({ session, ...cpfKey });
  for (const caller of [session, other]) {
    const call = provider.createKey({ session: caller, ...cpfKey });
    assert.deepEqual(await failure(call), rejected('EntryAlreadyExists'));
  }
});

test("a person's account has five keys at most, a company's has twenty", async () => {
  for (const [account, limit] of [
    [payer, 5],
    [company, 20],
  ] as const) {
    const { provider, session } = await atTheDesk();
    const key = { ...evpKey, account };
    await Promise.all(Array.from({ length: limit }, () => provider.createKey({ session, ...key })));
    const call = provider.createKey({ session, ...key });
    assert.deepEqual(await failure(call), rejected('EntryLimitExceeded'));
  }
});

test("a key that is missing or another customer's cannot be deleted", async () => {
  const { provider, session } = await atTheDesk();
  const other = await logIn(provider, 'other@ponte.test');
  await provider.createKey({ session, ...cpfKey });
  for (const [caller, key] of [
    [session, 'missing@ponte.test'],
    [other, payer.document],
  ] as const) {
    assert.deepEqual(await failure(provider.deleteKey({ session: caller, key, account: payer })), {
      outcome: 'rejected',
      code: 'PIX_KEY_NOT_FOUND',
      statusClass: '404',
      retryable: false,
      reason: 'NotFound',
    });
  }
});
