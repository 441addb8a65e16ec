/** Settling the provider's reports of received money: paid charges, and PIX without a charge. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { done } from '../../../src/provider/sandbox/bank/response.ts';
import { givenCustomer, givenUser, type TestUser } from '../../support/factories.ts';
import { results, startSettlingApp } from './settling.ts';

const app = await startSettlingApp();
const { receive, stored, customer } = app;

const { newEndToEnd, pix, receivedBy } = app;

async function givenCharge(body: Record<string, unknown> = {}) {
  const response = await app.charge(customer, { type: 'dynamic', amount: 20, ...body });
  assert.equal(response.status, 200);
  const charge = await stored(response.body.transaction_id);
  assert.ok(charge.transaction_identification !== null);
  return { ...charge, transaction_identification: charge.transaction_identification };
}

test('a charge that is paid is completed, with the end-to-end id of the payment', async () => {
  const charge = await givenCharge();
  const paid = await app.bank.payCharge(charge.transaction_identification);
  assert.ok(paid.outcome === 'done');
  const [eventId = ''] = await app.unsettled();
  assert.deepEqual(results(await app.settle(eventId)), ['applied']);
  const { status, phase, end_to_end: endToEnd, outcome } = await stored(charge.id);
  assert.deepEqual(
    [status, phase, endToEnd, outcome],
    ['COMPLETED', 'SETTLED', paid.value.endToEnd, 'accepted'],
  );
  assert.deepEqual(await receivedBy(customer), []);
});

test('a charge is completed by its identification alone, in any usual spelling', async () => {
  for (const name of ['txid', 'transactionIdentification', 'transaction_identification']) {
    const charge = await givenCharge();
    const event = { event: 'CHARGE_COMPLETED', [name]: charge.transaction_identification };
    assert.deepEqual(results(await receive(event)), ['applied']);
    assert.equal((await stored(charge.id)).status, 'COMPLETED');
  }
});

test('a charge whose making was not heard of is completed when it is paid', async () => {
  const charge = await givenCharge();
  await app.rows(
    `update pix_transactions set phase = 'RESERVED', outcome = null, provider_txid = null
      where id = $1`,
    [charge.id],
  );
  const settlement = await receive(
    pix({ txid: charge.transaction_identification, valor: '20.00' }),
  );
  assert.deepEqual(results(settlement), ['applied']);
  const { status, outcome } = await stored(charge.id);
  assert.deepEqual([status, outcome], ['COMPLETED', 'accepted']);
});

test('a charge paid with another amount is an anomaly and stays open', async () => {
  const charge = await givenCharge();
  const settlement = await receive(
    pix({ txid: charge.transaction_identification, valor: '19.99' }),
  );
  assert.deepEqual(results(settlement), ['anomaly: amount_mismatch']);
  assert.deepEqual(await stored(charge.id), charge);
});

test('the payment of a charge that failed is an anomaly, and has come in', async () => {
  const before = (await receivedBy(customer)).length;
  const charge = await givenCharge();
  await app.rows(
    `update pix_transactions set status = 'FAILED', phase = 'SETTLED', settled_at = updated_at
      where id = $1`,
    [charge.id],
  );
  const settlement = await receive(
    pix({ txid: charge.transaction_identification, valor: '20.00' }),
  );
  assert.deepEqual(results(settlement), ['anomaly: contradicts_final_status']);
  assert.equal((await stored(charge.id)).status, 'FAILED');
  assert.equal((await receivedBy(customer)).length - before, 1);
});

test('a failure to receive is ignored: the charge may be paid still', async () => {
  const charge = await givenCharge();
  const txid = charge.transaction_identification;
  const settlement = await receive({ event: 'PIX_RECEIVED', txid, status: 'ERROR' });
  assert.deepEqual(results(settlement), ['ignored: not_received']);
  assert.equal((await stored(charge.id)).status, 'PROCESSING');
});

test('each further payment of a reusable charge is a PIX received', async () => {
  const payee = await givenCustomer(app);
  const charged = await app.charge(payee, { type: 'static', amount: 20, reusable: true });
  const charge = await stored(charged.body.transaction_id);
  const payments = [];
  for (let nth = 0; nth < 3; nth += 1) {
    const paid = await app.bank.payCharge(charge.transaction_identification ?? '');
    assert.ok(paid.outcome === 'done');
    payments.push(paid.value.endToEnd);
  }
  for (const eventId of await app.unsettled()) {
    assert.deepEqual(results(await app.settle(eventId)), ['applied']);
  }
  const received = await receivedBy(payee);
  const settled = [await stored(charge.id), ...received].map(({ end_to_end: id }) => id);
  assert.deepEqual(new Set(settled), new Set(payments));
  assert.deepEqual(
    received.map(({ amount }) => amount),
    ['20.00', '20.00'],
  );
  const statement = await app.call('/accounts/statement', { token: payee.token });
  const types = statement.body.items.local.map(({ type }: { type: string }) => type);
  assert.deepEqual(types.sort(), ['PIX_CHARGE', 'PIX_RECEIVED', 'PIX_RECEIVED']);
});

test('a static charge is completed by the 25 characters that its code has room for', async () => {
  const charge = await givenCharge({ type: 'static' });
  const txid = charge.transaction_identification.slice(0, 25);
  assert.deepEqual(results(await receive(pix({ txid, valor: '20.00' }))), ['applied']);
  assert.equal((await stored(charge.id)).status, 'COMPLETED');
});

test('a further payment that names no payee is received by the owner of the charge', async () => {
  const payee = await givenCustomer(app);
  const charged = await app.charge(payee, { type: 'static', amount: 20, reusable: true });
  const { transaction_identification: txid } = await stored(charged.body.transaction_id);
  assert.deepEqual(results(await receive(pix({ txid, valor: '20.00' }))), ['applied']);
  assert.deepEqual(results(await receive(pix({ txid, valor: '20.00' }))), ['applied']);
  assert.equal((await receivedBy(payee)).length, 1);
});

test('two payments of one charge that are settled at the same time both count', async () => {
  const payee = await givenCustomer(app);
  for (let round = 0; round < 5; round += 1) {
    const charged = await app.charge(payee, { type: 'static', amount: 20, reusable: true });
    const charge = await stored(charged.body.transaction_id);
    const before = (await receivedBy(payee)).length;
    await app.bank.payCharge(charge.transaction_identification ?? '');
    await app.bank.payCharge(charge.transaction_identification ?? '');
    const settled = await Promise.all((await app.unsettled()).map((id) => app.settle(id)));
    assert.deepEqual(settled.map(results), [['applied'], ['applied']]);
    assert.equal((await stored(charge.id)).status, 'COMPLETED');
    assert.equal((await receivedBy(payee)).length - before, 1);
  }
});

test('the payment of a charge reported again, with or without the charge, is not received twice', async () => {
  const payee = await givenCustomer(app);
  const charged = await app.charge(payee, { type: 'dynamic', amount: 20 });
  const { transaction_identification: txid } = await stored(charged.body.transaction_id);
  const [endToEndId, valor] = [newEndToEnd(), '20.00'];
  assert.deepEqual(results(await receive(pix({ endToEndId, txid, valor }))), ['applied']);
  assert.deepEqual(results(await receive(pix({ endToEndId, txid, valor, n: 2 }))), ['already']);
  const withoutCharge = pix({ endToEndId, chave: payee.email, valor });
  assert.deepEqual(results(await receive(withoutCharge)), ['already']);
  assert.deepEqual(await receivedBy(payee), []);
});

test('a payment that was recorded before its charge was named is shown once, as the charge', async () => {
  const payee = await givenCustomer(app);
  await app.listEmail(payee);
  const charged = await app.charge(payee, { type: 'dynamic', amount: 20 });
  const { id, transaction_identification: txid } = await stored(charged.body.transaction_id);
  const [endToEndId, valor] = [newEndToEnd(), '20.00'];
  assert.deepEqual(results(await receive(pix({ endToEndId, chave: payee.email, valor }))), [
    'applied',
  ]);
  assert.deepEqual(results(await receive(pix({ endToEndId, txid, valor }))), ['applied']);
  assert.equal((await stored(id)).status, 'COMPLETED');
  const statement = await app.call('/accounts/statement', { token: payee.token });
  const types = statement.body.items.local.map(({ type }: { type: string }) => type);
  assert.deepEqual(types, ['PIX_CHARGE']);
});

test('one payment that names two charges completes one and is an anomaly for the other', async () => {
  const [first, second, third] = [await givenCharge(), await givenCharge(), await givenCharge()];
  const [endToEndId, valor] = [newEndToEnd(), '20.00'];
  const settlement = await receive({
    pix: [
      { endToEndId, txid: first.transaction_identification, valor },
      { endToEndId, txid: second.transaction_identification, valor },
      { endToEndId: newEndToEnd(), txid: third.transaction_identification, valor },
    ],
  });
  assert.equal(settlement.status, 'anomaly');
  const [one, other, last] = results(settlement);
  assert.deepEqual([one, other, last], ['applied', 'anomaly: breaks_a_constraint', 'applied']);
  assert.equal((await app.timeline(second.id)).at(-1), 'ANOMALY breaks_a_constraint event');
  assert.equal((await stored(second.id)).status, 'PROCESSING');
});

interface StoredAccount {
  readonly document: string;
  readonly agency: string;
  readonly account_number: string;
}

async function readAccount({ id }: TestUser): Promise<StoredAccount> {
  const [account] = await app.rows<StoredAccount>(
    'select document, agency, account_number from accounts where user_id = $1',
    [id],
  );
  assert.ok(account);
  return account;
}

let nextAmount = 1;

/** The result of a received PIX with such a payee. */
async function receivedAs(party: Record<string, unknown>): Promise<string[]> {
  nextAmount += 1;
  const event = { event: 'PIX_RECEIVED', endToEnd: newEndToEnd(), amount: nextAmount, ...party };
  return results(await receive(event));
}

test('a PIX without a charge is recorded for the account that every identifier names', async () => {
  const payee = await givenCustomer(app, { phone: '+5521912345678', document: '11144477735' });
  await app.listEmail(payee);
  const { document, agency, account_number: accountNumber } = await readAccount(payee);
  const named: readonly Record<string, unknown>[] = [
    { creditParty: { document } },
    { creditParty: { taxId: document.replace(/(\d{3})(\d{3})(\d{3})/, '$1.$2.$3-') } },
    { receiver: { agency, accountNumber } },
    { receiver: { branch: agency, account: accountNumber, document, key: payee.email } },
    { chave: payee.email.toUpperCase() },
    { chave: document },
  ];
  for (const party of named) {
    assert.deepEqual(await receivedAs(party), ['applied'], JSON.stringify(party));
  }
  const received = await receivedBy(payee);
  assert.equal(received.length, named.length);
  assert.deepEqual(await app.timeline(received[0]?.id ?? ''), ['SETTLED event']);
  const seen = await app.view(payee, received[0]?.id ?? '');
  assert.deepEqual([seen.status, seen.body.status], [200, 'COMPLETED']);
});

test('a PIX is no user’s where one identifier disagrees or none proves anything', async () => {
  const [payee, other] = [
    await givenCustomer(app, { phone: '+5521912345679' }),
    await givenCustomer(app),
  ];
  await app.listEmail(payee);
  const { document, agency, account_number: accountNumber } = await readAccount(payee);
  const others = await readAccount(other);
  const unproved: readonly Record<string, unknown>[] = [
    // Typed at registration, and not listed by the provider.
    { chave: other.email },
    { chave: '+5521912345679' },
    { receiver: { accountNumber } },
    { receiver: { agency: '0002', accountNumber } },
    { receiver: { agency, accountNumber, document: others.document } },
    { receiver: { agency, accountNumber }, chave: other.email },
  ];
  for (const party of unproved) {
    assert.deepEqual(await receivedAs(party), ['parked: no_match'], JSON.stringify(party));
  }
  const contradictory: readonly Record<string, unknown>[] = [
    { receiver: { document, key: payee.email }, chave: others.document },
    { receiver: { document, taxId: others.document } },
  ];
  for (const party of contradictory) {
    assert.deepEqual(await receivedAs(party), ['parked: no_match']);
  }
  for (const user of [payee, other]) assert.deepEqual(await receivedBy(user), []);
});

test('a key counts for an account from its creation or its listing to its deletion', async () => {
  const payee = await givenCustomer(app);
  assert.deepEqual(await receivedAs({ chave: payee.email }), ['parked: no_match']);
  await app.call('/pix/keys', { token: payee.token, body: { key_type: 'E_MAIL' } });
  assert.deepEqual(await receivedAs({ chave: payee.email }), ['applied']);
  await app.rows('update accounts set pix_keys = null where user_id = $1', [payee.id]);
  assert.deepEqual(await receivedAs({ chave: payee.email }), ['parked: no_match']);
  await app.call('/pix/keys', { token: payee.token });
  assert.deepEqual(await receivedAs({ chave: payee.email }), ['applied']);
  const body = { key: payee.email };
  await app.call('/pix/keys', { method: 'DELETE', token: payee.token, body });
  assert.deepEqual(await receivedAs({ chave: payee.email }), ['parked: no_match']);
});

test('a further payment of a charge that names another account is recorded for no user', async () => {
  const [payee, other] = [await givenCustomer(app), await givenCustomer(app)];
  const charged = await app.charge(payee, { type: 'static', amount: 20, reusable: true });
  const { transaction_identification: txid } = await stored(charged.body.transaction_id);
  assert.deepEqual(results(await receive(pix({ txid, valor: '20.00' }))), ['applied']);
  const { document } = await readAccount(other);
  assert.deepEqual(results(await receive(pix({ txid, valor: '20.00', chave: document }))), [
    'parked: no_match',
  ]);
  for (const user of [payee, other]) assert.deepEqual(await receivedBy(user), []);
});

test('of two accounts that list a key, the newest listing counts', async (t) => {
  const [first, second] = [await givenCustomer(app), await givenCustomer(app)];
  const key = 'moved@example.com';
  const list = async (user: TestUser, keys: readonly string[]) => {
    const listed = t.mock.method(app.bank, 'listKeys', () => done({ keys }));
    assert.equal((await app.call('/pix/keys', { token: user.token })).status, 200);
    listed.mock.restore();
  };
  const owners = async () => [(await receivedBy(first)).length, (await receivedBy(second)).length];
  await list(first, [key, first.email]);
  assert.deepEqual(await receivedAs({ chave: key }), ['applied']);
  await list(second, [key]);
  assert.deepEqual(await receivedAs({ chave: key }), ['applied']);
  assert.deepEqual(await owners(), [1, 1]);
  assert.deepEqual(await receivedAs({ chave: first.email }), ['applied']);
  assert.deepEqual(await owners(), [2, 1]);
  await list(first, [key]);
  assert.deepEqual(await receivedAs({ chave: key }), ['applied']);
  assert.deepEqual(await owners(), [3, 1]);
});

test('a charge whose key has moved to another account is not completed by it', async () => {
  const [payee, other] = [await givenCustomer(app), await givenCustomer(app)];
  await app.listEmail(payee);
  const charged = await app.charge(payee, { type: 'dynamic', amount: 20, key: payee.email });
  const { id, transaction_identification: txid } = await stored(charged.body.transaction_id);
  const keys = async ({ id: userId }: TestUser, list: readonly string[]) =>
    app.rows('update accounts set pix_keys = $2 where user_id = $1', [userId, list]);
  await keys(payee, []);
  await keys(other, [payee.email]);
  const paid = { txid, valor: '20.00', chave: payee.email };
  assert.deepEqual(results(await receive(pix(paid))), ['anomaly: payee_disagrees']);
  assert.equal((await stored(id)).status, 'PROCESSING');
});

for (const [what, choosePayee] of Object.entries({
  'a key of nobody here': () => ({ chave: 'zoe@example.com' }),
  'a document of nobody here': () => ({ recebedor: { cpf: '93541134780' } }),
  'an account of nobody here': () => ({ recebedor: { agency: '0009', account: '7777777' } }),
  "another user's account in every part": ({ document, agency, account_number: account }) => ({
    recebedor: { document, agency, account },
  }),
  'its own key and a document of nobody here': (_, { email }) => ({
    chave: email,
    recebedor: { cpf: '93541134780' },
  }),
} satisfies Record<string, PayeeOf>)) {
  test(`a charge is not completed by money for ${what}`, async () => {
    const [payee, other] = [await givenCustomer(app), await givenCustomer(app)];
    const charged = await app.charge(payee, { type: 'dynamic', amount: 20, key: payee.email });
    const { id, transaction_identification: txid } = await stored(charged.body.transaction_id);
    const named = choosePayee(await readAccount(other), payee);
    const paid = { txid, valor: '20.00', ...named };
    assert.deepEqual(results(await receive(pix(paid))), ['anomaly: payee_disagrees']);
    assert.equal((await stored(id)).status, 'PROCESSING');
    assert.equal((await app.timeline(id)).at(-1), 'ANOMALY payee_disagrees event');
    for (const user of [payee, other]) assert.deepEqual(await receivedBy(user), []);
    const { document, agency, account_number: account } = await readAccount(payee);
    const right = { txid, valor: '20.00', chave: payee.email.toUpperCase() };
    const ofOwner = {
      ...right,
      recebedor: { document, agency: agency.replace(/^0+/, ''), account },
    };
    assert.deepEqual(results(await receive(pix(ofOwner))), ['applied']);
  });
}

type PayeeOf = (
  other: Awaited<ReturnType<typeof readAccount>>,
  payee: TestUser,
) => Record<string, unknown>;

test('a static charge that is paid once more without an end-to-end id is for an operator', async () => {
  const payee = await givenCustomer(app);
  const charged = await app.charge(payee, { type: 'static', amount: 20 });
  const { id, transaction_identification: txid } = await stored(charged.body.transaction_id);
  const paid = (more: Record<string, unknown>) =>
    receive({ event: 'PIX_RECEIVED', txid, amount: 20, ...more });
  assert.deepEqual(results(await paid({ id: 'p-1' })), ['applied']);
  assert.deepEqual(results(await paid({ id: 'p-1', note: 'again' })), ['already']);
  const unnamed = ['anomaly: paid_again_without_id'];
  for (const more of [{ id: 'p-2' }, { note: 'a third, or none' }]) {
    assert.deepEqual(results(await paid(more)), unnamed);
    assert.equal((await app.timeline(id)).at(-1), 'ANOMALY paid_again_without_id event');
  }
  assert.deepEqual(await receivedBy(payee), []);
  const endToEnd = app.newEndToEnd();
  assert.deepEqual(results(await paid({ id: 'p-2', endToEnd })), ['applied']);
  const [recorded, ...others] = await receivedBy(payee);
  assert.deepEqual([recorded?.amount, recorded?.end_to_end, others], ['20.00', endToEnd, []]);
  assert.equal((await stored(id)).status, 'COMPLETED');
});

test('a received PIX is dated by its event, within bounds, and else by its receipt', async () => {
  const now = app.clock.now().getTime();
  const [minute, day] = [60_000, 24 * 60 * 60_000];
  const dates = [
    [now - 3 * day, now - 3 * day],
    [now - 90 * day, now - 90 * day],
    [now - 90 * day - minute, now],
    [now + 5 * minute, now + 5 * minute],
    [now + 6 * minute, now],
  ] as const;
  const payee = await givenCustomer(app);
  const { document: chave } = await readAccount(payee);
  for (const [settlement, dated] of dates) {
    const horario = new Date(settlement).toISOString();
    const { items } = await receive(pix({ chave, valor: '3.00', horario }));
    const [row] = await app.rows<{ created_at: Date; settled_at: Date }>(
      'select created_at, settled_at from pix_transactions where id = $1',
      [items[0]?.transactionId],
    );
    assert.deepEqual([row?.created_at.getTime(), row?.settled_at.getTime()], [dated, now], horario);
  }
  // A time without an offset; times that the database does not have, such as a platform's largest.
  const undated = ['2026-05-24T12:00:00', '9999-12-31T23:59:59-03:00', '0000-01-01T00:00:00Z'];
  for (const horario of [...undated, '-000001-01-01T00:00:00Z', '+200000-01-01T00:00:00Z']) {
    const { items } = await receive(pix({ chave, valor: '3.00', horario }));
    const [row] = await app.rows<{ created_at: Date }>(
      'select created_at from pix_transactions where id = $1',
      [items[0]?.transactionId],
    );
    assert.equal(row?.created_at.getTime(), now, horario);
  }
});

test('a PIX is received once, however often it is reported, even at the same time', async () => {
  const payee = await givenCustomer(app);
  await app.listEmail(payee);
  const endToEnd = newEndToEnd();
  const event = (n: number) => ({
    event: 'PIX_RECEIVED',
    endToEnd,
    amount: 5,
    key: payee.email,
    n,
  });
  const ids = [];
  for (let nth = 0; nth < 4; nth += 1) ids.push(await app.deliver(event(nth)));
  const settled = await Promise.all(ids.map((id) => app.settle(id)));
  assert.deepEqual(settled.flatMap(results).sort(), ['already', 'already', 'already', 'applied']);
  assert.equal((await receivedBy(payee)).length, 1);
});

test('a PIX between two users is a send of the one and received by the other', async () => {
  const payee = await givenCustomer(app);
  await app.listEmail(payee);
  const send = await app.givenSend();
  const received = {
    event: 'PIX_RECEIVED',
    endToEnd: send.end_to_end,
    amount: 10.5,
    key: payee.email,
  };
  assert.deepEqual(results(await receive(received)), ['applied']);
  assert.equal((await stored(send.id)).status, 'PROCESSING');
  assert.equal((await receivedBy(payee)).length, 1);
});

test('a send that is reported under `pix` with its key is settled, and received by the owner of the key', async () => {
  const payee = await givenCustomer(app, { email: 'reported-under-pix@example.com' });
  await app.listEmail(payee);
  for (const isWrong of [true, false]) {
    const body = { pix_key: payee.email, amount: 10.5 };
    const sent = await app.send(customer, body);
    const send = await stored(sent.body.transaction_id);
    const valor = isWrong ? '10.51' : '10.50';
    const item = { endToEndId: send.end_to_end, chave: payee.email.toUpperCase(), valor };
    assert.deepEqual(results(await receive(pix(item))), [
      isWrong ? 'anomaly: amount_mismatch' : 'applied',
    ]);
    assert.deepEqual(results(await receive(pix({ ...item, n: 2 }))), [
      isWrong ? 'anomaly: amount_mismatch' : 'already',
    ]);
    assert.equal((await stored(send.id)).status, isWrong ? 'PROCESSING' : 'COMPLETED');
    assert.equal((await receivedBy(payee)).length, isWrong ? 0 : 1);
  }
});

test('a send that has failed and is reported under `pix` is corrected, and received', async () => {
  const payee = await givenCustomer(app, { email: 'failed-under-pix@example.com' });
  await app.listEmail(payee);
  const sent = await app.send(customer, { pix_key: payee.email, amount: 10.5 });
  const send = await stored(sent.body.transaction_id);
  const error = { code: 'AC03' };
  const failed = { endToEnd: send.end_to_end, amount: 10.5, status: 'FAILED', error };
  assert.deepEqual(results(await receive({ event: 'PIX_PAYMENT', ...failed })), ['applied']);
  const item = { endToEndId: send.end_to_end, chave: payee.email, valor: '10.50' };
  for (const [n, expected] of ['anomaly: corrected', 'already'].entries()) {
    assert.deepEqual(results(await receive(pix({ ...item, n }))), [expected]);
  }
  assert.equal((await stored(send.id)).status, 'COMPLETED');
  assert.equal((await receivedBy(payee)).length, 1);
});

test('a send to a key that is no user’s is settled under `pix`, and received by no user', async () => {
  const sent = await app.send(customer, { pix_key: 'elsewhere@example.com', amount: 10.5 });
  const send = await stored(sent.body.transaction_id);
  const item = { endToEndId: send.end_to_end, chave: 'elsewhere@example.com', valor: '10.50' };
  assert.deepEqual(results(await receive(pix(item))), ['applied']);
  assert.equal((await stored(send.id)).status, 'COMPLETED');
  assert.deepEqual(
    await app.rows(
      `select id from pix_transactions where operation = 'RECEIVED'
    and end_to_end = $1`,
      [send.end_to_end],
    ),
    [],
  );
});

test('a PIX with too few fields is parked: half a match credits no user', async () => {
  const payee = await givenCustomer(app);
  const [one, other] = [await givenUser(app), await givenUser(app)];
  for (const { id } of [one, other]) {
    await app.rows(
      `insert into accounts (user_id, provider, document, status, created_at, updated_at)
       values ($1, 'provider', '11222333000181', 'ACTIVE', now(), now())`,
      [id],
    );
  }
  const events = [
    { endToEnd: newEndToEnd(), amount: 5, key: 'nobody@example.com' },
    { endToEnd: newEndToEnd(), key: payee.email },
    { id: randomUUID(), amount: 5, key: payee.email },
    { endToEnd: newEndToEnd(), amount: 5 },
    // Two users hold an account of this document.
    { endToEnd: newEndToEnd(), amount: 5, creditParty: { document: '11222333000181' } },
    // The payer's own document does not make the payer the payee.
    { endToEnd: newEndToEnd(), amount: 5, debitParty: { document: '11222333000181' } },
  ];
  for (const event of events) {
    const settlement = await receive({ event: 'PIX_RECEIVED', ...event });
    assert.deepEqual([settlement.status, ...results(settlement)], ['parked', 'parked: no_match']);
  }
  for (const user of [payee, one, other]) assert.deepEqual(await receivedBy(user), []);
});
