/** Events as BACEN, Celcoin, Woovi and Efí publish them, over HTTP, and what becomes of each. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { newReturnId } from '../../../src/domain/pix.ts';
import { givenCustomer } from '../../support/factories.ts';
import { confirmed, results, startSettlingApp } from './settling.ts';

const app = await startSettlingApp();
const { customer, givenSend, newEndToEnd, receive, receivedBy, stored } = app;

const [account] = await app.rows<{ document: string }>(
  'select document from accounts where user_id = $1',
  [customer.id],
);
assert.ok(account);
const { document } = account;

async function givenCharge(amount = 12.34, type = 'dynamic') {
  const payee = await givenCustomer(app);
  await app.listEmail(payee);
  const response = await app.charge(payee, { type, amount, key: payee.email });
  const { id, transaction_identification: txid } = await stored(response.body.transaction_id);
  return { id, txid, payee };
}

const readStatus = async ({ id }: { readonly id: string }) => (await stored(id)).status;

/** How many events were counted because no dialect reads them, by reason. */
async function unread(reason: string): Promise<number> {
  const { values } = await app.context.metrics.unreadEvents.get();
  return values.find(({ labels }) => labels.reason === reason)?.value ?? 0;
}

const creditedKey = { pixKey: { pixKey: customer.email } };

for (const [what, payee] of Object.entries({
  'a nested key': { creditParty: creditedKey },
  'a nested document': { creditParty: { holder: { taxID: { taxID: document } } } },
  'a key, named twice': { creditParty: creditedKey, pixKey: customer.email },
})) {
  test(`Woovi: money for ${what} is one received Pix of its holder`, async () => {
    const before = await receivedBy(customer);
    const pix = { value: 200, endToEndId: newEndToEnd(), status: 'CONFIRMED', ...payee };
    const event = { event: 'OPENPIX:TRANSACTION_RECEIVED', charge: null, pix };
    assert.deepEqual(results(await receive(event)), ['applied']);
    assert.deepEqual(results(await receive({ ...event, n: 2 })), ['already']);
    const known = new Set(before.map(({ id }) => id));
    const received = (await receivedBy(customer)).filter(({ id }) => !known.has(id));
    assert.deepEqual(
      received.map(({ amount, end_to_end: id }) => [amount, id]),
      [['2.00', pix.endToEndId]],
    );
  });
}

const unknownKey = 'zoe@example.com';

for (const [what, payee] of Object.entries({
  'a nested key that no customer has': {
    creditParty: { pixKey: { pixKey: unknownKey }, holder: { taxID: { taxID: document } } },
  },
  'two keys': { creditParty: creditedKey, pixKey: unknownKey },
})) {
  test(`Woovi: money for ${what} is no received Pix`, async () => {
    const before = (await receivedBy(customer)).length;
    const pix = { value: 200, endToEndId: newEndToEnd(), status: 'CONFIRMED', ...payee };
    const event = { event: 'OPENPIX:TRANSACTION_RECEIVED', charge: null, pix };
    assert.deepEqual(results(await receive(event)), ['parked: no_match']);
    assert.equal((await receivedBy(customer)).length, before);
  });
}

test('Woovi: money by a static code completes its charge', async () => {
  const charge = await givenCharge(12.34, 'static');
  const pixQrCode = { value: 1234, correlationID: charge.txid };
  const pix = { value: 1234, endToEndId: newEndToEnd(), status: 'CONFIRMED', pixQrCode };
  const event = { event: 'OPENPIX:TRANSACTION_RECEIVED', charge: null, pixQrCode, pix };
  assert.deepEqual(results(await receive(event)), ['applied']);
  assert.equal(await readStatus(charge), 'COMPLETED');
  assert.deepEqual(await receivedBy(charge.payee), []);
});

const discount = { modalidade: 1, descontoDataFixa: [{ data: '2026-06-20', valorPerc: '1.00' }] };

for (const withPix of [true, false]) {
  const what = withPix ? 'with' : 'without';
  test(`BACEN: a cobv with a discount by date is paid before that date, ${what} its Pix`, async () => {
    const charge = await givenCharge();
    const item = { endToEndId: newEndToEnd(), valor: '12.34', horario: '2026-05-24T12:00:00Z' };
    const event = {
      txid: charge.txid,
      status: 'CONCLUIDA',
      valor: {
        original: '12.34',
        desconto: discount,
        multa: { modalidade: 2, valorPerc: '15.00' },
      },
      ...(withPix && { pix: [item] }),
    };
    assert.deepEqual(results(await receive(event)), ['applied']);
    assert.equal(await readStatus(charge), 'COMPLETED');
  });
}

test('BACEN: a cob that is CONCLUIDA with its Pix completes the charge', async () => {
  const charge = await givenCharge();
  const { txid } = charge;
  const horario = '2026-11-25T12:00:00Z';
  const settlement = await receive({
    txid,
    status: 'CONCLUIDA',
    valor: { original: '12.34' },
    pix: [{ endToEndId: newEndToEnd(), txid, valor: '12.34', horario }],
  });
  assert.equal(results(settlement).at(-1), 'applied');
  assert.equal(await readStatus(charge), 'COMPLETED');
});

test('a word that no active dialect lists is ignored and counted, and moves nothing', async () => {
  const send = await givenSend();
  const before = await unread('unknown_status');
  const event = { event: 'PIX_PAYMENT', endToEnd: send.end_to_end, status: 'sent', amount: 10.5 };
  assert.deepEqual(results(await receive(event)), ['ignored: unknown_status']);
  assert.equal((await unread('unknown_status')) - before, 1);
  assert.equal(await readStatus(send), 'PROCESSING');
});

test('Woovi: a charge that somebody else has paid is completed', async () => {
  const charge = await givenCharge();
  const event = 'OPENPIX:CHARGE_COMPLETED_NOT_SAME_CUSTOMER_PAYER';
  const named = { value: 1234, status: 'COMPLETED', correlationID: charge.txid };
  assert.deepEqual(results(await receive({ event, charge: named })), ['applied']);
  assert.equal(await readStatus(charge), 'COMPLETED');
});

test('Woovi: a paid boleto completes no Pix charge, and the Pix that comes later does', async () => {
  const charge = await givenCharge(100);
  const event = 'OPENPIX:CHARGE_COMPLETED';
  const boleto = { value: 10_000, status: 'COMPLETED', correlationID: charge.txid };
  const paid = { ...boleto, paymentMethods: { boleto: {} } };
  assert.deepEqual(results(await receive({ event, charge: paid, boleto })), [
    'ignored: other_method',
  ]);
  assert.equal(await readStatus(charge), 'PROCESSING');
  const pix = { value: 10_000, endToEndId: newEndToEnd(), status: 'CONFIRMED' };
  assert.deepEqual(results(await receive({ event, charge: paid, pix })), ['applied']);
  assert.equal(await readStatus(charge), 'COMPLETED');
});

test('Woovi: a refund that names only its charge is of the payment of a dynamic one', async () => {
  const refunded = 'OPENPIX:TRANSACTION_REFUND_RECEIVED';
  for (const type of ['dynamic', 'static']) {
    const { id, txid } = await givenCharge(12.34, type);
    const charge = { value: 1234, status: 'COMPLETED', correlationID: txid };
    const paid = { value: 1234, endToEndId: newEndToEnd(), status: 'CONFIRMED' };
    await receive({ event: 'OPENPIX:CHARGE_COMPLETED', charge, pix: paid });
    const endToEndId = newReturnId('99999999', app.clock.now());
    const pix = { value: 500, endToEndId, time: app.clock.now().toISOString(), partial: true };
    const event = { event: refunded, charge, pix, refunds: [] };
    const isDynamic = type === 'dynamic';
    const [first, again] = [await receive(event), await receive({ ...event, refunds: null })];
    assert.deepEqual(results(first), [isDynamic ? 'applied' : 'parked: no_match']);
    assert.deepEqual(results(again), [isDynamic ? 'already' : 'parked: no_match']);
    assert.equal((await stored(id)).refunded_amount, isDynamic ? '5.00' : null);
  }
});

test('Woovi: a movement that was removed names the send by its key alone, and fails nothing', async () => {
  const key = randomUUID();
  const send = await givenSend(key);
  const payment = { value: 1050, status: 'REMOVED', correlationID: key };
  const settlement = await receive({ event: 'OPENPIX:MOVEMENT_REMOVED', payment });
  assert.deepEqual(results(settlement), ['parked: weak_id']);
  assert.equal(await readStatus(send), 'PROCESSING');
});

test('Efí: the result of a send in the list of Pix completes it', async () => {
  const key = randomUUID();
  const send = await givenSend(key);
  const gnExtras = { idEnvio: key };
  const item = { endToEndId: send.end_to_end, status: 'REALIZADO', gnExtras, valor: '10.50' };
  assert.deepEqual(results(await receive({ pix: [item] })), ['applied']);
  assert.equal(await readStatus(send), 'COMPLETED');
});

test('Celcoin: a refund because of fraud is one refund once it is closed', async () => {
  const send = await givenSend();
  const { id, end_to_end: endToEnd } = send;
  await receive(confirmed({ endToEnd, amount: 10.5 }));
  const refunds = () =>
    app.rows('select amount from pix_transactions where original_id = $1', [id]);
  const body = {
    id: 'r1',
    refundAmount: 5,
    originalEndToEndId: endToEnd,
    returnIdentification: newReturnId('99999999', app.clock.now()),
  };
  const bare = { entity: 'pix-med-refund', body };
  assert.deepEqual(results(await receive(bare)), ['ignored: unknown_status']);
  assert.deepEqual(results(await receive({ ...bare, status: 'OPEN' })), ['ignored: processing']);
  assert.deepEqual(await refunds(), []);
  assert.deepEqual(results(await receive({ ...bare, status: 'CLOSED' })), ['applied']);
  assert.deepEqual(results(await receive({ ...bare, status: 'CLOSED', n: 2 })), ['already']);
  assert.deepEqual(await refunds(), [{ amount: '5.00' }]);
  assert.equal(await readStatus(send), 'COMPLETED');
});

test('Celcoin: money is received by an account whose numbers have lost their zeros', async () => {
  const payee = await givenCustomer(app);
  await app.listEmail(payee);
  await app.rows(
    `update accounts set agency = '0001', account_number = '0012345', document = '01234567890'
      where user_id = $1`,
    [payee.id],
  );
  const parties = [
    { branch: 1, account: 12345, key: payee.email },
    { branch: '1', account: '0012345' },
    { branch: '1', taxId: 1234567890 },
  ];
  for (const creditParty of parties) {
    const body = { id: randomUUID(), endToEndId: newEndToEnd(), amount: 7.77, creditParty };
    const event = { entity: 'pix-payment-in', status: 'CONFIRMED', body };
    assert.deepEqual(results(await receive(event)), ['applied']);
  }
  const body = { id: randomUUID(), endToEndId: newEndToEnd(), amount: 7.77 };
  const creditParty = { branch: '10', account: '0012345' };
  const other = { entity: 'pix-payment-in', status: 'CONFIRMED', body: { ...body, creditParty } };
  assert.deepEqual(results(await receive(other)), ['parked: no_match']);
  assert.equal((await receivedBy(payee)).length, parties.length);
});

test('BACEN: a masked document of the payee says nothing unless its digits are of another', async () => {
  assert.equal(document, '52998224725');
  for (const [cpf, isOwn] of [
    ['***.982.247-**', true],
    ['***.444.777-**', false],
  ] as const) {
    const before = (await receivedBy(customer)).length;
    const item = { valor: '3.21', recebedor: { cpf } };
    assert.deepEqual(results(await receive(app.pix(item))), ['parked: no_match']);
    const result = results(await receive(app.pix({ ...item, chave: customer.email })));
    assert.deepEqual(result, [isOwn ? 'applied' : 'parked: no_match']);
    assert.equal((await receivedBy(customer)).length, before + (isOwn ? 1 : 0));
    const charged = await app.charge(customer, { type: 'dynamic', amount: 3.21 });
    const { id, transaction_identification: txid } = await stored(charged.body.transaction_id);
    const paid = results(await receive(app.pix({ ...item, txid, chave: customer.email })));
    assert.deepEqual(paid, [isOwn ? 'applied' : 'anomaly: payee_disagrees']);
    assert.equal((await stored(id)).status, isOwn ? 'COMPLETED' : 'PROCESSING');
  }
});

for (const [agency, branch] of [
  ['0001', '0001-9'],
  ['0001-9', '0001-9'],
  ['0001-9', '1'],
] as const) {
  test(`Celcoin: the agency ${agency} is that of the payee where an event says ${branch}`, async () => {
    const charge = await givenCharge();
    const [named] = await app.rows(
      'update accounts set agency = $2 where user_id = $1 returning account_number as account',
      [charge.payee.id, agency],
    );
    const creditParty = { branch, ...named };
    const body = { id: randomUUID(), endToEndId: newEndToEnd(), amount: 12.34, creditParty };
    const paid = { ...body, transactionIdentification: charge.txid };
    const event = { entity: 'pix-payment-in', status: 'CONFIRMED' };
    assert.deepEqual(results(await receive({ ...event, body: paid })), ['applied']);
    assert.equal(await readStatus(charge), 'COMPLETED');
    const without = { ...body, id: randomUUID(), endToEndId: newEndToEnd() };
    assert.deepEqual(results(await receive({ ...event, body: without })), ['applied']);
    assert.equal((await receivedBy(charge.payee)).length, 1);
  });
}

test('Celcoin: a returned payment is one refund, whose event names both parties', async () => {
  const send = await givenSend();
  const { id, end_to_end: originalEndToEndId } = send;
  await receive(confirmed({ endToEnd: originalEndToEndId, amount: 10.5 }));
  const body = {
    id: randomUUID(),
    returnIdentification: newReturnId('99999999', app.clock.now()),
    originalEndToEndId,
    reason: 'MD06',
    amount: 4.05,
    debitParty: { taxId: '93541134780', branch: '0001', account: '7777777' },
    creditParty: { taxId: document, branch: '0001', account: '1' },
  };
  const event = { entity: 'pix-reversal-in', status: 'CONFIRMED', body };
  assert.deepEqual(results(await receive(event)), ['applied']);
  const refunds = await app.rows(
    'select operation, amount from pix_transactions where original_id = $1',
    [id],
  );
  assert.deepEqual(refunds, [{ operation: 'REFUND_IN', amount: '4.05' }]);
  assert.equal(await readStatus(send), 'COMPLETED');
});

for (const [what, payee] of Object.entries({
  key: { chave: 'zoe@example.com' },
  CPF: { recebedor: { cpf: '93541134780' } },
  CNPJ: { recebedor: { cnpj: '11222333000181' } },
  account: { recebedor: { agencia: '0009', conta: '7777777' } },
})) {
  test(`BACEN: a charge that is paid to another ${what} is an anomaly, and stays as it is`, async () => {
    const charge = await givenCharge();
    const paid = app.pix({ txid: charge.txid, valor: '12.34', ...payee });
    assert.deepEqual(results(await receive(paid)), ['anomaly: payee_disagrees']);
    assert.equal(await readStatus(charge), 'PROCESSING');
    assert.deepEqual(await receivedBy(charge.payee), []);
  });
}

for (const [what, payee] of Object.entries({
  'key and account': { branch: '0009', account: '7777777', key: 'zoe@example.com' },
  key: { key: 'zoe@example.com' },
  account: { branch: '0009', account: '7777777' },
  document: { taxId: '93541134780' },
})) {
  test(`Celcoin: a charge that is paid to another ${what} is an anomaly`, async () => {
    const charge = await givenCharge();
    const body = {
      id: randomUUID(),
      endToEndId: newEndToEnd(),
      transactionIdentification: charge.txid,
      amount: 12.34,
      creditParty: payee,
    };
    const event = { entity: 'pix-payment-in', status: 'CONFIRMED', body };
    assert.deepEqual(results(await receive(event)), ['anomaly: payee_disagrees']);
    assert.equal(await readStatus(charge), 'PROCESSING');
    assert.deepEqual(await receivedBy(charge.payee), []);
  });
}

test('an event by the client id that is older than the send never settles it', async () => {
  const key = randomUUID();
  const early = await receive({ status: 'CONFIRMED', clientCode: key, amount: 25 });
  assert.deepEqual(results(early), ['parked: no_match']);
  await app.clock.advance(1_000);
  const send = await givenSend(key, 25);
  await app.clock.advance(60_000);
  assert.deepEqual(results(await app.settle(early.eventId)), ['parked: no_match']);
  assert.equal(await readStatus(send), 'PROCESSING');
});

for (const [what, error] of Object.entries({
  'a listed code': { code: 'AC03' },
  'no code': null,
})) {
  test(`Celcoin: a failure with ${what} of another payment of the provider is an anomaly`, async () => {
    const key = randomUUID();
    const send = await givenSend(key);
    assert.ok(send.provider_txid !== null);
    const body = { id: 'another id', clientCode: key, amount: 10.5 };
    const failed = { entity: 'pix-payment-out', status: 'ERROR', ...(error && { error }), body };
    assert.deepEqual(results(await receive(failed)), ['anomaly: other_provider_id']);
    assert.equal(await readStatus(send), 'PROCESSING');
  });
}
