/** The receipt of a transaction: what it shows, what it masks, and what it leaves out. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { maskTaxId } from '../../../src/domain/tax-id.ts';
import type { TestResponse } from '../../support/app.ts';
import { givenCustomer, type TestUser } from '../../support/factories.ts';
import { startPixApp } from './pix-app.ts';

const app = await startPixApp({ environment: { PROVIDER_RETRIES: '0' } });

/** A customer whose account at the simulated bank has this document. */
async function givenHolder(document: string): Promise<TestUser> {
  const holder = await givenCustomer(app, { name: 'Ana Souza' });
  await app.rows('update accounts set document = $2 where user_id = $1', [holder.id, document]);
  return holder;
}

const anaDocument = '11144477735';
const user = await givenHolder(anaDocument);

/** The institution of the simulated bank's accounts is the configured one. */
const anaShown = {
  name: 'Ana Souza',
  document: '***.444.777-**',
  bank: { ispb: '11165756', name: 'GLOBAL SCM LTDA' },
  institution: { ispb: '11165756' },
} as const;

/** The owner of every key at the simulated bank, as its directory says. */
const ownerShown = {
  name: 'Recebedor de Teste',
  document: '***.456.789-**',
  bank: { ispb: '11165756', name: 'GLOBAL SCM LTDA' },
  institution: { ispb: '11165756' },
} as const;

function receipt({ token }: TestUser, id: string, headers = {}): Promise<TestResponse> {
  return app.call(`/pix/${id}/receipt`, { token, headers });
}

async function readReceipt(id: string, of: TestUser = user): Promise<Record<string, unknown>> {
  const { status, body } = await receipt(of, id);
  assert.equal(status, 200, JSON.stringify(body));
  return body;
}

async function givenSend(pixKey = 'bruno@example.com', more = {}) {
  const sent = await app.send(user, { pix_key: pixKey, amount: 150.5, ...more });
  assert.equal(sent.status, 200, JSON.stringify(sent.body));
  return { id: String(sent.body.transaction_id), endToEnd: String(sent.body.end_to_end) };
}

test('a send shows who paid which key, before and after it is settled', async () => {
  const at = app.clock.now().toISOString();
  const { id, endToEnd } = await givenSend('bruno@example.com', { description: 'Aluguel' });
  const shown = {
    transaction_id: id,
    type: 'PIX_SEND',
    amount: 150.5,
    currency: 'BRL',
    created_at: at,
    end_to_end: endToEnd,
    description: 'Aluguel',
    payer: anaShown,
    payee: { ...ownerShown, key: 'bruno@example.com' },
  };
  assert.deepEqual(await readReceipt(id), { ...shown, status: 'PROCESSING', issued_at: at });
  await app.clock.advance(2_000);
  await app.bank.settle(endToEnd);
  await app.settled(id);
  const settledAt = app.clock.now().toISOString();
  await app.clock.advance(60_000);
  assert.deepEqual(await readReceipt(id), {
    ...shown,
    status: 'COMPLETED',
    settled_at: settledAt,
    issued_at: app.clock.now().toISOString(),
  });
});

for (const [kind, key, shown] of [
  ['a CPF', '123.456.789-09', '***.456.789-**'],
  ['a phone', '(11) 98765-4321', '+5511987654321'],
  ['a random key', '123E4567-e12b-12d1-a456-426655440000', '123e4567-e12b-12d1-a456-426655440000'],
] as const) {
  test(`the paid key is shown, masked if it is a document: ${kind}`, async () => {
    const { id } = await givenSend(key);
    assert.deepEqual((await readReceipt(id))['payee'], { ...ownerShown, key: shown });
  });
}

test('a CNPJ is paid to a company', async () => {
  const { id } = await givenSend('12.ABC.345/01DE-35');
  const document = '**.ABC.345/01DE-**';
  const company = { ...ownerShown, name: 'Empresa de Teste Ltda', document };
  assert.deepEqual((await readReceipt(id))['payee'], { ...company, key: document });
});

test('of a key that was not found only the key is shown', async () => {
  const pixKey = 'notfound@ponte.test';
  const sent = await app.send(user, { pix_key: pixKey, amount: 1 });
  assert.equal(sent.body.code, 'PIX_KEY_NOT_FOUND');
  const [failed] = await app.rows<{ id: string }>(
    'select id from pix_transactions where pix_key = $1',
    [pixKey],
  );
  assert.deepEqual((await readReceipt(failed?.id ?? ''))['payee'], { key: pixKey });
});

test("a company's CNPJ is masked", async () => {
  const company = await givenHolder('12ABC34501DE35');
  const body = { pix_key: 'bruno@example.com', amount: 1 };
  const { body: sent } = await app.send(company, body);
  const { payer } = await readReceipt(sent.transaction_id, company);
  assert.equal((payer as typeof anaShown).document, '**.ABC.345/01DE-**');
});

test('a local account has no institution, and an unknown document is left out', async () => {
  const other = await givenCustomer(app);
  const { body } = await app.charge(other, { type: 'static', amount: 1 });
  await app.rows(`update accounts set provider = 'local', document = null where user_id = $1`, [
    other.id,
  ]);
  const { payee } = await readReceipt(body.transaction_id, other);
  assert.deepEqual(payee, { name: 'Maria da Silva', key: other.email });
});

test('a charge shows its payee and, once it is paid, its payment, and no payer', async () => {
  // The bank reports its own document of the account, which pays the charge only if it agrees.
  const payee = await givenCustomer(app, { name: 'Ana Souza' });
  const [{ document } = { document: '' }] = await app.rows<{ document: string }>(
    'select document from accounts where user_id = $1',
    [payee.id],
  );
  const { body } = await app.charge(payee, { type: 'dynamic', amount: 20, description: 'Pedido' });
  const { transaction_id: id } = body;
  const shownPayee = { ...anaShown, document: maskTaxId(document), key: payee.email };
  const open = await readReceipt(id, payee);
  assert.deepEqual(
    [open['status'], open['payer'], open['payee'], open['end_to_end'], open['description']],
    ['PROCESSING', undefined, shownPayee, undefined, 'Pedido'],
  );
  await app.bank.payCharge((await app.stored(id)).transaction_identification ?? '');
  const paid = await app.settled(id);
  const shown = await readReceipt(id, payee);
  assert.deepEqual([shown['status'], shown['end_to_end']], ['COMPLETED', paid.end_to_end]);
  assert.ok(paid.end_to_end);
});

test('a received Pix shows its payee, and no payer', async () => {
  const id = randomUUID();
  const at = new Date('2026-05-20T12:00:00.123Z');
  await app.rows(
    `insert into pix_transactions (id, user_id, operation, status, phase, outcome, amount, pix_key,
            end_to_end, created_at, updated_at, settled_at)
     values ($1, $2, 'RECEIVED', 'COMPLETED', 'SETTLED', 'accepted', 75, $3, $4, $5, $5, $5)`,
    [id, user.id, anaDocument, `E-${id}`, at],
  );
  assert.deepEqual(await readReceipt(id), {
    transaction_id: id,
    type: 'PIX_RECEIVED',
    status: 'COMPLETED',
    amount: 75,
    currency: 'BRL',
    created_at: at.toISOString(),
    settled_at: at.toISOString(),
    end_to_end: `E-${id}`,
    payee: { ...anaShown, key: '***.444.777-**' },
    issued_at: app.clock.now().toISOString(),
  });
});

// Failures.

const reasons: [key: string, code: string, en: string, pt: string][] = [
  [
    'notfound@ponte.test',
    'PIX_KEY_NOT_FOUND',
    'No account was found for this Pix key.',
    'Nenhuma conta foi encontrada para esta chave Pix.',
  ],
  [
    'reject@ponte.test',
    'PROVIDER_REJECTED',
    'The bank refused the operation.',
    'O banco recusou a operação.',
  ],
];

for (const [key, code, en, pt] of reasons) {
  test(`a send to ${key} shows ${code} in the language of the request`, async () => {
    const failed = await app.send(user, { pix_key: key, amount: 1 });
    assert.equal(failed.status, 502);
    const [item] = (await app.call('/pix?limit=1', { token: user.token })).body.items;
    for (const [language, message] of [
      ['en', en],
      ['pt-BR', pt],
    ] as const) {
      const { body } = await receipt(user, item.transaction_id, { 'accept-language': language });
      assert.deepEqual([body.status, body.failure], ['FAILED', { code, message }]);
    }
    await app.clock.advance(1);
  });
}

for (const [stored, code, message] of [
  ['BE17', 'BE17', "The payee's bank refused the QR code."],
  ['ACCOUNT_NOT_ACTIVE', 'ACCOUNT_NOT_ACTIVE', 'The account was not active, and nothing was sent.'],
  ['DS0G', 'DS0G', 'The bank refused the operation.'],
  ['BLOCKED:Bruno.Lima', 'PROVIDER_REJECTED', 'The bank refused the operation.'],
  ['constructor', 'PROVIDER_REJECTED', 'The bank refused the operation.'],
  [null, 'PROVIDER_REJECTED', 'The bank refused the operation.'],
] as const) {
  test(`a failure that is stored as ${stored} is shown as ${code}`, async () => {
    const { id } = await givenSend('silent@ponte.test');
    await app.rows(
      `update pix_transactions set status = 'FAILED', phase = 'SETTLED', settled_at = created_at,
              failure_code = $2 where id = $1`,
      [id, stored],
    );
    assert.deepEqual((await readReceipt(id))['failure'], { code, message });
  });
}

// Refusals.

test('404 for a missing, a malformed and another user’s id, with the same response', async () => {
  const { id } = await givenSend();
  const other = await givenCustomer(app);
  for (const response of [
    await receipt(user, randomUUID()),
    await receipt(user, 'not-a-uuid'),
    await receipt(user, 'keys'),
    await receipt(other, id),
  ]) {
    assert.deepEqual([response.status, response.body], [404, { message: 'Not found.' }]);
  }
});

test('401 without a token, and after a logout', async () => {
  const { id } = await givenSend();
  assert.equal((await app.call(`/pix/${id}/receipt`)).status, 401);
  const other = await givenCustomer(app);
  const { body } = await app.send(other, { pix_key: 'ana@example.com', amount: 1 });
  await app.call('/auth/logout', { method: 'POST', token: other.token });
  assert.equal((await receipt(other, body.transaction_id)).status, 401);
  assert.equal((await receipt(other, 'not-a-uuid')).status, 401);
});

test('the bank is not called', async (t) => {
  const { id } = await givenSend();
  const { provider } = app.context;
  const calls = (Object.keys(provider) as (keyof typeof provider)[]).map((method) =>
    t.mock.method(provider, method),
  );
  await readReceipt(id);
  assert.ok(calls.every(({ mock }) => mock.callCount() === 0));
});
