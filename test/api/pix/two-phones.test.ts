/** Two customers of one service pay each other, each with the client for apps on a phone. */
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import type { PayResult, PonteClient } from '../../../contract/client/index.ts';
import type { SendPixRequest } from '../../../contract/types.ts';
import { calendarDay } from '../../../src/domain/calendar.ts';
import { auditPix } from '../../../src/operator/pix-audit.ts';
import { reconcileUser } from '../../../src/settlement/reconcile-user.ts';
import { findStatementUser } from '../../../src/settlement/reconciliation-repository.ts';
import { eventually } from '../../support/eventually.ts';
import { password } from '../../support/factories.ts';
import { passUntil, unhurriedTimeoutMs } from '../../support/passing-time.ts';
import { giveAll, newPerson, readKyc, register } from '../onboarding/applicants.ts';
import { newClient } from './paying-client.ts';
import { startPixApp } from './pix-app.ts';

const app = await startPixApp({
  environment: { STUB_SETTLE_MS: '1500', PROVIDER_TIMEOUT_MS: String(unhurriedTimeoutMs) },
});

/** A phone in the hands of a customer. */
interface Phone {
  readonly id: number;
  readonly name: string;
  readonly email: string;
  readonly document: string;
  readonly token: string;
  readonly client: PonteClient;
}

/** A person registers as the documentation says, is approved, and logs in. */
async function givenPhone(name: string): Promise<Phone> {
  const person = newPerson({ name });
  const { email, document } = person;
  const { id: application, user_id: id } = await register(app, person);
  await giveAll(app, application);
  assert.equal((await readKyc(app, application)).status, 'APPROVED');
  const client = newClient(app);
  assert.equal((await client.logIn({ email, password })).status, 200);
  return { id, name, email, document, client, token: client.session?.accessToken ?? '' };
}

let ana: Phone;
let bia: Phone;

before(async () => {
  ana = await givenPhone('Ana Souza');
  bia = await givenPhone('Bia Lima');
});

async function read({ token }: Phone, path: string) {
  const { status, body } = await app.call(path, { token });
  assert.equal(status, 200, JSON.stringify(body));
  return body;
}

async function post({ token }: Phone, path: string, body: unknown) {
  const response = await app.call(path, { token, body, key: crypto.randomUUID() });
  assert.ok(response.status < 300, JSON.stringify(response.body));
  return response.body;
}

/** The balance in centavos. */
const balance = async (phone: Phone): Promise<number> =>
  Math.round((await read(phone, '/accounts/balance')).balance * 100);

/** What a payment has changed of the balances, in centavos: Ana's and Bia's. */
async function watchBalances(): Promise<() => Promise<[number, number]>> {
  const [a, b] = [await balance(ana), await balance(bia)];
  return async () => [(await balance(ana)) - a, (await balance(bia)) - b];
}

/** Pays, and returns the receipt of the payer. */
async function pay(phone: Phone, request: SendPixRequest) {
  return receiptOf(phone, await passUntil(app.clock, phone.client.pay(request, { another: true })));
}

async function receiptOf(phone: Phone, result: PayResult) {
  assert.equal(result.result, 'paid', JSON.stringify(result));
  assert.ok('transactionId' in result && result.transactionId !== undefined);
  return read(phone, `/pix/${result.transactionId}/receipt`);
}

/** Waits until a transaction with an id is completed, and returns its receipt. */
async function arrived(
  phone: Phone,
  type: string,
  isIt: (item: Record<string, string>) => boolean,
) {
  const found = await eventually(async () => {
    const { items } = await read(phone, '/pix');
    return items.find(
      (item: Record<string, string>) =>
        item['type'] === type && item['status'] === 'COMPLETED' && isIt(item),
    );
  }, `${type} of ${phone.name}`);
  return read(phone, `/pix/${found.transaction_id}/receipt`);
}

/** The lines of the bank's statement with an end-to-end id, or a return id. */
async function lines(phone: Phone, id: string) {
  const { items } = await read(phone, '/accounts/statement');
  return items.remote
    .filter((line: Record<string, unknown>) => line['endToEnd'] === id || line['returnId'] === id)
    .map(({ type, amount }: Record<string, unknown>) => [type, amount]);
}

const masked = (document: string): string =>
  `***.${document.slice(3, 6)}.${document.slice(6, 9)}-**`;

test('a registered key names its customer, who gets the money under the same id', async () => {
  await post(bia, '/pix/keys', { key_type: 'E_MAIL' });
  const { data: random } = await post(bia, '/pix/keys', {
    key_type: 'EVP_ENDERECO_VIRTUAL_DE_PAGAMENTO',
  });
  for (const key of [bia.email, random.key, bia.document]) {
    const changes = await watchBalances();
    const { name, document } = await post(ana, '/pix/lookup', { pix_key: key });
    assert.deepEqual([name, document], [bia.name, masked(bia.document)]);
    const sent = await pay(ana, { pix_key: key, amount: 150.5 });
    const { end_to_end: endToEnd } = sent;
    const received = await arrived(bia, 'PIX_RECEIVED', (one) => one['end_to_end'] === endToEnd);
    assert.deepEqual(
      [sent.payer.name, sent.payee.name, received.payee.name, received.amount],
      [ana.name, bia.name, bia.name, 150.5],
    );
    assert.equal(sent.payee.document, received.payee.document);
    assert.deepEqual(await changes(), [-15_050, 15_050]);
    assert.deepEqual(await lines(ana, endToEnd), [['PIX_PAYMENT_OUT', 150.5]]);
    assert.deepEqual(await lines(bia, endToEnd), [['PIX_RECEIVED', 150.5]]);
  }
});

/** Bia pays the code of a charge that Ana has made. */
async function payByCode(type: 'static' | 'dynamic'): Promise<void> {
  const changes = await watchBalances();
  const charge = await post(ana, '/pix/charge', { type, amount: 89.9, description: 'Bolo' });
  const { copy_paste: code } = charge;
  const decoded = await post(bia, '/pix/decode', { copy_paste: code });
  const { pix_key: key } = decoded;
  const owner = key && (await post(bia, '/pix/lookup', { pix_key: key }));
  const { name, document } = owner ?? decoded.payee;
  assert.deepEqual([name, document], [ana.name, masked(ana.document)]);
  const { lookup_id: lookUpId } = owner ?? decoded;
  const sent = await pay(bia, { copy_paste: code, lookup_id: lookUpId });
  const isIt = (one: Record<string, string>) => one['end_to_end'] === sent.end_to_end;
  const received = await arrived(ana, 'PIX_CHARGE', isIt);
  assert.equal(received.transaction_id, charge.transaction_id);
  assert.deepEqual([received.amount, sent.payee.name], [89.9, ana.name]);
  assert.deepEqual(await changes(), [8_990, -8_990]);
  assert.deepEqual(await lines(ana, sent.end_to_end), [['PIX_RECEIVED', 89.9]]);
}

test('a static code of one customer is paid by the other: the charge is completed', () =>
  payByCode('static'));

test('a dynamic code of one customer is paid by the other: the charge is completed', () =>
  payByCode('dynamic'));

test('what one customer returns, the other gets back', async () => {
  const sent = await pay(ana, { pix_key: bia.email, amount: 20 });
  const isIt = (one: Record<string, string>) => one['end_to_end'] === sent.end_to_end;
  const received = await arrived(bia, 'PIX_RECEIVED', isIt);
  const changes = await watchBalances();
  const part = { amount: 8, reason: 'WRONG_AMOUNT' } as const;
  const made = await passUntil(app.clock, bia.client.refund(received.transaction_id, part));
  const returned = await receiptOf(bia, made);
  const isReturn = (one: Record<string, string>) => one['return_id'] === returned.return_id;
  const back = await arrived(ana, 'PIX_REFUND_IN', isReturn);
  assert.deepEqual(
    [back.amount, back.end_to_end, back.original_transaction_id, back.payer.name],
    [8, sent.end_to_end, sent.transaction_id, bia.name],
  );
  assert.deepEqual(await changes(), [800, -800]);
  for (const [phone, id] of [
    [ana, sent.transaction_id],
    [bia, received.transaction_id],
  ] as const) {
    assert.equal((await read(phone, `/pix/${id}/receipt`)).refunded_amount, 8);
  }
  assert.deepEqual(await lines(ana, returned.return_id), [['PIX_REFUND_IN', 8]]);
  assert.deepEqual(await lines(bia, returned.return_id), [['PIX_REFUND_OUT', 8]]);
});

test('a dispute that the bank accepts takes the money from the one who was paid', async () => {
  const sent = await pay(ana, { pix_key: bia.email, amount: 30 });
  const changes = await watchBalances();
  const { transaction_id: id, end_to_end: endToEnd } = sent;
  await post(ana, `/pix/${id}/dispute`, { situation: 'SCAM', details: 'Não é a Bia.' });
  await app.clock.advance(1_500);
  const isIt = (one: Record<string, string>) => one['end_to_end'] === endToEnd;
  const back = await arrived(ana, 'PIX_REFUND_IN', isIt);
  const taken = await arrived(bia, 'PIX_REFUND_OUT', isIt);
  assert.deepEqual([back.amount, taken.amount], [30, 30]);
  assert.equal(back.return_id, taken.return_id);
  assert.equal((await read(ana, `/pix/${id}/dispute`)).status, 'ACCEPTED');
  assert.deepEqual(await changes(), [3_000, -3_000]);
});

test('a key that no customer has is at another bank; a CNPJ is a company', async () => {
  const changes = await watchBalances();
  const owner = async (key: string) => {
    const { name, document } = await post(ana, '/pix/lookup', { pix_key: key });
    return [name, document];
  };
  const stranger = 'Recebedor de Teste';
  assert.deepEqual(await owner('bruno@example.com'), [stranger, '***.456.789-**']);
  assert.deepEqual(await owner('529.982.247-25'), [stranger, '***.982.247-**']);
  assert.deepEqual(await owner('11.222.333/0001-81'), [
    'Empresa de Teste Ltda',
    '**.222.333/0001-**',
  ]);
  await pay(ana, { pix_key: 'bruno@example.com', amount: 5 });
  assert.deepEqual(await changes(), [-500, 0]);
});

test('neither the statements of the bank nor an audit differ from what is stored', async () => {
  const [first, caller] = [calendarDay(app.clock.now()), { operator: '', progress: () => {} }];
  for (const { id } of [ana, bia]) {
    const user = await findStatementUser(app.context, id);
    assert.ok(user);
    const result = await reconcileUser(app.context, user, { first, last: first, options: {} });
    assert.ok(result.state === 'READ' && result.lines > 5);
    assert.deepEqual([result.settled, result.differences], [[], []]);
  }
  const { invariants } = await auditPix.run(app.context, {}, caller);
  assert.deepEqual(
    invariants.filter(({ broken }) => broken > 0),
    [],
  );
});

test('what a customer pays to the own account comes back, as from another bank', async () => {
  const changes = await watchBalances();
  const { copy_paste: code } = await post(ana, '/pix/charge', { type: 'static', amount: 7 });
  const sent = await pay(ana, { copy_paste: code });
  const received = await arrived(ana, 'PIX_CHARGE', (one) => Number(one['amount']) === 7);
  assert.notEqual(received.end_to_end, sent.end_to_end);
  assert.deepEqual(await changes(), [0, 0]);
});
