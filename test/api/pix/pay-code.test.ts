/** Pix codes (copia e cola): what they say, and static ones as the payee of a send. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { crc16Ccitt } from '../../../src/domain/br-code.ts';
import {
  encodeDynamicBrCode,
  encodeStaticBrCode,
} from '../../../src/provider/sandbox/bank/br-code.ts';
import { givenCustomer } from '../../support/factories.ts';
import { startPixApp } from './pix-app.ts';

const app = await startPixApp();

const payee = { key: '+5511987654321', receiverName: 'Padaria do Zé', city: 'São Paulo' };
const open = encodeStaticBrCode(payee);
const priced = encodeStaticBrCode({ ...payee, amountCents: 1_250, txid: 'Pedido123' });
const dynamic = encodeDynamicBrCode({ ...payee, url: 'pix.example.com/qr/1', oneTime: true });

const decode = (token: string | undefined, copyPaste: unknown) =>
  app.call('/pix/decode', { ...(token && { token }), body: { copy_paste: copyPaste } });

test('a static code says its key, its amount, and who is paid', async () => {
  const { token } = await givenCustomer(app);
  const code = encodeStaticBrCode({ ...payee, amountCents: 1_250, txid: 'P1', description: 'pao' });
  const { status, body } = await decode(token, ` ${code}\n`);
  assert.equal(status, 200);
  assert.deepEqual(body, {
    kind: 'static',
    one_time: false,
    pix_key: '+5511987654321',
    key_type: 'CELULAR',
    pix_key_type: 'CELULAR',
    amount: 12.5,
    payee_name: 'PADARIA DO ZE',
    payee_city: 'SAO PAULO',
    description: 'pao',
    txid: 'P1',
  });
});

test('a code of a key of no known type says no type, and a dynamic one no key', async () => {
  const { token } = await givenCustomer(app);
  const unknown = await decode(token, encodeStaticBrCode({ ...payee, key: 'new-kind-of-key' }));
  assert.equal(unknown.body.pix_key, 'new-kind-of-key');
  assert.ok(!('pix_key_type' in unknown.body) && !('amount' in unknown.body));
  const charge = await decode(token, dynamic);
  const said = { kind: 'dynamic', one_time: true, url: 'pix.example.com/qr/1' };
  const unread = { unread: 'PROVIDER_REJECTED' };
  const payeeShown = { payee_name: 'PADARIA DO ZE', payee_city: 'SAO PAULO' };
  assert.deepEqual(charge.body, { ...said, ...unread, ...payeeShown });
});

test('the code of a charge can be read as it was made', async () => {
  const user = await givenCustomer(app);
  const charge = await app.charge(user, { type: 'static', amount: 89.9, key: 'ana@example.com' });
  const { body } = await decode(user.token, charge.body.copy_paste);
  assert.deepEqual([body.pix_key, body.amount], ['ana@example.com', 89.9]);
});

test('a code needs a token', async () => {
  assert.equal((await decode(undefined, open)).status, 401);
});

const unreadable: [what: string, code: unknown, error: RegExp][] = [
  ['no code', undefined, /required/],
  ['a key', 'ana@example.com', /not a Pix code/],
  ['a code that was cut', open.slice(0, -3), /check digits do not match/],
  ['a number', 1, /must be a text/],
  ['521 characters', open.padEnd(521, 'x'), /at most 512/],
  [
    'another arrangement',
    ((text) => text + crc16Ccitt(text))(open.slice(0, -4).replace('bcb.pix', 'bcb.pox')),
    /exactly one Pix account/,
  ],
];
for (const [what, code, error] of unreadable) {
  test(`neither decode nor send takes ${what}: 422 says why`, async () => {
    const user = await givenCustomer(app);
    for (const { status, body, headers } of [
      await decode(user.token, code),
      await app.send(user, { copy_paste: code, amount: code === undefined ? -1 : 1 }),
    ]) {
      assert.equal(status, 422);
      if (headers.has('pix-outcome')) assert.equal(headers.get('pix-outcome'), 'not_sent');
      if (code !== undefined) assert.match(body.errors.copy_paste[0], error);
    }
    assert.equal(await app.countRows(user), 0);
  });
}

test('a send pays the key and the amount of a code, and passes its txid on', async (t) => {
  const user = await givenCustomer(app);
  const payments = t.mock.method(app.bank, 'pay');
  const { status, body } = await app.send(user, { copy_paste: priced });
  assert.equal(status, 200);
  const { pix_key: pixKey, amount } = await app.stored(body.transaction_id);
  assert.deepEqual([pixKey, amount], ['+5511987654321', '12.50']);
  assert.equal(payments.mock.calls[0]?.arguments[1].txid, 'Pedido123');
});

test('a repeat with the code, or with the terms that it orders, pays nothing more', async () => {
  const user = await givenCustomer(app);
  const first = await app.send(user, { copy_paste: open, amount: 3 }, { key: 'code' });
  for (const body of [
    { copy_paste: `${open} `, amount: 3.0 },
    { pix_key: '(11) 98765-4321', amount: 3 },
  ]) {
    const again = await app.send(user, body, { key: 'code' });
    assert.equal(again.headers.get('idempotency-replayed'), 'true');
    assert.equal(again.body.transaction_id, first.body.transaction_id);
  }
  const otherCharge = { copy_paste: encodeStaticBrCode({ ...payee, txid: 'T2' }), amount: 3 };
  const refused = await app.send(user, otherCharge, { key: 'code' });
  assert.deepEqual(Object.keys(refused.body.errors), ['Idempotency-Key']);
  assert.equal((await app.executed(user)).length, 1);
});

const refusedTerms: [what: string, body: object, field: string, error: RegExp][] = [
  [
    'a dynamic code without its look-up',
    { copy_paste: dynamic, amount: 1 },
    'copy_paste',
    /dynamic/,
  ],
  [
    'a code whose key has no format',
    { copy_paste: encodeStaticBrCode({ ...payee, key: 'new-kind-of-key' }), amount: 1 },
    'copy_paste',
    /no valid Pix key/,
  ],
  [
    'a key beside a code',
    { copy_paste: open, pix_key: 'a@b.test', amount: 1 },
    'copy_paste',
    /either/,
  ],
  ['no amount at all', { copy_paste: open }, 'amount', /required/],
  ['an amount that is not the code’s', { copy_paste: priced, amount: 12.51 }, 'amount', /another/],
  [
    'an amount above the largest',
    { copy_paste: encodeStaticBrCode({ ...payee, amountCents: 100_000_000_000 }) },
    'copy_paste',
    /too large/,
  ],
];
for (const [what, body, field, error] of refusedTerms) {
  test(`a send refuses ${what}`, async () => {
    const user = await givenCustomer(app);
    const refused = await app.send(user, body);
    assert.equal(refused.status, 422);
    assert.deepEqual(Object.keys(refused.body.errors), [field]);
    assert.match(refused.body.errors[field][0], error);
    assert.equal(refused.headers.get('pix-outcome'), 'not_sent');
    assert.equal(await app.countRows(user), 0);
  });
}

test('an empty send misses its key and its amount, as before there were codes', async () => {
  const user = await givenCustomer(app);
  const { body } = await app.send(user, {});
  assert.deepEqual(Object.keys(body.errors), ['pix_key', 'amount']);
});
