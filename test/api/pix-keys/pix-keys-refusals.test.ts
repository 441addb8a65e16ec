/** What the PIX-key operations refuse, and the replies to the bank's refusals and time-outs. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TestResponse } from '../../support/app.ts';
import { givenCustomer, type TestUser } from '../../support/factories.ts';
import { startPixApp } from '../pix/pix-app.ts';

const app = await startPixApp();

const evp = 'EVP_ENDERECO_VIRTUAL_DE_PAGAMENTO';
const randomKey: unknown = { key_type: evp };
const anyKey: unknown = { key: 'ana@example.com' };
const required = 'The field is required.';
const text = 'The value must be a text.';
const empty = 'The text must not be empty.';
const noKey =
  'This is not a Pix key. Enter a CPF, CNPJ, e-mail, random key, or phone with its area code.';
const email = 'The value must be an e-mail address.';
const type = `The value must be one of CPF, CNPJ, CELULAR, E_MAIL, ${evp}.`;

type Ask = (
  user: TestUser,
  body?: unknown,
  headers?: Record<string, string>,
) => Promise<TestResponse>;

const asks: Record<'list' | 'create' | 'remove', Ask> = {
  list: ({ token }) => app.call('/pix/keys', { token }),
  create: ({ token }, body = randomKey, headers = {}) =>
    app.call('/pix/keys', { token, body, headers }),
  remove: ({ token }, body = anyKey, headers = {}) =>
    app.call('/pix/keys', { method: 'DELETE', token, body, headers }),
};
const { create, remove } = asks;

const user = await givenCustomer(app);

const creationFaults: [string, unknown, Record<string, string[]>][] = [
  ['no key_type', {}, { key_type: [required] }],
  ['another key_type', { key_type: 'EMAIL' }, { key_type: [type] }],
  ['a key_type that is no text', { key_type: 1 }, { key_type: [type] }],
  ['an e-mail that is none', { key_type: 'E_MAIL', email: 'maria' }, { email: [email] }],
  [
    'an e-mail of 78 characters',
    { key_type: 'E_MAIL', email: `${'a'.repeat(66)}@example.com` },
    { email: ['The text must have at most 77 characters.'] },
  ],
  ['an empty e-mail', { key_type: 'E_MAIL', email: '' }, { email: [email] }],
  ['an e-mail that is no text', { key_type: 'E_MAIL', email: 1 }, { email: [text] }],
  [
    'a document of the other kind beside an e-mail that is none',
    { key_type: 'CNPJ', email: 'x' },
    { email: [email], key_type: ["The account's document is not a CNPJ."] },
  ],
  ['several faults', { key_type: 'x', email: 'y' }, { key_type: [type], email: [email] }],
];

for (const [what, body, errors] of creationFaults) {
  test(`creating answers 422 for ${what}`, async (t) => {
    const creations = t.mock.method(app.bank, 'createKey');
    const created = await create(user, body);
    assert.equal(created.status, 422);
    assert.deepEqual(created.body.errors, errors);
    assert.equal(creations.mock.callCount(), 0);
  });
}

test('creating answers 422 for more faults than it names', async () => {
  const others = Object.fromEntries(Array.from({ length: 201 }, (_, n) => [`field${n}`, '\0']));
  const created = await create(user, { ...others, key_type: 'E_MAIL', email: 1 });
  assert.equal(created.status, 422);
  assert.equal(Object.keys(created.body.errors).length, 200);
});

test('creating answers 422 for a document of the other kind', async () => {
  const created = await create(user, { key_type: 'CNPJ' });
  assert.equal(created.status, 422);
  assert.deepEqual(created.body.errors, { key_type: ["The account's document is not a CNPJ."] });

  const company = await givenCustomer(app);
  const cnpj = '12ABC34501DE35';
  await app.rows('update accounts set document = $1 where user_id = $2', [cnpj, company.id]);
  const headers = { 'accept-language': 'pt-BR' };
  const refused = await create(company, { key_type: 'CPF' }, headers);
  assert.deepEqual(refused.body.errors, { key_type: ['O documento da conta não é um CPF.'] });
});

for (const phone of [null, 'no phone at all']) {
  test(`creating a phone key answers 422 for a user whose phone is ${phone}`, async () => {
    const silent = await givenCustomer(app, { phone });
    const created = await create(silent, { key_type: 'CELULAR' });
    assert.equal(created.status, 422);
    assert.deepEqual(created.body.errors, {
      key_type: ['No phone number is registered for this user.'],
    });
  });
}

const deletionFaults: [string, unknown, Record<string, string[]>][] = [
  ['no key', {}, { key: [required] }],
  ['an empty key', { key: '' }, { key: [empty] }],
  ['a key of blanks', { key: '   ' }, { key: [empty] }],
  [
    'a key far over 255 characters',
    { key: 'x'.repeat(511) },
    { key: ['The text must have at most 255 characters.'] },
  ],
  ['a key that is no text', { key: ['x'] }, { key: [text] }],
  ['a word', { key: 'notakey' }, { key: [noKey] }],
  ['a part of a phone number', { key: '(11) 9' }, { key: [noKey] }],
  ['a part of an e-mail', { key: '@' }, { key: [noKey] }],
];

for (const [what, body, errors] of deletionFaults) {
  test(`deleting answers 422 for ${what}`, async (t) => {
    const deletions = t.mock.method(app.bank, 'deleteKey');
    const deleted = await remove(user, body);
    assert.equal(deleted.status, 422);
    assert.deepEqual(deleted.body.errors, errors);
    assert.equal(deletions.mock.callCount(), 0);
  });
}

test('deleting answers 422 without a body, in Portuguese to who prefers it', async () => {
  const { token } = user;
  const headers = { 'accept-language': 'pt' };
  const deleted = await app.call('/pix/keys', { method: 'DELETE', token, headers });
  assert.equal(deleted.status, 422);
  assert.deepEqual(deleted.body.errors, { key: ['Este campo é obrigatório.'] });
});

for (const [what, ask] of Object.entries(asks)) {
  test(`${what}: 401 without a token`, async () => {
    const response = await ask({ ...user, token: '' });
    assert.equal(response.status, 401);
    assert.deepEqual(Object.keys(response.body), ['message']);
  });

  test(`${what}: 401 when the bank refuses the token, and the session has expired`, async () => {
    const late = await givenCustomer(app);
    app.bank.expireCustomerTokens(late.email);
    const response = await app.throughTime(ask(late));
    assert.equal(response.status, 401);
    assert.deepEqual(Object.keys(response.body), ['message']);
    assert.equal((await app.call('/accounts/me', { token: late.token })).status, 401);
  });

  for (const part of ['document', 'agency', 'account_number']) {
    test(`${what}: 422 with errors.account when the account lacks its ${part}`, async () => {
      const poor = await givenCustomer(app);
      await app.rows(`update accounts set ${part} = null where user_id = $1`, [poor.id]);
      const response = await ask(poor);
      assert.equal(response.status, 422);
      assert.deepEqual(Object.keys(response.body.errors), ['account']);
    });
  }
}

const calls = { list: 'listKeys', create: 'createKey', remove: 'deleteKey' } as const;

for (const what of ['list', 'create', 'remove'] as const) {
  // Whether a change was made is not known, so the response does not say that nothing was done.
  const unsure = what === 'list' ? 'PROVIDER_UNAVAILABLE' : 'PROVIDER_TIMEOUT';
  for (const [fault, code] of [
    ['unavailable', 'PROVIDER_UNAVAILABLE'],
    ['internal_error', unsure],
    ['hang', 'PROVIDER_TIMEOUT'],
    ['garbled', 'PROVIDER_INVALID_RESPONSE'],
  ] as const) {
    test(`${what}: 502 ${code} when the bank fails (${fault})`, async (t) => {
      const customer = await givenCustomer(app);
      t.mock.method(app.bank, calls[what], async () => ({ outcome: 'faulty', fault }) as const);
      const response = await app.throughTime(asks[what](customer));
      assert.deepEqual([response.status, response.body.code], [502, code]);
      assert.deepEqual(Object.keys(response.body).sort(), ['code', 'message']);
    });
  }
}

test('creating is not tried again after a doubt: two random keys would be made', async (t) => {
  const customer = await givenCustomer(app);
  const fault = 'internal_error';
  const creations = t.mock.method(
    app.bank,
    'createKey',
    async () => ({ outcome: 'faulty', fault }) as const,
  );
  assert.equal((await app.throughTime(create(customer))).status, 502);
  assert.equal(creations.mock.callCount(), 1);
});

test('the sixth key of a person: 502 PIX_KEY_LIMIT, and the bank’s words are not passed on', async () => {
  const customer = await givenCustomer(app);
  for (let made = 0; made < 5; made += 1) assert.equal((await create(customer)).status, 201);
  const sixth = await create(customer);
  assert.deepEqual(
    [sixth.status, sixth.body],
    [
      502,
      {
        code: 'PIX_KEY_LIMIT',
        message: 'The account has as many Pix keys as it may have. Delete one to create another.',
      },
    ],
  );
});

test('a key that is registered already: 502 PIX_KEY_TAKEN', async () => {
  const [owner, other] = [await givenCustomer(app), await givenCustomer(app)];
  const body = { key_type: 'E_MAIL', email: 'taken@example.com' };
  assert.equal((await create(owner, body)).status, 201);
  for (const customer of [owner, other]) {
    const again = await create(customer, body);
    assert.deepEqual([again.status, again.body.code], [502, 'PIX_KEY_TAKEN']);
  }
});

test('deleting a key that is not there: 502 PIX_KEY_NOT_FOUND', async () => {
  const headers = { 'accept-language': 'pt' };
  const deleted = await remove(user, { key: 'nobody@example.com' }, headers);
  assert.equal(deleted.status, 502);
  assert.deepEqual(deleted.body, {
    code: 'PIX_KEY_NOT_FOUND',
    message: 'Nenhuma conta foi encontrada para esta chave Pix.',
  });
});

test('400 for a body that is no JSON', async () => {
  assert.equal((await create(user, '{')).status, 400);
  assert.equal((await remove(user, '{')).status, 400);
});

test('a key is never logged', async () => {
  const customer = await givenCustomer(app, { phone: '+5521987650000' });
  const logged = app.logLines.length;
  await create(customer, { key_type: 'CELULAR' });
  await create(customer, { key_type: 'E_MAIL', email: 'secret.shop@example.com' });
  await remove(customer, { key: '(21) 98765-0000' });
  const lines = app.logLines.slice(logged).join('\n');
  assert.ok(lines.includes('createKey'));
  assert.ok(!/98765|secret\.shop/.test(lines));
});
