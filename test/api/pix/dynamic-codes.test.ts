/** Dynamic Pix codes: what the payee's bank says about them, and their payment. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test, type TestContext } from 'node:test';
import type { NewCode } from '../../../src/provider/sandbox/bank/codes.ts';
import { encodeDynamicBrCode } from '../../../src/provider/sandbox/bank/br-code.ts';
import { faulty } from '../../../src/provider/sandbox/bank/response.ts';
import { correctTransaction } from '../../../src/ledger/correction-repository.ts';
import { givenCustomer, type TestUser } from '../../support/factories.ts';
import { mockQueries, type RunAny } from '../../support/intercepted.ts';
import { leaveLookUps, startPixApp, type PixApp } from './pix-app.ts';
import { blockByPayment } from './pix-app-loss.ts';

const app = await startPixApp();
const off = await startPixApp({ environment: { PROVIDER_FEATURES: 'none' } });

const minuteMs = 60_000;

/** Makes a charge of another bank. */
function makeCode(wish: NewCode = {}, { bank }: PixApp = app) {
  const made = bank.makeCode(wish);
  assert.equal(made.outcome, 'done');
  return made.value;
}

const decode = (user: TestUser, code: string, { call }: PixApp = app) =>
  call('/pix/decode', { token: user.token, body: { copy_paste: code } });

/** A customer who has read a code. */
async function givenReader(wish: NewCode = {}) {
  const user = await givenCustomer(app);
  const { copyPaste, txid } = makeCode(wish);
  const { status, body } = await decode(user, copyPaste);
  assert.equal(status, 200, JSON.stringify(body));
  const order = { copy_paste: copyPaste, lookup_id: body.lookup_id };
  return { user, txid, copyPaste, read: body, order };
}

const portuguese = { 'Accept-Language': 'pt-BR' };

test('a charge says who is paid, how much, and what for', async () => {
  const { read, txid, copyPaste } = await givenReader({ description: 'Pedido 1234' });
  const { lookup_id: lookUpId, expires_at: expiresAt, url, charge_expires_at: endsAt } = read;
  assert.match(copyPaste, new RegExp(url));
  assert.ok(lookUpId.length > 100 && lookUpId.length <= 2048);
  const nowMs = app.clock.now().getTime();
  assert.equal(Date.parse(expiresAt), nowMs + 5 * minuteMs);
  assert.equal(Date.parse(endsAt), nowMs + 24 * 60 * minuteMs);
  assert.deepEqual(read, {
    kind: 'dynamic',
    one_time: true,
    url,
    state: 'PAYABLE',
    payee: {
      name: 'Loja de Teste',
      document: '**.222.333/0001-**',
      // No participant has it.
      bank: { ispb: '88888888', name: null },
      institution: '88888888',
    },
    txid,
    description: 'Pedido 1234',
    amount: 10,
    amount_changeable: false,
    original_amount: 10,
    charge_expires_at: endsAt,
    lookup_id: lookUpId,
    expires_at: expiresAt,
    payee_name: 'LOJA DE TESTE',
    payee_city: 'SAO PAULO',
  });
});

test('a charge with a due date says what today consists of', async () => {
  const { read } = await givenReader({
    amountCents: 10_000,
    dueDate: '2026-05-20',
    discountCents: 50,
    interestCents: 120,
    fineCents: 200,
  });
  const { amount, original_amount: original, discount, interest, fine, due_date: due } = read;
  const parts = { amount, original, discount, interest, fine, due };
  const today = { amount: 102.7, original: 100, discount: 0.5, interest: 1.2, fine: 2 };
  assert.deepEqual(parts, { ...today, due: '2026-05-20' });
  assert.ok(!('charge_expires_at' in read));
});

test('a changeable amount has its bounds', async () => {
  const { read } = await givenReader({ isChangeable: true, minCents: 500, maxCents: 2_000 });
  const { amount_changeable: isChangeable, minimum_amount: least, maximum_amount: most } = read;
  assert.deepEqual([isChangeable, least, most], [true, 5, 20]);
});

const endings = [
  ['paid', 'PAID', /has been paid/, /já foi pago/],
  ['expired', 'EXPIRED', /has expired/, /expirou/],
  ['removed', 'REMOVED', /has cancelled/, /cancelou/],
] as const;
for (const [state, shown, english, localised] of endings) {
  test(`a code that is ${state} says so when it is read, and when it is to be paid`, async () => {
    const { user, read, order } = await givenReader({ state });
    assert.equal(read.state, shown);
    const refused = await app.send(user, order);
    assert.equal(refused.status, 422);
    assert.match(refused.body.errors.copy_paste[0], english);
    assert.equal(refused.headers.get('pix-outcome'), 'not_sent');
    const inPortuguese = await app.send(user, order, { headers: portuguese });
    assert.match(inPortuguese.body.errors.copy_paste[0], localised);
    assert.equal(await app.countMade(user), 0);
  });

  test(`a code that is ${state} when its old look-up is replaced is not paid`, async () => {
    const { user, txid, order } = await givenReader();
    await app.clock.skip(5 * minuteMs);
    assert.ok(app.bank.endCode(txid, state));
    const refused = await app.send(user, order, { key: state });
    assert.equal(refused.status, 422);
    assert.match(refused.body.errors.copy_paste[0], english);
    assert.equal(refused.headers.get('pix-outcome'), 'not_sent');
    const { body } = await app.send(user, order, { key: state });
    assert.equal(body.status, 'FAILED');
    const timeline = await app.timeline(body.transaction_id);
    assert.deepEqual(timeline, ['RESERVED', 'SETTLED code_changed']);
    const receipt = await app.call(`/pix/${body.transaction_id}/receipt`, { token: user.token });
    assert.equal(receipt.body.failure.code, 'CODE_CHANGED');
  });
}

test('a code is paid with its look-up: amount, key, txid and payee are those of the charge', async (t) => {
  const { user, txid, order, read } = await givenReader();
  const payments = t.mock.method(app.bank, 'pay');
  const reads = t.mock.method(app.bank, 'readCode');
  const keys = t.mock.method(app.bank, 'lookUpKey');
  const { status, body, headers } = await app.send(user, order, { key: 'shop' });
  assert.equal(status, 200, JSON.stringify(body));
  assert.equal(headers.get('pix-outcome'), 'accepted');
  const paid = payments.mock.calls[0]?.arguments[1];
  assert.deepEqual(
    [paid?.key, paid?.amountCents, paid?.txid, paid?.isByDynamicCode, paid?.clientRequestId],
    ['loja@example.com', 1_000, txid, true, 'shop'],
  );
  assert.deepEqual([reads.mock.callCount(), keys.mock.callCount()], [0, 0]);
  const id = body.transaction_id;
  const stored = await app.stored(id);
  assert.deepEqual([stored.pix_key, stored.amount], ['loja@example.com', '10.00']);
  assert.deepEqual(await app.timeline(id), ['RESERVED', 'RESOLVED', 'PAYING 1', 'ACCEPTED 1 2xx']);
  await app.bank.settle(body.end_to_end);
  await app.settled(id);
  const receipt = await app.call(`/pix/${id}/receipt`, { token: user.token });
  assert.deepEqual(receipt.body.payee, { ...receipt.body.payee, ...nameless(read.payee) });
  const again = await decode(user, order.copy_paste);
  assert.equal(again.body.state, 'PAID');
});

/** What a receipt says of the payee, too. */
function nameless({ name, document }: { name: string; document: string }) {
  return { name, document };
}

test('a repeat pays nothing more, also when the code has ended and the look-up is old', async () => {
  const { user, txid, order } = await givenReader({ lifetimeSeconds: 360 });
  const first = await app.send(user, order, { key: 'again' });
  await app.bank.settle(first.body.end_to_end);
  await app.settled(first.body.transaction_id);
  await app.clock.skip(7 * minuteMs);
  app.bank.endCode(txid, 'removed');
  const again = await app.send(
    user,
    { ...order, copy_paste: ` ${order.copy_paste}\n`, amount: 10 },
    { key: 'again' },
  );
  assert.deepEqual([again.status, again.body.status], [200, 'COMPLETED']);
  assert.equal(again.headers.get('idempotency-replayed'), 'true');
  assert.equal(again.body.transaction_id, first.body.transaction_id);
  assert.equal((await app.executed(user)).length, 1);
});

test('the key of another code, or of another amount of it, is another request', async () => {
  const { user, order } = await givenReader({ isChangeable: true });
  await app.send(user, order, { key: 'taken' });
  const other = makeCode();
  const { body } = await decode(user, other.copyPaste);
  const otherOrder = { copy_paste: other.copyPaste, lookup_id: body.lookup_id };
  for (const request of [otherOrder, { ...order, amount: 11 }, { ...order, description: 'x' }]) {
    const refused = await app.send(user, request, { key: 'taken' });
    assert.equal(refused.status, 422);
    assert.deepEqual(Object.keys(refused.body.errors), ['Idempotency-Key']);
    assert.equal(refused.headers.get('pix-outcome'), 'accepted');
  }
});

const amounts: [what: string, wish: NewCode, amount: number | undefined, error: RegExp | null][] = [
  ['a fixed amount, as it is', {}, 10, null],
  ['another than the fixed amount', {}, 10.01, /another amount/],
  ['an amount within the bounds', { isChangeable: true, minCents: 500, maxCents: 2_000 }, 20, null],
  ['less than the least', { isChangeable: true, minCents: 500 }, 4.99, /from R\$ 5\.00/],
  ['more than the most', { isChangeable: true, maxCents: 2_000 }, 20.01, /to R\$ 20\.00/],
  ['an amount that the payer chooses', { amountCents: null }, 7.5, null],
  ['no amount where the payer chooses it', { amountCents: null }, undefined, /required/],
];
for (const [what, wish, amount, error] of amounts) {
  test(`a code takes or refuses ${what}`, async () => {
    const { user, order } = await givenReader(wish);
    const { status, body, headers } = await app.send(user, { ...order, amount });
    if (error === null) {
      assert.equal(status, 200, JSON.stringify(body));
      const stored = await app.stored(body.transaction_id);
      assert.equal(Number(stored.amount), amount);
      return;
    }
    assert.equal(status, 422);
    assert.deepEqual(Object.keys(body.errors), ['amount']);
    assert.match(body.errors.amount[0], error);
    const more = await app.send(user, { ...order, amount, description: 'x'.repeat(513) });
    assert.deepEqual(Object.keys(more.body.errors), ['description', 'amount']);
    assert.deepEqual(more.body.errors.amount, body.errors.amount);
    assert.equal(headers.get('pix-outcome'), 'not_sent');
    assert.equal(await app.countRows(user), 0);
  });
}

test('a look-up pays only the code, the user and the kind that it was made for', async () => {
  const { user, order, copyPaste } = await givenReader();
  const other = await givenCustomer(app);
  const anotherCode = makeCode().copyPaste;
  const { body: key } = await app.call('/pix/lookup', {
    token: user.token,
    body: { pix_key: 'loja@example.com' },
  });
  const requests: [TestUser, object][] = [
    [user, { ...order, lookup_id: 'nonsense' }],
    [user, { ...order, copy_paste: anotherCode }],
    [user, { copy_paste: copyPaste, lookup_id: key.lookup_id }],
    [user, { pix_key: 'loja@example.com', amount: 10, lookup_id: order.lookup_id }],
    [other, order],
  ];
  for (const [payer, request] of requests) {
    const refused = await app.send(payer, request);
    assert.equal(refused.status, 422, JSON.stringify(request));
    assert.deepEqual(Object.keys(refused.body.errors), ['lookup_id']);
    assert.equal(refused.headers.get('pix-outcome'), 'not_sent');
  }
  const unread = await app.send(user, { copy_paste: copyPaste });
  assert.match(unread.body.errors.copy_paste[0], /paid with its look-up/);
  const both = await app.send(user, { ...order, pix_key: 'loja@example.com', amount: 10 });
  assert.deepEqual(Object.keys(both.body.errors), ['copy_paste']);
  assert.equal(await app.countMade(user), 0);
});

test('an old look-up is replaced: the same payee and amount are paid with a new id', async (t) => {
  const { user, order } = await givenReader();
  await app.clock.skip(5 * minuteMs);
  const reads = t.mock.method(app.bank, 'readCode');
  const { status, body } = await app.send(user, order);
  assert.equal(status, 200, JSON.stringify(body));
  assert.equal(reads.mock.callCount(), 1);
  assert.equal(reads.mock.calls[0]?.arguments[1].text, order.copy_paste);
});

const changes: [what: string, change: object][] = [
  ['another document', { document: '11444777000161' }],
  ['another institution', { ispb: '60701190' }],
  ['a payee who cannot be compared', { document: null }],
  ['another charge', { txid: 'a'.repeat(26) }],
  ['another key', { key: 'outra@example.com' }],
  ['another amount', { amounts: { amountCents: 1_001, isChangeable: false } }],
  [
    'bounds without the amount',
    { amounts: { amountCents: 2_000, isChangeable: true, minCents: 1_500 } },
  ],
];
for (const [index, [what, change]] of changes.entries()) {
  const key = `changed-${index}`;
  test(`an old look-up that is replaced by one with ${what} is not paid`, async (t) => {
    const { user, order } = await givenReader();
    await app.clock.skip(5 * minuteMs);
    const { provider } = app.context;
    const readCode = provider.readCode.bind(provider);
    t.mock.method(provider, 'readCode', async (request: never) => ({
      ...(await readCode(request)),
      ...change,
    }));
    const refused = await app.send(user, order, { key });
    assert.equal(refused.status, 422);
    assert.deepEqual(Object.keys(refused.body.errors), ['lookup_id']);
    assert.equal(refused.headers.get('pix-outcome'), 'not_sent');
    const repeated = await app.send(user, order, { key });
    assert.equal(repeated.body.status, 'FAILED');
    assert.deepEqual(await app.executed(user), []);
  });
}

test('an old look-up that cannot be replaced fails the payment: nothing was sent', async (t) => {
  const { user, order } = await givenReader();
  await app.clock.skip(5 * minuteMs);
  t.mock.method(app.bank, 'readCode', () => faulty('unavailable'));
  const failed = await app.throughTime(app.send(user, order));
  assert.deepEqual([failed.status, failed.body.code], [502, 'PROVIDER_UNAVAILABLE']);
  assert.equal(failed.headers.get('pix-outcome'), 'not_sent');
});

test('the end of a charge is checked by our clock, too', async () => {
  const { user, order, read } = await givenReader({ lifetimeSeconds: 120 });
  assert.equal(read.expires_at, read.charge_expires_at);
  await app.clock.skip(2 * minuteMs);
  const refused = await app.send(user, order);
  assert.match(refused.body.errors.copy_paste[0], /expired/);
});

/** Reads a code again, as an app does before it pays with a new key. */
async function reread(user: TestUser, code: string) {
  const { body } = await decode(user, code);
  return { copy_paste: code, lookup_id: body.lookup_id };
}

test('a second key does not pay a code that is being paid, or is paid', async () => {
  const { user, order, copyPaste } = await givenReader();
  const secondOrder = await reread(user, copyPaste);
  const first = await app.send(user, order);
  assert.equal(first.status, 200);
  const paying = await app.send(user, secondOrder, { key: 'second' });
  assert.equal(paying.status, 422);
  assert.match(paying.body.errors.copy_paste[0], /already paying/);
  assert.equal(paying.headers.get('pix-outcome'), 'not_sent');
  await app.bank.settle(first.body.end_to_end);
  await app.settled(first.body.transaction_id);
  const repeat = await app.send(user, secondOrder, { key: 'second' });
  assert.deepEqual([repeat.status, repeat.body.status], [200, 'FAILED']);
  const paid = await app.send(user, secondOrder, { key: 'fourth', headers: portuguese });
  assert.equal(paid.status, 422);
  assert.match(paid.body.errors.copy_paste[0], /já pagou/);
  assert.equal(paid.headers.get('pix-outcome'), 'not_sent');
  // Another text of the same address is the same charge.
  const { url } = (await decode(user, copyPaste)).body;
  const host = url.replace(/^[^/]*/, (name: string) => name.toUpperCase());
  const sameCharge = { receiverName: 'Outra', city: 'Recife', url: host, oneTime: false };
  const otherText = { ...secondOrder, copy_paste: encodeDynamicBrCode(sameCharge) };
  const rewritten = await app.send(user, otherText, { key: 'third' });
  assert.deepEqual(Object.keys(rewritten.body.errors), ['copy_paste']);
  assert.equal(await app.countMade(user), 1);
  assert.equal((await app.executed(user)).length, 1);
});

test('of many parallel sends of one code, one is paid', async () => {
  const { user, copyPaste } = await givenReader();
  const orders = await Promise.all(Array.from({ length: 8 }, () => reread(user, copyPaste)));
  const sent = await Promise.all(orders.map((order) => app.send(user, order)));
  const statuses = sent.map(({ status }) => status).toSorted((one, other) => one - other);
  assert.deepEqual(statuses, [200, ...Array.from({ length: 7 }, () => 422)]);
  for (const { status, body } of sent) {
    if (status === 422) assert.deepEqual(Object.keys(body.errors), ['copy_paste']);
  }
  assert.equal((await app.executed(user)).length, 1);
});

test('another user may pay the same code: their bank decides', async () => {
  const { user, order, copyPaste } = await givenReader();
  const other = await givenCustomer(app);
  const otherOrder = await reread(other, copyPaste);
  assert.equal((await app.send(user, order)).status, 200);
  const refused = await app.send(other, otherOrder);
  assert.deepEqual([refused.status, refused.body.code], [502, 'PROVIDER_REJECTED']);
  assert.equal(refused.headers.get('pix-outcome'), 'rejected');
});

test('a failed payment frees its code, and may be corrected later', async () => {
  const { user, order, copyPaste } = await givenReader({ isChangeable: true });
  const failed = await app.send(user, order);
  const { transaction_id: failedId, end_to_end: endToEnd } = failed.body;
  await app.bank.settle(endToEnd, 'FAILED');
  await app.settled(failedId);
  await app.clock.advance(1_000);
  const second = await app.send(user, { ...(await reread(user, copyPaste)), amount: 12 });
  assert.equal(second.status, 200, JSON.stringify(second.body));
  const event = { event: 'PIX_PAYMENT_OUT', endToEnd, status: 'CONFIRMED', amount: 10 };
  await app.call('/webhooks/provider', { body: { ...event, id: randomUUID() } });
  await app.resultsFor(failedId, 2);
  const corrected = await app.view(user, failedId);
  assert.equal(corrected.body.status, 'COMPLETED');
  assert.equal(corrected.body.paid_again_by, second.body.transaction_id);
  const third = await app.send(user, { ...(await reread(user, copyPaste)), amount: 13 });
  assert.deepEqual(Object.keys(third.body.errors), ['copy_paste']);
});

test('a payment that was refused, or could not be sent, frees its code', async () => {
  const { user, order, copyPaste } = await givenReader({ key: 'reject@ponte.test' });
  const refused = await app.send(user, order);
  assert.deepEqual([refused.status, refused.body.code], [502, 'PROVIDER_REJECTED']);
  const again = await app.send(user, await reread(user, copyPaste));
  assert.equal(again.status, 502);
  assert.equal(await app.countRows(user), 2);
});

test('a payment that no send accounts for may have paid a code, of whatever amount', async () => {
  const { user, order, copyPaste } = await givenReader({ isChangeable: true });
  const endToEnd = `E${randomUUID().replaceAll('-', '').slice(1)}`;
  await blockByPayment(app.context, { userId: user.id, endToEnd, amountCents: 700 });
  const refused = await app.send(user, order);
  assert.equal(refused.status, 422);
  assert.match(refused.body.errors.copy_paste[0], /may have paid/);
  await app.clock.skip(11 * minuteMs);
  const later = await app.send(user, await reread(user, copyPaste));
  assert.equal(later.status, 200, JSON.stringify(later.body));
});

test('a send that was lost and stored again may have paid a code, of whatever amount', async () => {
  const { user, order, copyPaste } = await givenReader({ isChangeable: true });
  const lost = await app.send(user, { pix_key: 'silent@ponte.test', amount: 10 });
  await app.rows(`update pix_transactions set code_digest = '\\x' where id = $1`, [
    lost.body.transaction_id,
  ]);
  const refused = await app.send(user, order);
  assert.equal(refused.status, 422);
  assert.match(refused.body.errors.copy_paste[0], /may have paid/);
  assert.equal(refused.headers.get('pix-outcome'), 'unknown');
  assert.equal((await app.send(user, { ...order, amount: 11 })).status, 422);
  await app.bank.settle(lost.body.end_to_end);
  await app.settled(lost.body.transaction_id);
  const third = makeCode();
  const early = await app.send(user, await reread(user, third.copyPaste));
  assert.deepEqual(Object.keys(early.body.errors), ['copy_paste']);
  await app.clock.skip(11 * minuteMs);
  const later = await app.send(user, await reread(user, third.copyPaste));
  assert.equal(later.status, 200, JSON.stringify(later.body));
  assert.notEqual(copyPaste, third.copyPaste);
});

test('one charge after the other behind one address is paid', async (t) => {
  const { user, order, copyPaste } = await givenReader();
  assert.equal((await app.send(user, order)).status, 200);
  const { provider } = app.context;
  const readCode = provider.readCode.bind(provider);
  const next = makeCode();
  const { body } = await decode(user, next.copyPaste);
  assert.equal(body.state, 'PAYABLE');
  t.mock.method(provider, 'readCode', (request: { text: string }) =>
    readCode({ ...request, text: next.copyPaste } as never),
  );
  const nextOrder = await reread(user, copyPaste);
  const sent = await app.send(user, nextOrder);
  assert.equal(sent.status, 200, JSON.stringify(sent.body));
});

test('the code of a charge of another customer reaches that customer', async () => {
  const [payer, payee] = [await givenCustomer(app), await givenCustomer(app)];
  const charge = await app.charge(payee, { type: 'dynamic', amount: 25, description: 'Bolo' });
  const { body: read } = await decode(payer, charge.body.copy_paste);
  assert.deepEqual([read.state, read.amount, read.description], ['PAYABLE', 25, 'Bolo']);
  const order = { copy_paste: charge.body.copy_paste, lookup_id: read.lookup_id };
  const sent = await app.send(payer, order);
  assert.equal(sent.status, 200, JSON.stringify(sent.body));
  await app.bank.settle(sent.body.end_to_end);
  const received = await app.settled(charge.body.transaction_id);
  assert.equal(received.status, 'COMPLETED');
  const { body: paid } = await decode(payer, charge.body.copy_paste);
  assert.equal(paid.state, 'PAID');
});

const unreadable: [what: string, response: object][] = [
  ['the bank is not reached', faulty('unavailable')],
  [
    'the bank does not know it',
    { outcome: 'refused', refusal: { kind: 'not_found', reason: 'x' } },
  ],
];
for (const [what, response] of unreadable) {
  test(`of a charge that cannot be read, the code is shown as before: ${what}`, async (t) => {
    const user = await givenCustomer(app);
    const { copyPaste } = makeCode();
    t.mock.method(app.bank, 'readCode', () => response as never);
    const { status, body } = await app.throughTime(decode(user, copyPaste));
    const { url, unread, ...shown } = body;
    assert.deepEqual(
      [status, url],
      [200, /26(?:.*)25\d\d(pix\.loja\.test\/qr\/[\w-]{36})/.exec(copyPaste)?.[1]],
    );
    assert.match(unread, /^PROVIDER_(?:UNAVAILABLE|REJECTED)$/);
    const written = { payee_name: 'LOJA DE TESTE', payee_city: 'SAO PAULO' };
    assert.deepEqual(shown, { kind: 'dynamic', one_time: true, ...written });
  });
}

test('a static code is read without a call', async (t) => {
  const user = await givenCustomer(app);
  const reads = t.mock.method(app.bank, 'readCode');
  const charge = await app.charge(user, { type: 'static', amount: 5 });
  assert.equal((await decode(user, charge.body.copy_paste)).status, 200);
  assert.equal(reads.mock.callCount(), 0);
});

test('of an account that cannot pay, a code is read without a call', async (t) => {
  const user = await givenCustomer(app);
  await app.rows(`update accounts set status = 'BLOCKED' where user_id = $1`, [user.id]);
  const { copyPaste } = makeCode();
  const reads = t.mock.method(app.bank, 'readCode');
  const { status, body } = await decode(user, copyPaste);
  assert.deepEqual([status, body.kind, body.lookup_id], [200, 'dynamic', undefined]);
  assert.equal(reads.mock.callCount(), 0);
});

test('the look-ups of codes and keys have one budget', async () => {
  const user = await givenCustomer(app);
  const { copyPaste } = makeCode();
  await leaveLookUps(app, 2, user);
  assert.notEqual((await decode(user, copyPaste)).body.lookup_id, undefined);
  const key = { token: user.token, body: { pix_key: 'loja@example.com' } };
  assert.equal((await app.call('/pix/lookup', key)).status, 200);
  const { status, body } = await decode(user, copyPaste);
  assert.deepEqual([status, body.unread], [200, 'PROVIDER_RATE_LIMITED']);
  assert.equal(body.lookup_id, undefined);
});

test('without the feature a code is read as before, without a call, and is not paid', async (t) => {
  const user = await givenCustomer(off);
  const { copyPaste } = makeCode({}, off);
  const reads = t.mock.method(off.bank, 'readCode');
  const { status, body } = await decode(user, copyPaste, off);
  assert.equal(status, 200);
  assert.deepEqual(Object.keys(body).toSorted(), [
    'kind',
    'one_time',
    'payee_city',
    'payee_name',
    'url',
  ]);
  const refused = await off.send(user, { copy_paste: copyPaste, lookup_id: 'any' });
  assert.deepEqual([refused.status, refused.body.code], [501, 'NOT_AVAILABLE']);
  const invalid = { copy_paste: copyPaste, lookup_id: 'any', amount: 0 };
  assert.equal((await off.send(user, invalid)).status, 422);
  assert.equal(refused.headers.get('pix-outcome'), 'not_sent');
  const unread = await off.send(user, { copy_paste: copyPaste });
  assert.equal(unread.status, 422, 'as in 1.1.0');
  assert.match(unread.body.errors.copy_paste[0], /cannot be paid at this bank/);
  assert.equal(unread.headers.get('pix-outcome'), 'not_sent');
  assert.equal(reads.mock.callCount(), 0);
  assert.equal(await off.countRows(user), 0);
});

test('a charge whose end has come is EXPIRED, whatever the bank still says of it', async (t) => {
  const user = await givenCustomer(app);
  const { copyPaste } = makeCode();
  const { provider } = app.context;
  const readCode = provider.readCode.bind(provider);
  const expiresAt = app.clock.now();
  t.mock.method(provider, 'readCode', async (request: never) => ({
    ...(await readCode(request)),
    expiresAt,
  }));
  const { body } = await decode(user, copyPaste);
  assert.deepEqual([body.state, body.charge_expires_at], ['EXPIRED', expiresAt.toISOString()]);
  const order = { copy_paste: copyPaste, lookup_id: body.lookup_id };
  const refused = await app.send(user, order);
  assert.equal(refused.status, 422);
  assert.match(refused.body.errors.copy_paste[0], /expired/);
});

/** Another code, behind whose address is the charge of a first one. */
function givenSecondAddress(t: TestContext, copyPaste: string, change: object = {}): string {
  const second = makeCode().copyPaste;
  const { provider } = app.context;
  const readCode = provider.readCode.bind(provider);
  t.mock.method(provider, 'readCode', async (request: { readonly text: string }) => {
    const isSecond = request.text === second;
    const charge = await readCode({ ...request, ...(isSecond && { text: copyPaste }) } as never);
    return isSecond ? { ...charge, ...change } : charge;
  });
  return second;
}

test('one charge behind two addresses is paid once, also by a txid in other letters', async (t) => {
  const { user, order, copyPaste, txid } = await givenReader();
  const second = givenSecondAddress(t, copyPaste, { txid: txid.toUpperCase() });
  const other = await reread(user, second);
  assert.equal((await app.send(user, order)).status, 200);
  const refused = await app.send(user, other);
  assert.equal(refused.status, 422);
  assert.deepEqual(Object.keys(refused.body.errors), ['copy_paste']);
  assert.equal((await app.executed(user)).length, 1);
});

for (const [what, change] of Object.entries({
  'without its document': { document: null },
  'with a masked document': { document: '***.222.333-**' },
  'without its institution': { ispb: null },
})) {
  test(`one charge behind two addresses is paid once, described ${what} at one`, async (t) => {
    const { user, order, copyPaste } = await givenReader();
    const other = await reread(user, givenSecondAddress(t, copyPaste, change));
    assert.equal((await app.send(user, order)).status, 200);
    assert.equal((await app.send(user, other)).status, 422);
    assert.equal((await app.executed(user)).length, 1);
  });
}

test('one charge behind two addresses is paid once in a race', async (t) => {
  const { user, order, copyPaste } = await givenReader();
  const again = await reread(user, givenSecondAddress(t, copyPaste));
  const responses = await Promise.all([app.send(user, order), app.send(user, again)]);
  assert.deepEqual(
    responses.map(({ status }) => status).toSorted((one, other) => one - other),
    [200, 422],
  );
  assert.equal((await app.executed(user)).length, 1);
});

test('a charge whose payment has failed is paid by another address, and a corrected one holds it', async (t) => {
  const { user, order, copyPaste } = await givenReader({ isChangeable: true });
  const second = givenSecondAddress(t, copyPaste);
  const failed = await app.send(user, order);
  const { transaction_id: failedId, end_to_end: endToEnd } = failed.body;
  await app.bank.settle(endToEnd, 'FAILED');
  await app.settled(failedId);
  await app.rows(
    `update pix_transactions set status = 'COMPLETED', corrected_at = $2 where id = $1`,
    [failedId, app.clock.now()],
  );
  const held = await app.send(user, { ...(await reread(user, second)), amount: 12 });
  assert.deepEqual(Object.keys(held.body.errors), ['copy_paste']);
});

test('a payment that was judged before the first one was corrected is judged again', async (t) => {
  const { user, order, copyPaste } = await givenReader();
  const failed = await app.send(user, order);
  const { transaction_id: failedId, end_to_end: endToEnd } = failed.body;
  await app.bank.settle(endToEnd, 'FAILED');
  await app.settled(failedId);
  const query = app.context.db.query as unknown as RunAny;
  let isCorrected = false;
  mockQueries(t, app.context.db, () => async (statement, parameters) => {
    const rows = await query(statement, parameters);
    if (statement.name !== 'pix-limits-read' || isCorrected) return rows;
    isCorrected = true;
    const source = { eventId: randomUUID(), note: null };
    const proof = { endToEnd, providerTxid: null, source };
    assert.ok(await correctTransaction(app.context, failedId, proof));
    return rows;
  });
  const again = await app.send(user, await reread(user, copyPaste));
  assert.ok(isCorrected);
  assert.equal(again.status, 422);
  assert.match(again.body.errors.copy_paste[0], /already paid/);
});
