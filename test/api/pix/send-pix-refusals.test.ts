/** What a send refuses before the bank is called: nothing is stored, nothing is sent. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { connectionLost } from '../../support/lost-response.ts';
import { givenCustomer, givenUser, logIn } from '../../support/factories.ts';
import { mockQueries } from '../../support/intercepted.ts';
import { startPixApp } from './pix-app.ts';
import { messageOf } from '../../support/validation-message.ts';

const app = await startPixApp();

const user = await givenCustomer(app);

const staticCode =
  '00020126580014br.gov.bcb.pix0136123e4567-e12b-12d1-a456-4266554400005204000053039865802BR5913Fulano de Tal6008BRASILIA62070503***63041D3D';

const valid = { pix_key: 'ana@example.com', amount: 10 };

const required = 'The field is required.';
const text = 'The value must be a text.';
const number = 'The value must be a number.';
const empty = 'The text must not be empty.';
const tooSmall = 'The value must be at least R$ 0.01.';
const tooLarge = 'The value must be at most R$ 999,999,999.99.';
const decimals = 'The value must have at most two decimals.';
const longest = (limit: number): string => `The text must have at most ${limit} characters.`;

const noPixKey =
  'This is not a Pix key. Enter a CPF, CNPJ, e-mail, random key, or phone with its area code.';

interface Fault {
  readonly what: string;
  readonly body: unknown;
  readonly errors: Readonly<Record<string, readonly string[]>>;
}

const malformed =
  'Send one key: 1 to 128 visible ASCII characters, no quotes or commas. A UUID is best.';

const faults: Fault[] = [
  { what: 'no pix_key', body: { amount: 10 }, errors: { pix_key: [required] } },
  {
    what: 'an empty pix_key',
    body: { ...valid, pix_key: '' },
    errors: { pix_key: [empty] },
  },
  {
    what: 'a pix_key of blanks',
    body: { ...valid, pix_key: ' \t ' },
    errors: { pix_key: [empty] },
  },
  {
    what: 'a pix_key over 255 characters',
    body: { ...valid, pix_key: 'x'.repeat(256) },
    errors: { pix_key: [noPixKey] },
  },
  {
    what: 'a pix_key that is no text',
    body: { ...valid, pix_key: 1 },
    errors: { pix_key: [text] },
  },
  { what: 'a pix_key of null', body: { ...valid, pix_key: null }, errors: { pix_key: [text] } },
  {
    what: 'a pix_key with a NUL',
    body: { ...valid, pix_key: 'a\0b' },
    errors: { pix_key: ['The text contains a character that is not allowed.'] },
  },
  { what: 'no amount', body: { pix_key: 'ana@example.com' }, errors: { amount: [required] } },
  {
    what: 'a description over 512 characters',
    body: { ...valid, description: 'x'.repeat(513) },
    errors: { description: [longest(512)] },
  },
  {
    what: 'a description that is no text',
    body: { ...valid, description: ['x'] },
    errors: { description: [text] },
  },
  {
    what: 'several faults, all at once',
    body: { pix_key: '', amount: 0, description: 'x'.repeat(513) },
    errors: { pix_key: [empty], amount: [tooSmall], description: [longest(512)] },
  },
  {
    what: 'a code beside a pix_key that is none, without an amount',
    body: { pix_key: 'nobody', copy_paste: staticCode },
    errors: {
      pix_key: [noPixKey],
      copy_paste: ['Send either pix_key or copy_paste.'],
      amount: [required],
    },
  },
  {
    what: 'an empty object',
    body: {},
    errors: { pix_key: [required], amount: [required] },
  },
  {
    what: 'a body that is no object',
    body: [valid],
    errors: { body: ['The value must be an object.'] },
  },
];

for (const key of ['nobody', '123', '💰', '111.444.777-36', 'a@@b.test', '98765-4321']) {
  const body = { ...valid, pix_key: key };
  faults.push({ what: `the pix_key ${key}`, body, errors: { pix_key: [noPixKey] } });
}

for (const field of [
  'schedule_date',
  'scheduled_date',
  'scheduled_at',
  'schedule_at',
  'scheduleDate',
  'scheduledDate',
  'scheduledAt',
  'recurrence',
]) {
  for (const value of ['2026-12-24', null, { every: 'month' }]) {
    const body = { ...valid, [field]: value };
    const message =
      'A payment cannot be scheduled: it is made at once. Send it without this field.';
    faults.push({
      what: `${field} ${JSON.stringify(value)}`,
      body,
      errors: { [field]: [message] },
    });
  }
}

const amountFaults: [string, string[]][] = [
  ['0', [tooSmall]],
  ['-0', [tooSmall]],
  ['-10', [tooSmall]],
  ['0.001', [decimals]],
  ['0.009', [decimals]],
  ['10.005', [decimals]],
  ['10.001', [decimals]],
  ['0.1e-3', [decimals]],
  ['1000000000', [tooLarge]],
  ['1e21', [tooLarge]],
  ['1e999', [number]],
  ['-1e999', [number]],
  ['"10"', [number]],
  ['"NaN"', [number]],
  ['""', [number]],
  ['null', [number]],
  ['true', [number]],
  ['[10]', [number]],
  ['{}', [number]],
];

for (const [written, messages] of amountFaults) {
  const body = `{"pix_key":"ana@example.com","amount":${written}}`;
  faults.push({ what: `an amount of ${written}`, body, errors: { amount: messages } });
}

for (const { what, body, errors } of faults) {
  test(`422 for ${what}, naming ${Object.keys(errors).join(', ')}`, async (t) => {
    const lookUps = t.mock.method(app.bank, 'lookUpKey');
    const sent = await app.send(user, body);
    assert.equal(lookUps.mock.callCount(), 0);
    assert.equal(sent.status, 422);
    assert.equal(sent.body.message, messageOf(errors));
    assert.deepEqual(sent.body.errors, errors);
    assert.equal(sent.headers.get('pix-outcome'), 'not_sent');
    assert.equal(await app.countRows(user), 0);
  });
}

test('422 without a body names every required field', async () => {
  const { token } = user;
  const sent = await app.call('/pix/send', { method: 'POST', token, key: 'bodyless' });
  assert.equal(sent.status, 422);
  assert.deepEqual(sent.body.errors, { pix_key: [required], amount: [required] });
});

const keyFaults: [string, string][] = [
  ['empty', ''],
  ['over 128 characters', 'k'.repeat(129)],
  ['with a blank', 'two words'],
  ['with a tab', 'two\twords'],
  ['with an accent', 'chave-ção'],
  ['given twice', 'one, two'],
  ['given twice with the same value', 'one, one'],
  ['joined by a comma', 'one,two'],
  ['in quotes', '"one"'],
  ['with a quote', 'one"'],
];

for (const [what, key] of keyFaults) {
  test(`422 for an Idempotency-Key ${what}`, async () => {
    const sent = await app.send(user, valid, { key });
    assert.equal(sent.status, 422);
    assert.deepEqual(sent.body.errors, { 'Idempotency-Key': [malformed] });
    assert.equal(sent.headers.get('pix-outcome'), 'unknown');
    assert.equal(await app.countRows(user), 0);
  });
}

test('422 for a missing Idempotency-Key, together with the errors of the body', async () => {
  const sent = await app.call('/pix/send', { token: user.token, body: { amount: '10' } });
  assert.equal(sent.status, 422);
  assert.deepEqual(sent.body.errors, {
    'Idempotency-Key': [required],
    pix_key: [required],
    amount: [number],
  });
  assert.equal(sent.headers.get('pix-outcome'), 'unknown');
});

const refusedRepeats: Readonly<Record<string, unknown>> = {
  'a description that is too long': { ...valid, description: 'x'.repeat(513) },
  'an amount of 10.001': { ...valid, amount: 10.001 },
  'no amount': { pix_key: valid.pix_key },
  'a key and a code': { ...valid, copy_paste: staticCode },
};

for (const [what, body] of Object.entries(refusedRepeats)) {
  test(`422 for ${what} reports the payment that has the key`, async () => {
    const payer = await givenCustomer(app);
    const fresh = await app.send(payer, body, { key: 'fresh' });
    assert.deepEqual([fresh.status, fresh.headers.get('pix-outcome')], [422, 'not_sent']);
    assert.equal(fresh.headers.get('pix-next'), 'correct');
    const paid = await app.send(payer, valid, { key: 'paid' });
    const repeated = await app.send(payer, body, { key: 'paid' });
    assert.deepEqual([repeated.status, repeated.headers.get('pix-outcome')], [422, 'accepted']);
    assert.equal(repeated.headers.get('pix-next'), 'ask');
    const { transaction_id: id } = paid.body;
    assert.deepEqual(repeated.body, { ...fresh.body, transaction_id: id });
    const stranger = await app.send(await givenCustomer(app), body, { key: 'paid' });
    assert.equal(stranger.headers.get('pix-outcome'), 'not_sent');
    await app.rows(
      "update pix_transactions set outcome = null, phase = 'PAYING' where user_id = $1",
      [payer.id],
    );
    const during = await app.send(payer, body, { key: 'paid' });
    assert.equal(during.headers.get('pix-outcome'), 'unknown');
    assert.equal(during.headers.get('pix-next'), 'ask');
  });
}

test('a charge with the key is no payment of a refused send', async () => {
  const payer = await givenCustomer(app);
  await app.charge(payer, { type: 'static', amount: 10 }, { key: 'both' });
  const sent = await app.send(payer, { ...valid, amount: 0 }, { key: 'both' });
  assert.deepEqual([sent.status, sent.headers.get('pix-outcome')], [422, 'not_sent']);
});

test('the outcome of a refusal costs a read, and the success of a send none', async (t) => {
  const payer = await givenCustomer(app);
  const queries = t.mock.method(app.context.db, 'query');
  const reads = () =>
    queries.mock.calls.filter(({ arguments: [{ name }] }) => name === 'pix-outcome-of-key').length;
  await app.send(payer, valid);
  assert.equal(reads(), 0);
  await app.send(payer, { ...valid, amount: 0 });
  assert.equal(reads(), 1);
});

test('503 and an unknown outcome when the payment with the key cannot be read', async (t) => {
  const payer = await givenCustomer(app);
  mockQueries(
    t,
    app.context.db,
    (run) => (statement, parameters) =>
      statement.name === 'pix-outcome-of-key'
        ? Promise.reject(connectionLost())
        : run(statement, parameters),
  );
  const sent = await app.send(payer, { ...valid, amount: 0 });
  assert.deepEqual([sent.status, sent.headers.get('pix-outcome')], [503, 'unknown']);
});

test('401 after a logout for terms that only the operation can refuse', async () => {
  const leaver = await givenCustomer(app);
  await app.call('/auth/logout', { method: 'POST', token: leaver.token });
  const sent = await app.send(leaver, { ...valid, copy_paste: staticCode });
  assert.deepEqual([sent.status, sent.headers.get('pix-outcome')], [401, 'unknown']);
});

test('a 422 speaks Portuguese to who prefers it', async () => {
  const body = { pix_key: 'x'.repeat(256), amount: 0.001 };
  const headers = { 'accept-language': 'en;q=0.5, pt-BR' };
  const sent = await app.call('/pix/send', { token: user.token, body, headers });
  assert.deepEqual(sent.body, {
    message: 'Há campos ausentes ou inválidos.',
    errors: {
      'Idempotency-Key': ['Este campo é obrigatório.'],
      pix_key: [
        'Esta não é uma chave Pix. Informe um CPF, CNPJ, e-mail, chave aleatória ou telefone com DDD.',
      ],
      amount: ['O valor deve ter no máximo duas casas decimais.'],
    },
  });
});

test('400 for a body that is no JSON, such as an amount of NaN', async () => {
  const sent = await app.send(user, '{"pix_key":"ana@example.com","amount":NaN}');
  assert.equal(sent.status, 400);
  assert.deepEqual(Object.keys(sent.body), ['message']);
  assert.equal(sent.headers.get('pix-outcome'), 'unknown');
});

test('415 for a body of another media type', async () => {
  const headers = { 'content-type': 'text/plain' };
  const sent = await app.send(user, JSON.stringify(valid), { headers });
  assert.equal(sent.status, 415);
  assert.equal(sent.headers.get('pix-outcome'), 'unknown');
});

test('405 for another method, naming the one that is allowed', async () => {
  const sent = await app.call('/pix/send', { method: 'PUT', token: user.token, body: valid });
  assert.equal(sent.status, 405);
  assert.match(sent.headers.get('allow') ?? '', /POST/);
});

for (const [what, headers] of [
  ['no token', {}],
  ['a token that is none', { authorization: 'Bearer nonsense' }],
  ['another scheme', { authorization: 'Basic bWFyaWE6c2VjcmV0' }],
] as [string, Record<string, string>][]) {
  test(`401 for ${what}, before anything is validated`, async () => {
    const sent = await app.call('/pix/send', { body: {}, headers });
    assert.equal(sent.status, 401);
    assert.deepEqual(Object.keys(sent.body), ['message']);
    assert.equal(sent.headers.get('pix-outcome'), 'unknown');
  });
}

test('401 after a logout, and nothing is sent', async (t) => {
  const leaver = await givenCustomer(app);
  const lookUps = t.mock.method(app.bank, 'lookUpKey');
  await app.call('/auth/logout', { method: 'POST', token: leaver.token });
  assert.equal((await app.send(leaver, valid)).status, 401);
  assert.equal((await app.send(leaver, {})).status, 401, 'before anything is validated');
  assert.equal(await app.countRows(leaver), 0);
  assert.equal(lookUps.mock.callCount(), 0);
});

for (const part of ['document', 'agency', 'account_number']) {
  test(`422 with errors.account when the account lacks its ${part}`, async () => {
    const poor = await givenCustomer(app);
    await app.rows(`update accounts set ${part} = null where user_id = $1`, [poor.id]);
    const sent = await app.send(poor, valid);
    assert.equal(sent.status, 422);
    assert.deepEqual(sent.body.errors, {
      account: [
        'Your account is not complete yet: document, agency and account number are needed.',
      ],
    });
    assert.equal(await app.countMade(poor), 0);
  });
}

test("the user's own document replaces a missing one of the account", async (t) => {
  const lookUps = t.mock.method(app.bank, 'lookUpKey');
  const { id, email } = await givenUser(app, { document: '52998224725' });
  const token = await logIn(app, email);
  await app.rows('update accounts set document = null where user_id = $1', [id]);
  const sent = await app.send({ id, email, token }, valid);
  assert.equal(sent.status, 200);
  assert.equal(lookUps.mock.calls[0]?.arguments[1].payerId, '52998224725');
});

test('422 with errors.account when there is no account at all', async () => {
  const poor = await givenCustomer(app);
  await app.rows('delete from accounts where user_id = $1', [poor.id]);
  const headers = { 'accept-language': 'pt' };
  const sent = await app.send(poor, valid, { headers });
  assert.equal(sent.status, 422);
  assert.deepEqual(sent.body.errors, {
    account: ['Sua conta ainda não está completa: faltam documento, agência ou número da conta.'],
  });
});
