/** What a charge refuses before the bank is called, and the limits that it accepts. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { givenCustomer } from '../../support/factories.ts';
import { startPixApp } from './pix-app.ts';

const app = await startPixApp();

const user = await givenCustomer(app);

const required = 'The field is required.';
const text = 'The value must be a text.';
const number = 'The value must be a number.';
const empty = 'The text must not be empty.';
const malformed = 'The CEP must have eight digits, without a hyphen.';
const longest = (limit: number): string => `The text must have at most ${limit} characters.`;
const atLeast = (limit: number | string): string => `The value must be at least ${limit}.`;
const atMost = (limit: number | string): string => `The value must be at most ${limit}.`;
const oneOf = 'The value must be one of dynamic, static.';
const noKey =
  'This is not a Pix key. Enter a CPF, CNPJ, e-mail, random key, or phone with its area code.';
const noTaxId = 'This is neither a CPF nor a CNPJ. Check its digits.';
const noLetter = 'The name must contain a letter.';
const decimals = 'The value must have at most two decimals.';

/** Per case: what is faulty, the fields in place of valid ones, and the faults. */
const faults: [string, Record<string, unknown>, Record<string, string[]>][] = [
  ['no type', { type: undefined }, { type: [required] }],
  ['another type', { type: 'DYNAMIC' }, { type: [oneOf] }],
  ['no amount', { amount: undefined }, { amount: [required] }],
  ['an amount of 0', { amount: 0 }, { amount: [atLeast('R$ 0.01')] }],
  ['a negative amount', { amount: -1 }, { amount: [atLeast('R$ 0.01')] }],
  ['an amount of three decimals', { amount: 10.005 }, { amount: [decimals] }],
  ['an amount over the limit', { amount: 1e9 }, { amount: [atMost('R$ 999,999,999.99')] }],
  ['an amount of 1e21', { amount: 1e21 }, { amount: [atMost('R$ 999,999,999.99')] }],
  ['an amount that is a text', { amount: '10' }, { amount: [number] }],
  ['a description over 140', { description: 'x'.repeat(141) }, { description: [longest(140)] }],
  ['a description that is no text', { description: 1 }, { description: [text] }],
  ['an empty key', { key: '' }, { key: [empty] }],
  ['a key of blanks', { key: '  ' }, { key: [empty] }],
  ['a key over 255', { key: 'x'.repeat(256) }, { key: [noKey] }],
  ['a key that is none', { key: 'Ana' }, { key: [noKey] }],
  ['a key with a wrong check digit', { key: '111.444.777-36' }, { key: [noKey] }],
  ['a receiver_name over 25', { receiver_name: 'x'.repeat(26) }, { receiver_name: [longest(25)] }],
  ['a city over 15', { city: 'x'.repeat(16) }, { city: [longest(15)] }],
  ['a zipcode of 7 digits', { zipcode: '0131010' }, { zipcode: [malformed] }],
  ['a zipcode of 9 digits', { zipcode: '013101000' }, { zipcode: [malformed] }],
  ['a zipcode with a hyphen', { zipcode: '01310-100' }, { zipcode: [malformed] }],
  ['a zipcode of letters', { zipcode: 'ABCDEFGH' }, { zipcode: [malformed] }],
  ['an expiration under 60', { expiration_qr: 59 }, { expiration_qr: [atLeast(60)] }],
  ['an expiration over 86400', { expiration_qr: 86_401 }, { expiration_qr: [atMost(86_400)] }],
  [
    'an expiration with a fraction',
    { expiration_qr: 60.5 },
    { expiration_qr: ['The value must be a whole number.'] },
  ],
  [
    'an expiration that is a text',
    { expiration_qr: '60' },
    { expiration_qr: ['The value must be a whole number.'] },
  ],
  ['a payer_name over 140', { payer_name: 'x'.repeat(141) }, { payer_name: [longest(140)] }],
  ...['', '1', 'abcdefghijk', '00000000000', '11144477736', '12ABC34501DE36'].map(
    (document): [string, Record<string, unknown>, Record<string, string[]>] => [
      `the payer_cpf '${document}'`,
      { payer_cpf: document },
      { payer_cpf: [noTaxId] },
    ],
  ),
  ['a receiver_name without a letter', { receiver_name: '123' }, { receiver_name: [noLetter] }],
  ['an empty receiver_name', { receiver_name: '' }, { receiver_name: [empty] }],
  ['a payer_name without a letter', { payer_name: '😀' }, { payer_name: [noLetter] }],
  ['a payer_cpf over 14', { payer_cpf: '1'.repeat(15) }, { payer_cpf: [noTaxId] }],
  [
    'a reusable that is a text',
    { reusable: 'yes' },
    { reusable: ['The value must be true or false.'] },
  ],
  ['a code_category over 10', { code_category: '1'.repeat(11) }, { code_category: [longest(10)] }],
  [
    'additional_data that is no list',
    { additional_data: { name: 'a', value: 'b' } },
    { additional_data: ['The value must be a list.'] },
  ],
  [
    'additional_data without name and value',
    { additional_data: [{ name: 'a', value: 'b' }, {}] },
    { 'additional_data.1.name': [required], 'additional_data.1.value': [required] },
  ],
  [
    'fifty items beside the fields at the top',
    {
      type: 'x',
      amount: 'x',
      description: 1,
      code_category: 1,
      additional_data: Array.from({ length: 50 }, () => ({ name: 1, value: 1 })),
    },
    {
      type: [oneOf],
      amount: [number],
      description: [text],
      code_category: [text],
      ...Object.fromEntries(
        Array.from({ length: 50 }, (_, index) =>
          ['name', 'value'].map((name) => [`additional_data.${index}.${name}`, [text]] as const),
        ).flat(),
      ),
    },
  ],
  [
    'additional_data that is empty or no text',
    { additional_data: [{ name: '', value: 7 }] },
    { 'additional_data.0.name': [empty], 'additional_data.0.value': [text] },
  ],
  [
    'several faults, all at once',
    { type: 'x', amount: '1', zipcode: 'x', expiration_qr: 1 },
    { type: [oneOf], amount: [number], zipcode: [malformed], expiration_qr: [atLeast(60)] },
  ],
];

for (const [what, fields, errors] of faults) {
  test(`422 for ${what}, naming ${Object.keys(errors).join(', ')}`, async () => {
    const charged = await app.charge(user, { type: 'dynamic', amount: 10, ...fields });
    assert.equal(charged.status, 422);
    assert.deepEqual(charged.body.errors, errors);
    assert.equal(await app.countRows(user), 0);
  });
}

for (const [what, key] of [
  ['empty', ''],
  ['over 128 characters', 'k'.repeat(129)],
  ['with a blank', 'two words'],
  ['with an accent', 'chave-ção'],
] as const) {
  test(`422 for an Idempotency-Key ${what}`, async () => {
    const charged = await app.charge(user, { type: 'dynamic', amount: 10 }, { key });
    assert.equal(charged.status, 422);
    assert.deepEqual(Object.keys(charged.body.errors), ['Idempotency-Key']);
  });
}

test('422 for a missing Idempotency-Key, in Portuguese, with the faults of the body', async () => {
  const charged = await app.call('/pix/charge', {
    token: user.token,
    body: { type: 'x', amount: 0.001, expiration_qr: 59 },
    headers: { 'accept-language': 'pt-BR,en;q=0.8' },
  });
  assert.equal(charged.status, 422);
  assert.deepEqual(charged.body.errors, {
    'Idempotency-Key': ['Este campo é obrigatório.'],
    type: ['Escolha uma destas opções: dynamic, static.'],
    amount: ['O valor deve ter no máximo duas casas decimais.'],
    expiration_qr: ['O valor deve ser no mínimo 60.'],
  });
});

test('401 without a token, before anything is validated', async () => {
  const charged = await app.call('/pix/charge', { body: {} });
  assert.equal(charged.status, 401);
  assert.deepEqual(Object.keys(charged.body), ['message']);
});

for (const part of ['document', 'agency', 'account_number']) {
  test(`422 with errors.account when the account lacks its ${part}`, async () => {
    const poor = await givenCustomer(app);
    await app.rows(`update accounts set ${part} = null where user_id = $1`, [poor.id]);
    const charged = await app.charge(poor, { type: 'dynamic', amount: 10 });
    assert.equal(charged.status, 422);
    assert.deepEqual(Object.keys(charged.body.errors), ['account']);
    assert.equal(await app.countRows(poor), 0);
  });
}

for (const type of ['dynamic', 'static']) {
  test(`a ${type} charge takes a CNPJ for the payer, with letters`, async () => {
    const customer = await givenCustomer(app);
    const charged = await app.charge(customer, { type, amount: 1, payer_cpf: '12abc34501de35' });
    assert.equal(charged.status, 200);
  });
}

test('every field is taken at its limit', async () => {
  const customer = await givenCustomer(app);
  const charged = await app.charge(customer, {
    type: 'dynamic',
    amount: 999_999_999.99,
    description: 'ã'.repeat(140),
    key: `${'x'.repeat(60)}@ponte.test`,
    receiver_name: 'ã'.repeat(25),
    city: 'ã'.repeat(15),
    zipcode: '00000000',
    expiration_qr: 86_400,
    payer_name: 'ã'.repeat(140),
    payer_cpf: '529.982.247-25',
    code_category: '1234567890',
    additional_data: Array.from({ length: 50 }, () => ({ name: 'a', value: 'b' })),
  });
  assert.equal(charged.status, 200);
  const shortest = { type: 'static', amount: 0.01, expiration_qr: 60, additional_data: [] };
  assert.equal((await app.charge(customer, shortest)).status, 200);
});
