/** Charges: what reaches the bank, what the code says, how they are paid. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import jsQRModule from 'jsqr';
import { PNG } from 'pngjs';
import { decodeBrCode } from '../../../src/domain/br-code.ts';
import { eventually } from '../../support/eventually.ts';
import { givenCustomer } from '../../support/factories.ts';
import { onlyOnServer } from '../../support/open-database.ts';
import { startPixApp } from './pix-app.ts';

// The package is CommonJS with a `default` of its own, which Node does not unwrap.
const jsQR = jsQRModule as unknown as typeof jsQRModule.default;

const app = await startPixApp();

/** What a phone's camera reads. */
function scan(base64: string): string | undefined {
  const { data, width, height } = PNG.sync.read(Buffer.from(base64, 'base64'));
  return jsQR(new Uint8ClampedArray(data), width, height)?.data;
}

test('a dynamic charge: its id, PROCESSING, a picture and the text that the picture shows', async () => {
  const user = await givenCustomer(app);
  const charged = await app.charge(user, { type: 'dynamic', amount: 89.9 });
  assert.equal(charged.status, 200);
  const fields = ['transaction_id', 'status', 'qr_code', 'copy_paste', 'expires_at'];
  assert.deepEqual(Object.keys(charged.body), fields);
  assert.equal(charged.body.status, 'PROCESSING');
  assert.equal(charged.headers.get('idempotency-replayed'), null);
  const { url, ...code } = readDynamic(charged.body.copy_paste);
  assert.match(url, /^pix\.ponte\.test\/qr\/[0-9a-f-]{36}$/);
  assert.deepEqual(code, {
    kind: 'dynamic',
    oneTime: true,
    isRecurring: false,
    receiverName: 'MARIA DA SILVA',
    city: 'SAO PAULO',
  });
  assert.match(charged.body.copy_paste, /540589\.90/);
  assert.equal(scan(charged.body.qr_code), charged.body.copy_paste);
});

function readDynamic(copyPaste: string) {
  const code = decodeBrCode(copyPaste);
  assert.ok(code.kind === 'dynamic');
  return code;
}

test('a static charge carries the key, the amount and 25 characters of its identification', async () => {
  const user = await givenCustomer(app);
  const body = {
    type: 'static',
    amount: 20,
    key: '12.ABC.345/01DE-35',
    description: 'Mensalidade de março',
    receiver_name: 'João da Conceição',
    city: 'São Luís',
    zipcode: '01310100',
    code_category: '5411',
  };
  const charged = await app.charge(user, body);
  assert.equal(charged.status, 200);
  const stored = await app.stored(charged.body.transaction_id);
  assert.equal(stored.pix_key, '12ABC34501DE35');
  assert.deepEqual(decodeBrCode(charged.body.copy_paste), {
    kind: 'static',
    key: '12ABC34501DE35',
    description: 'Mensalidade de marco',
    isWithdrawal: false,
    oneTime: false,
    amountCents: 2_000,
    receiverName: 'JOAO DA CONCEICAO',
    city: 'SAO LUIS',
    txid: stored.transaction_identification?.slice(0, 25),
  });
  assert.match(charged.body.copy_paste, /^.*52045411.*610801310100/);
  assert.equal(scan(charged.body.qr_code), charged.body.copy_paste);
});

test('a reusable charge is not marked as payable once', async () => {
  const user = await givenCustomer(app);
  const charged = await app.charge(user, { type: 'dynamic', amount: 1, reusable: true });
  assert.equal(decodeBrCode(charged.body.copy_paste).oneTime, false);
});

test('the default key of a user whose e-mail is no Pix key is the document', async () => {
  for (const email of [`${'a'.repeat(70)}@ponte.test`, 'ana+teste%x@ponte.test']) {
    const { body } = await app.charge(await givenCustomer(app, { email }), {
      type: 'static',
      amount: 1,
    });
    assert.match((await app.stored(body.transaction_id)).pix_key, /^\d{11}$/);
  }
});

test('the defaults: the user’s e-mail and name, Sao Paulo, a day, payable once', async (t) => {
  const user = await givenCustomer(app, { email: 'Dona.Maria@Example.com' });
  const charges = t.mock.method(app.bank, 'createCharge');
  const charged = await app.charge(user, { type: 'dynamic', amount: 1 });
  const [, type, order] = charges.mock.calls[0]?.arguments ?? [];
  assert.equal(type, 'dynamic');
  const { transaction_identification: transactionIdentification } = await app.stored(
    charged.body.transaction_id,
  );
  assert.deepEqual(order, {
    transactionIdentification,
    key: 'dona.maria@example.com',
    amountCents: 100,
    description: null,
    receiverName: 'Maria da Silva',
    city: 'Sao Paulo',
    zipcode: null,
    expirationSeconds: 86_400,
    payerName: null,
    payerDocument: null,
    reusable: false,
    categoryCode: null,
    additionalData: [],
  });
});

test('a user’s name of over 25 characters is cut to what a code can carry', async (t) => {
  const user = await givenCustomer(app, { name: 'Maria Aparecida dos Santos Conceição' });
  const charges = t.mock.method(app.bank, 'createCharge');
  await app.charge(user, { type: 'dynamic', amount: 1 });
  assert.equal(charges.mock.calls[0]?.arguments[2].receiverName, 'Maria Aparecida dos Santo');
});

for (const type of ['dynamic', 'static'] as const) {
  test(`every optional field of a ${type} charge reaches the bank`, async (t) => {
    const isDynamic = type === 'dynamic';
    const user = await givenCustomer(app);
    const charges = t.mock.method(app.bank, 'createCharge');
    const charged = await app.charge(user, {
      type,
      amount: 4.35,
      description: 'Pedido 1042',
      key: '(11) 98765-4321',
      receiver_name: 'Loja da Ana',
      city: 'Recife',
      zipcode: '50030230',
      expiration_qr: 60,
      payer_name: 'Bruno Lima',
      payer_cpf: '529.982.247-25',
      reusable: true,
      code_category: '5411',
      additional_data: [
        { name: 'Pedido', value: '1042', ignored: true },
        { name: 'Mesa', value: '7' },
      ],
    });
    assert.equal(charged.status, 200);
    const [, kind, order] = charges.mock.calls[0]?.arguments ?? [];
    assert.equal(kind, type);
    assert.match(order?.transactionIdentification ?? '', /^[A-Za-z0-9]{26}$/);
    assert.deepEqual(order, {
      transactionIdentification: order?.transactionIdentification,
      key: '+5511987654321',
      amountCents: 435,
      description: 'Pedido 1042',
      receiverName: 'Loja da Ana',
      city: 'Recife',
      zipcode: '50030230',
      // A static charge lasts, and is for any payer.
      expirationSeconds: isDynamic ? 60 : 0,
      payerName: isDynamic ? 'Bruno Lima' : null,
      payerDocument: isDynamic ? '52998224725' : null,
      reusable: true,
      categoryCode: '5411',
      additionalData: [
        { name: 'Pedido', value: '1042' },
        { name: 'Mesa', value: '7' },
      ],
    });
  });
}

test('the identification of 26 alphanumerics is stored before the bank is called', async (t) => {
  const user = await givenCustomer(app);
  const { createCharge } = app.bank;
  let storedBefore: unknown;
  t.mock.method(app.bank, 'createCharge', async (...args: Parameters<typeof createCharge>) => {
    storedBefore = await app.rows(
      'select phase, transaction_identification from pix_transactions where user_id = $1',
      [user.id],
    );
    return createCharge.apply(app.bank, args);
  });
  const charged = await app.charge(user, { type: 'static', amount: 1 });
  const { transaction_identification: identification } = await app.stored(
    charged.body.transaction_id,
  );
  assert.match(identification ?? '', /^[A-Za-z0-9]{26}$/);
  assert.deepEqual(storedBefore, [
    { phase: 'RESERVED', transaction_identification: identification },
  ]);
});

test('a charge is COMPLETED when it is paid, phase by phase', async () => {
  const user = await givenCustomer(app);
  const charged = await app.charge(user, { type: 'dynamic', amount: 10 });
  const { transaction_id: id } = charged.body;
  assert.deepEqual(await app.timeline(id), ['RESERVED', 'ACCEPTED 2xx']);
  const identification = (await app.stored(id)).transaction_identification ?? '';
  const paid = await app.bank.payCharge(identification);
  assert.ok(paid.outcome === 'done');
  const stored = await app.settled(id);
  assert.deepEqual([stored.status, stored.phase], ['COMPLETED', 'SETTLED']);
  assert.equal(stored.end_to_end, paid.value.endToEnd);
  const timeline = ['RESERVED', 'ACCEPTED 2xx', 'SETTLED COMPLETED event'];
  assert.deepEqual(await app.timeline(id), timeline);
});

test('a charge waits for an erasure of its owner, and is not stored', onlyOnServer, async () => {
  const user = await givenCustomer(app);
  const erasure = await app.context.db.em();
  await erasure.begin();
  await erasure.execute('select from users where id = ? for update', [user.id]);
  await erasure.execute("update users set status = 'DISABLED' where id = ?", [user.id]);
  const charged = app.charge(user, { type: 'static', amount: 5 });
  const isWaiting = `select from pg_stat_activity where wait_event_type = 'Lock'
                        and datname = current_database() and query like '%pix_transactions%'`;
  await eventually(async () => (await app.rows(isWaiting)).length > 0, 'the charge that waits');
  await erasure.commit();
  assert.equal((await charged).status, 422);
  const found = await app.rows('select from pix_transactions where user_id = $1', [user.id]);
  assert.equal(found.length, 0);
});
