/** Registration of a company: the body is checked, and then the response is 501. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startTestApp, type TestResponse } from '../../support/app.ts';

const app = await startTestApp({
  environment: {
    JOBS: 'off',
    THROTTLE_ADDRESS_PER_MINUTE: '30',
    // The header below says where a test calls from, so that each has its own address.
    TRUST_PROXY_HOPS: '1',
  },
});

const company = {
  name: 'Ana Souza',
  company_name: 'Souza Padaria Ltda',
  email: 'contato@example.com',
  password: 'correct horse battery',
  password_confirmation: 'correct horse battery',
  document: '12ABC34501DE35',
  phone: '+5511999990001',
};

type Field = keyof typeof company;

let addresses = 0;

interface Registration {
  readonly address?: string;
  readonly language?: string;
}

function register(body: unknown, registration: Registration = {}): Promise<TestResponse> {
  addresses += 1;
  const { address = `203.0.113.${addresses}`, language = 'en' } = registration;
  return app.call('/accounts/pj', {
    method: 'POST',
    body,
    headers: { 'x-forwarded-for': address, 'accept-language': language },
  });
}

function without(field: Field): object {
  const { [field]: _left, ...rest } = company;
  return rest;
}

// 501

test('501 for a valid body, and nothing is stored', async () => {
  const response = await register(company);
  assert.equal(response.status, 501);
  assert.deepEqual(response.body, {
    code: 'NOT_IMPLEMENTED',
    message: 'This service is not available yet.',
  });
  assert.deepEqual(await app.rows('select id from users'), []);
});

test('501 is worded in Portuguese for those who prefer it', async () => {
  const response = await register(company, { language: 'pt-BR' });
  assert.equal(response.status, 501);
  assert.deepEqual(response.body, {
    code: 'NOT_IMPLEMENTED',
    message: 'Este serviço ainda não está disponível.',
  });
});

test('501 for a document with punctuation, and for fields that are not known', async () => {
  const body = { ...company, document: '12.ABC.345/01DE-35', trade_name: 'Padaria' };
  assert.equal((await register(body)).status, 501);
});

// 422

const fields = Object.keys(company) as Field[];
const required = ['The field is required.'];
const notText = ['The value must be a text.'];
const empty = ['The text must not be empty.'];
const tooShort = ['The text must have at least 8 characters.'];
const longest = (limit: number): string[] => [`The text must have at most ${limit} characters.`];
const differs = ['The passwords do not match.'];

for (const field of fields) {
  test(`422 names a missing ${field}`, async () => {
    const response = await register(without(field));
    assert.equal(response.status, 422);
    assert.deepEqual(response.body.errors, { [field]: required });
  });

  test(`422 names a ${field} that is no text`, async () => {
    const response = await register({ ...company, [field]: 12_345_678 });
    assert.equal(response.status, 422);
    assert.deepEqual(response.body.errors, { [field]: notText });
  });
}

const noCnpj = ['The CNPJ is not valid. Check its fourteen characters.'];
const noPhone = ['The phone must have an area code, as in +55 11 98765-4321.'];
const noEmail = ['The value must be an e-mail address.'];

const faults: [field: Field, what: string, value: string, messages: string[]][] = [
  ['name', 'an empty', '', empty],
  ['name', 'a blank', ' ', empty],
  ['name', 'a name without a letter as', '123', ['The name must contain a letter.']],
  ['name', 'an over-long', 'x'.repeat(141), longest(140)],
  ['company_name', 'an empty', '', empty],
  ['company_name', 'a blank', ' ', empty],
  ['company_name', 'an over-long', 'x'.repeat(141), longest(140)],
  ['email', 'an invalid', 'contato', noEmail],
  ['email', 'an over-long', `a@${'example.'.repeat(32)}com`, longest(254)],
  ['password_confirmation', 'a short', 'x'.repeat(7), differs],
  ['password_confirmation', 'an over-long', 'x'.repeat(129), differs],
  ['password_confirmation', 'another', 'correct horse batterz', differs],
  ['password_confirmation', 'a differently capital', company.password.toUpperCase(), differs],
  ['document', 'an empty', '', noCnpj],
  ['document', 'an over-long', '1'.repeat(19), noCnpj],
  ['document', 'a wrongly checked', '12ABC34501DE36', noCnpj],
  ['document', 'an all-equal', '00000000000000', noCnpj],
  ['document', "a person's CPF as", '11144477735', ['This is the CPF of a person. Enter a CNPJ.']],
  ['phone', 'an empty', '', noPhone],
  ['phone', 'an over-long', '1'.repeat(21), noPhone],
  ['phone', 'an area-less', '98765-4321', noPhone],
];

for (const [field, what, value, messages] of faults) {
  test(`422 names ${what} ${field}`, async () => {
    const response = await register({ ...company, [field]: value });
    assert.equal(response.status, 422);
    assert.deepEqual(response.body.errors, { [field]: messages });
  });
}

for (const [what, password, messages] of [
  ['a short', 'x'.repeat(7), tooShort],
  ['an over-long', 'x'.repeat(129), longest(128)],
] as const) {
  test(`422 names ${what} password and its repetition`, async () => {
    const response = await register({ ...company, password, password_confirmation: password });
    assert.equal(response.status, 422);
    assert.deepEqual(response.body.errors, { password: messages, password_confirmation: messages });
  });
}

test('422 names a wrong CNPJ, e-mail and repetition of the password at once', async () => {
  const wrong = { document: '12ABC34501DE36', email: 'contato', password_confirmation: 'another' };
  const response = await register({ ...company, ...wrong });
  assert.equal(response.status, 422);
  assert.deepEqual(response.body.errors, {
    email: noEmail,
    password_confirmation: differs,
    document: noCnpj,
  });
});

test('422 names all fields at once', async () => {
  const everything = Object.fromEntries(fields.map((field) => [field, required]));
  for (const body of [{}, undefined]) {
    const response = await register(body);
    assert.equal(response.status, 422);
    assert.deepEqual(response.body, {
      message: 'Some fields are missing or invalid.',
      errors: everything,
    });
  }
});

test('422 is worded in Portuguese for those who prefer it', async () => {
  const other = { ...company, password_confirmation: 'another password', document: '1' };
  const differing = await register(other, { language: 'pt-BR' });
  assert.equal(differing.status, 422);
  assert.deepEqual(differing.body, {
    message: 'Há campos ausentes ou inválidos.',
    errors: {
      password_confirmation: ['As senhas não são iguais.'],
      document: ['O CNPJ não é válido. Confira os quatorze caracteres.'],
    },
  });
  const missing = await register(without('document'), { language: 'pt-BR' });
  assert.deepEqual(missing.body.errors, { document: ['Este campo é obrigatório.'] });
});

// 400, 415, 429

test('400 for a body that is not JSON', async () => {
  assert.equal((await register('{')).status, 400);
});

test('415 for a form', async () => {
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  assert.equal((await app.call('/accounts/pj', { body: 'name=Ana', headers })).status, 415);
});

test('429 at the thirty-first request from one address within a minute', async () => {
  const address = '198.51.100.7';
  for (let n = 0; n < 30; n += 1) assert.equal((await register(company, { address })).status, 501);
  const response = await register(company, { address });
  assert.equal(response.status, 429);
  assert.deepEqual(Object.keys(response.body), ['message']);
  assert.equal(response.headers.get('retry-after'), '60');
  assert.equal((await register(company)).status, 501, 'from another address');
  await app.clock.advance(60_000);
  assert.equal((await register(company, { address })).status, 501, 'a minute later');
});
