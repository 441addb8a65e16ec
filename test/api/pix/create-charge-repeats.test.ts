/** One Idempotency-Key is one charge, also after a call that failed or a code that was lost. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ChargeCode } from '../../../src/provider/provider.ts';
import type { BankResponse } from '../../../src/provider/sandbox/bank/response.ts';
import { brokenRule } from '../../../src/provider/sandbox/bank/response.ts';
import { decodeBrCode } from '../../../src/domain/br-code.ts';
import { givenCustomer, logIn } from '../../support/factories.ts';
import { startPixApp } from './pix-app.ts';

const app = await startPixApp();

test('a repeat answers the same charge with its code and Idempotency-Replayed', async (t) => {
  const user = await givenCustomer(app);
  const first = await app.charge(user, '{"type":"static","amount":10}', { key: 'again' });
  const charges = t.mock.method(app.bank, 'createCharge');
  const again = await app.charge(user, '{"amount":1e1,"type":"static"}', { key: 'again' });
  assert.equal(again.status, 200);
  assert.deepEqual(again.body, first.body);
  assert.equal(again.headers.get('idempotency-replayed'), 'true');
  assert.equal(charges.mock.callCount(), 0);
  assert.equal(await app.countRows(user), 1);
});

for (const [what, other] of [
  ['type', { type: 'dynamic' }],
  ['amount', { amount: 11 }],
  ['key', { key: 'other@example.com' }],
  ['expiration', { expiration_qr: 61 }],
  ['additional data', { additional_data: [{ name: 'a', value: 'b' }] }],
] as const) {
  test(`422 naming Idempotency-Key when it is used again with another ${what}`, async () => {
    const user = await givenCustomer(app);
    const body = { type: 'static', amount: 10 };
    await app.charge(user, body, { key: 'reused' });
    const charged = await app.charge(user, { ...body, ...other }, { key: 'reused' });
    assert.equal(charged.status, 422);
    assert.deepEqual(Object.keys(charged.body.errors), ['Idempotency-Key']);
  });
}

test('a repeat is the same request however its key and the payer’s CPF are written', async () => {
  const user = await givenCustomer(app);
  const body = { type: 'dynamic', amount: 10, key: 'Ana@Example.com', payer_cpf: '123.456.789-09' };
  const first = await app.charge(user, body, { key: 'written' });
  assert.equal(first.status, 200);
  const otherwise = { ...body, key: ' ana@example.com', payer_cpf: '12345678909' };
  const again = await app.charge(user, otherwise, { key: 'written' });
  assert.deepEqual([again.status, again.body], [200, first.body]);
  const another = await app.charge(user, { ...body, payer_cpf: '11144477735' }, { key: 'written' });
  assert.deepEqual(Object.keys(another.body.errors), ['Idempotency-Key']);
});

test('a repeat is the same request although the user’s name has changed meanwhile', async () => {
  const user = await givenCustomer(app);
  const body = { type: 'static', amount: 10 };
  const first = await app.charge(user, body, { key: 'renamed' });
  await app.rows('update users set name = $1 where id = $2', ['Maria Souza', user.id]);
  const again = await app.charge(user, body, { key: 'renamed' });
  assert.deepEqual([again.status, again.body], [200, first.body]);
});

test('10 identical charges at once are one charge', async (t) => {
  const user = await givenCustomer(app);
  const charges = t.mock.method(app.bank, 'createCharge');
  const body = { type: 'dynamic', amount: 10 };
  const responses = await Promise.all(
    Array.from({ length: 10 }, () => app.charge(user, body, { key: 'stampede' })),
  );
  assert.deepEqual([...new Set(responses.map(({ status }) => status))], [200]);
  assert.equal(new Set(responses.map((response) => response.body.transaction_id)).size, 1);
  assert.equal(charges.mock.callCount(), 1);
  assert.equal(await app.countRows(user), 1);
});

test('after a failed call a repeat continues with the same identification', async (t) => {
  const user = await givenCustomer(app);
  const body = { type: 'dynamic', amount: 10 };
  const { createCharge } = app.bank;
  const down = t.mock.method(
    app.bank,
    'createCharge',
    async () => ({ outcome: 'faulty', fault: 'unavailable' }) as const,
  );
  const failed = await app.throughTime(app.charge(user, body, { key: 'resumed' }));
  assert.deepEqual([failed.status, failed.body.code], [502, 'PROVIDER_UNAVAILABLE']);
  assert.equal(down.mock.callCount(), 3);
  const [first] = down.mock.calls;
  t.mock.restoreAll();

  const up = t.mock.method(app.bank, 'createCharge', createCharge);
  const resumed = await app.charge(user, body, { key: 'resumed' });
  assert.equal(resumed.status, 200);
  assert.equal(resumed.headers.get('idempotency-replayed'), 'true');
  decodeBrCode(resumed.body.copy_paste);
  assert.deepEqual(up.mock.calls[0]?.arguments, first?.arguments);
  assert.equal(await app.countRows(user), 1);
  assert.deepEqual(await app.timeline(resumed.body.transaction_id), [
    'RESERVED',
    'RESERVED 3 5xx may_be_repeated',
    'ACCEPTED 2xx',
  ]);
});

test('a charge that was made but not answered is found again by a repeat', async (t) => {
  const user = await givenCustomer(app);
  const body = { type: 'static', amount: 10 };
  const { createCharge } = app.bank;
  const made: BankResponse<ChargeCode>[] = [];
  t.mock.method(app.bank, 'createCharge', async (...args: Parameters<typeof createCharge>) => {
    made.push(await createCharge.apply(app.bank, args));
    return { outcome: 'faulty', fault: 'garbled' } as const;
  });
  const failed = await app.charge(user, body, { key: 'found' });
  assert.deepEqual([failed.status, failed.body.code], [502, 'PROVIDER_INVALID_RESPONSE']);
  t.mock.restoreAll();
  const again = await app.charge(user, body, { key: 'found' });
  assert.ok(made[0]?.outcome === 'done');
  assert.equal(again.body.copy_paste, made[0].value.copyPaste);
});

test('a charge whose code could not be stored is found again by a repeat', async (t) => {
  const user = await givenCustomer(app);
  const body = { type: 'static', amount: 10 };
  const { query } = app.context.db;
  t.mock.method(app.context.db, 'query', async (...args: Parameters<typeof query>) => {
    if (args[0].name === 'pix-move') throw new Error('connection lost');
    return query(...args);
  });
  assert.equal((await app.charge(user, body, { key: 'unstored' })).status, 500);
  t.mock.restoreAll();
  const held = await app.charge(user, body, { key: 'unstored' });
  assert.deepEqual(Object.keys(held.body), ['transaction_id', 'status']);
  await app.clock.advance(10_000);
  const again = await app.charge(user, body, { key: 'unstored' });
  assert.equal(again.status, 200);
  decodeBrCode(again.body.copy_paste);
  assert.equal(await app.countRows(user), 1);
});

test('502 PROVIDER_UNAVAILABLE for offline@ponte.test, as often as it is repeated', async () => {
  const user = await givenCustomer(app, { email: 'offline@ponte.test' });
  for (let times = 0; times < 2; times += 1) {
    const charging = app.charge(user, { type: 'static', amount: 1 }, { key: 'offline' });
    const charged = await app.throughTime(charging);
    assert.deepEqual([charged.status, charged.body.code], [502, 'PROVIDER_UNAVAILABLE']);
  }
  assert.equal(await app.countRows(user), 1);
});

test('502 PROVIDER_TIMEOUT when the bank does not answer', async (t) => {
  const user = await givenCustomer(app);
  const fault = 'hang';
  t.mock.method(app.bank, 'createCharge', async () => ({ outcome: 'faulty', fault }) as const);
  const charged = await app.throughTime(app.charge(user, { type: 'static', amount: 1 }));
  assert.deepEqual([charged.status, charged.body.code], [502, 'PROVIDER_TIMEOUT']);
});

for (const type of ['dynamic', 'static']) {
  test(`502 for a ${type} charge that the bank refuses; it is FAILED and stays so`, async (t) => {
    const user = await givenCustomer(app);
    const refuse = async () => brokenRule('InvalidQrCode');
    const charges = t.mock.method(app.bank, 'createCharge', refuse);
    const charged = await app.charge(user, { type, amount: 1 }, { key: 'rejected' });
    assert.deepEqual([charged.status, charged.body.code], [502, 'PROVIDER_REJECTED']);
    const again = await app.charge(user, { type, amount: 1 }, { key: 'rejected' });
    assert.deepEqual([again.status, again.body.status], [200, 'FAILED']);
    const failure = { code: 'PROVIDER_REJECTED', message: 'The bank refused the operation.' };
    assert.deepEqual(again.body.failure, failure);
    assert.equal(again.body.qr_code, undefined);
    assert.equal(charges.mock.callCount(), 1);
    const stored = await app.stored(again.body.transaction_id);
    assert.deepEqual([stored.phase, stored.failure_code], ['REJECTED', 'PROVIDER_REJECTED']);
    assert.deepEqual(await app.timeline(stored.id), ['RESERVED', 'REJECTED 1 4xx']);
  });
}

test('401 when the bank refuses the token; after a new login a repeat continues', async () => {
  const user = await givenCustomer(app);
  app.bank.expireCustomerTokens(user.email);
  const body = { type: 'dynamic', amount: 1 };
  const refused = await app.throughTime(app.charge(user, body, { key: 'expired' }));
  assert.equal(refused.status, 401);
  assert.equal((await app.charge(user, body, { key: 'expired' })).status, 401);
  const token = await logIn(app, user.email);
  const again = await app.charge({ ...user, token }, body, { key: 'expired' });
  assert.equal(again.status, 200);
  decodeBrCode(again.body.copy_paste);
  assert.equal(await app.countRows(user), 1);
});
