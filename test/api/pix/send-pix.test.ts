/** The reply of a successful send, and its requests to the bank. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { givenCustomer } from '../../support/factories.ts';
import { startPixApp } from './pix-app.ts';

const app = await startPixApp();

test('a send is accepted: its transaction, PROCESSING, with its end-to-end id', async () => {
  const user = await givenCustomer(app);
  const sent = await app.send(user, { pix_key: 'ana@example.com', amount: 10.5 });
  assert.equal(sent.status, 200);
  assert.deepEqual(Object.keys(sent.body), ['transaction_id', 'status', 'end_to_end']);
  assert.match(sent.body.transaction_id, /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f-]{17}$/);
  assert.equal(sent.body.status, 'PROCESSING');
  assert.match(sent.body.end_to_end, /^E11165756202605241200[A-Za-z0-9]{11}$/);
  assert.equal(sent.headers.get('pix-outcome'), 'accepted');
  assert.equal(sent.headers.get('idempotency-replayed'), null);
  assert.deepEqual(await app.executed(user), [sent.body.end_to_end]);
});

test('a send is COMPLETED or FAILED as the bank reports later', async () => {
  const user = await givenCustomer(app);
  for (const end of ['COMPLETED', 'FAILED'] as const) {
    const sent = await app.send(user, { pix_key: 'ana@example.com', amount: 10 });
    await app.bank.settle(sent.body.end_to_end, end);
    assert.equal((await app.settled(sent.body.transaction_id)).status, end);
    assert.equal((await app.view(user, sent.body.transaction_id)).body.status, end);
  }
});

test('the look-up carries the payer, the payment the key of the idempotency', async (t) => {
  const user = await givenCustomer(app);
  const [account] = await app.rows<{ document: string; agency: string; account_number: string }>(
    'select document, agency, account_number from accounts where user_id = $1',
    [user.id],
  );
  assert.ok(account);
  const lookUps = t.mock.method(app.bank, 'lookUpKey');
  const payments = t.mock.method(app.bank, 'pay');
  const body = { pix_key: 'ana@example.com', amount: 10.5, description: 'Aluguel de março' };
  const sent = await app.send(user, body, { key: 'rent-of-march' });
  assert.deepEqual(lookUps.mock.calls[0]?.arguments[1], {
    payerId: account.document,
    key: 'ana@example.com',
  });
  assert.deepEqual(payments.mock.calls[0]?.arguments[1], {
    endToEnd: sent.body.end_to_end,
    clientRequestId: 'rent-of-march',
    key: 'ana@example.com',
    amountCents: 1_050,
    description: 'Aluguel de março',
    txid: null,
    payer: {
      agency: account.agency,
      accountNumber: account.account_number,
      document: account.document,
    },
  });
});

test('one end-to-end id and one clientRequestId go out over all attempts of a payment', async (t) => {
  const user = await givenCustomer(app);
  const lookUps = t.mock.method(app.bank, 'lookUpKey');
  const payments = t.mock.method(app.bank, 'pay');
  const body = { pix_key: 'lost@ponte.test', amount: 10 };
  const sent = await app.throughTime(app.send(user, body, { key: 'tried-often' }));
  assert.equal(lookUps.mock.callCount(), 1);
  assert.equal(payments.mock.callCount(), 3);
  const orders = payments.mock.calls.map(({ arguments: [, order] }) => order);
  assert.deepEqual([...new Set(orders.map(({ endToEnd }) => endToEnd))], [sent.body.end_to_end]);
  assert.deepEqual([...new Set(orders.map((order) => order.clientRequestId))], ['tried-often']);
  assert.deepEqual(await app.executed(user), [sent.body.end_to_end]);
});

/** The directory has keys of at most 77 characters. */
const longest = `${'a'.repeat(64)}@example.test`;

const keys = [
  ['a CPF with punctuation', '529.982.247-25', '52998224725'],
  ['a CNPJ with punctuation', '11.222.333/0001-81', '11222333000181'],
  ['an alphanumeric CNPJ', '12.ABC.345/01DE-35', '12ABC34501DE35'],
  ['an alphanumeric CNPJ in small letters', '12abc34501de35', '12ABC34501DE35'],
  ['a national phone', '(11) 98765-4321', '+5511987654321'],
  ['an international phone', '+55 11 98765-4321', '+5511987654321'],
  ['an e-mail', ' Ana.Souza@Example.COM ', 'ana.souza@example.com'],
  ['a random key', '123E4567-E12B-42D1-A456-426655440000', '123e4567-e12b-42d1-a456-426655440000'],
  ['the longest key', longest, longest],
] as const;

for (const [what, typed, known] of keys) {
  test(`the bank sees ${what} in the form of the directory`, async (t) => {
    const user = await givenCustomer(app);
    const lookUps = t.mock.method(app.bank, 'lookUpKey');
    const payments = t.mock.method(app.bank, 'pay');
    const sent = await app.send(user, { pix_key: typed, amount: 1 });
    assert.equal(sent.status, 200);
    assert.equal(lookUps.mock.calls[0]?.arguments[1].key, known);
    assert.equal(payments.mock.calls[0]?.arguments[1].key, known);
    assert.equal((await app.stored(sent.body.transaction_id)).pix_key, known);
  });
}

const amounts = [
  ['0.01', 1, '0.01'],
  ['1e1', 1_000, '10.00'],
  ['10.0', 1_000, '10.00'],
  ['4.35', 435, '4.35'],
  ['1.1', 110, '1.10'],
  ['9999.99', 999_999, '9999.99'],
] as const;

for (const [written, cents, stored] of amounts) {
  test(`an amount of ${written} is ${cents} centavos at the bank and ${stored} in the row`, async (t) => {
    const user = await givenCustomer(app);
    const payments = t.mock.method(app.bank, 'pay');
    const sent = await app.send(user, `{"pix_key":"ana@example.com","amount":${written}}`);
    assert.equal(sent.status, 200);
    assert.equal(payments.mock.calls[0]?.arguments[1].amountCents, cents);
    assert.equal((await app.stored(sent.body.transaction_id)).amount, stored);
  });
}

test('the largest amount is valid: only the balance limits it', async () => {
  const user = await givenCustomer(app);
  const sent = await app.send(user, { pix_key: 'ana@example.com', amount: 999_999_999.99 });
  assert.deepEqual([sent.status, sent.body.code], [502, 'INSUFFICIENT_FUNDS']);
});

test('a description of 512 characters reaches the bank; none is null there', async (t) => {
  const user = await givenCustomer(app);
  const payments = t.mock.method(app.bank, 'pay');
  const description = 'ã'.repeat(512);
  await app.send(user, { pix_key: 'ana@example.com', amount: 1, description });
  await app.send(user, { pix_key: 'ana@example.com', amount: 1 });
  const descriptions = payments.mock.calls.map(({ arguments: [, order] }) => order.description);
  assert.deepEqual(descriptions, [description, null]);
});

test('an Idempotency-Key of 128 visible characters but quotes and commas is taken, and so is one of 1', async (t) => {
  const user = await givenCustomer(app);
  const payments = t.mock.method(app.bank, 'pay');
  const visible = Array.from({ length: 94 }, (_, at) => String.fromCharCode(0x21 + at)).join('');
  const ids = [visible.replaceAll(/[",]/g, '').padEnd(128, '~'), '!'];
  for (const key of ids) {
    const sent = await app.send(user, { pix_key: 'ana@example.com', amount: 1 }, { key });
    assert.equal(sent.status, 200);
  }
  const orders = payments.mock.calls.map(({ arguments: [, order] }) => order.clientRequestId);
  assert.deepEqual(orders, ids);
});

test('unknown fields of the body are ignored', async () => {
  const user = await givenCustomer(app);
  const sent = await app.send(user, { pix_key: 'ana@example.com', amount: 1, extra: { deep: [] } });
  assert.equal(sent.status, 200);
});

test('neither the timeline nor the log carries the key, the e-mail, the document or a name', async () => {
  const user = await givenCustomer(app);
  const [account] = await app.rows<{ document: string }>(
    'select document from accounts where user_id = $1',
    [user.id],
  );
  const logged = app.logLines.length;
  const body = { pix_key: '529.982.247-25', amount: 98.76, description: 'Presente da tia' };
  const sent = await app.send(user, body);
  await app.bank.settle(sent.body.end_to_end);
  await app.settled(sent.body.transaction_id);
  await app.throughTime(app.send(user, { ...body, pix_key: 'timeout@ponte.test' }));
  const texts = JSON.stringify([
    await app.rows('select phase, attempt, provider_status, note from pix_timeline'),
    app.logLines.slice(logged),
  ]);
  const personal = [account?.document, user.email, '52998224725', '529.982', '98.76', 'Presente'];
  for (const text of [...personal, 'timeout@ponte.test', 'Maria', user.token]) {
    assert.ok(text && !texts.includes(text), `it contains ${text}`);
  }
});
