/** Which transaction an event means that names it in an unusual way, and when it means two. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { previewReplay, replayEvent } from '../../../src/settlement/replay.ts';
import { givenCustomer, type TestUser } from '../../support/factories.ts';
import { confirmed, results, startSettlingApp } from './settling.ts';

const app = await startSettlingApp();
const { customer, givenSend, stored, receive } = app;

const { newEndToEnd } = app;

async function givenCharge(user: TestUser = customer, amount = 10.5) {
  const response = await app.charge(user, { type: 'dynamic', amount });
  const { id, transaction_identification: txid } = await stored(response.body.transaction_id);
  return { id, txid };
}

const readStatus = async ({ id }: { readonly id: string }) => (await stored(id)).status;

const amount = 10.5;

test('a charge that is named under a word for payments is completed by it', async () => {
  const items: ((txid: string | null) => Record<string, unknown>)[] = [
    (txid) => ({ event: 'PAYMENT', transactionIdentification: txid }),
    (txid) => ({ type: 'PIX_PAYMENT', txid, endToEnd: newEndToEnd() }),
    (txid) => ({ type: 'pix', txid: txid?.slice(0, 25), clientRequestId: randomUUID() }),
  ];
  for (const item of items) {
    const charge = await givenCharge();
    const event = { ...item(charge.txid), status: 'COMPLETED', amount };
    const settlement = await receive(event);
    assert.deepEqual(results(settlement), ['applied'], JSON.stringify(event));
    assert.equal(await readStatus(charge), 'COMPLETED');
    assert.deepEqual(results(await receive({ ...event, again: true })), ['already']);
  }
});

const error = { code: 'AC03' };

test('it is not by half a match: another amount, none, or no success', async () => {
  const charge = await givenCharge();
  const payment = { event: 'PAYMENT', txid: charge.txid, status: 'COMPLETED' };
  for (const change of [{ amount: 10.51 }, { amount: null }, { amount, status: 'FAILED', error }]) {
    assert.deepEqual(results(await receive({ ...payment, ...change })), ['parked: no_match']);
  }
  assert.equal(await readStatus(charge), 'PROCESSING');
});

test("another user's payment with one of our keys completes the charge, and not our send", async () => {
  const send = await givenSend('1', amount);
  const charge = await givenCharge();
  const payment = { event: 'PAYMENT', clientRequestId: '1', status: 'COMPLETED', amount };
  const event = { ...payment, txid: charge.txid, endToEnd: newEndToEnd() };
  assert.deepEqual(results(await receive(event)), ['applied']);
  assert.deepEqual([await readStatus(charge), await readStatus(send)], ['COMPLETED', 'PROCESSING']);

  // Without an end-to-end id it may be either.
  const other = await givenCharge();
  const settlement = await receive({ ...payment, txid: other.txid });
  assert.deepEqual(results(settlement), ['anomaly: ids_disagree']);
  assert.deepEqual([await readStatus(other), await readStatus(send)], ['PROCESSING', 'PROCESSING']);
});

test("a further payment of a charge is recorded for the charge's owner", async () => {
  const payee = await givenCustomer(app);
  const charge = await givenCharge(payee);
  for (const endToEnd of [newEndToEnd(), newEndToEnd()]) {
    const event = { event: 'PAYMENT', txid: charge.txid, endToEnd, status: 'COMPLETED', amount };
    assert.deepEqual(results(await receive(event)), ['applied']);
  }
  assert.equal(await app.countRows(payee), 2);
});

/** A user pays another one: one end-to-end id, a send and a charge. */
async function betweenUsers() {
  const key = randomUUID();
  const send = await givenSend(key);
  const charge = await givenCharge(await givenCustomer(app));
  const base = { event: 'PAYMENT', endToEnd: send.end_to_end, status: 'COMPLETED', amount };
  return {
    send,
    charge,
    ofPayer: { ...base, clientRequestId: key, transactionIdentification: charge.txid },
    ofPayee: { ...base, clientRequestId: randomUUID(), transactionIdentification: charge.txid },
    ofBoth: { ...base, transactionIdentification: charge.txid },
    ofNeither: base,
  };
}

test('the two sides of a payment between users each settle their own, in both orders', async () => {
  for (const order of [['ofPayer', 'ofPayee'] as const, ['ofPayee', 'ofPayer'] as const]) {
    const settlement = await betweenUsers();
    const { send, charge } = settlement;
    for (const side of order) {
      const [mine, other] = side === 'ofPayer' ? [send, charge] : [charge, send];
      const before = await readStatus(other);
      assert.deepEqual(results(await receive(settlement[side])), ['applied'], side);
      assert.deepEqual([await readStatus(mine), await readStatus(other)], ['COMPLETED', before]);
    }
    for (const side of order) {
      assert.deepEqual(results(await receive({ ...settlement[side], again: true })), ['already']);
    }
  }
});

test('a payment between users that does not say whose it is settles both, in any order', async () => {
  for (const order of [['ofBoth', 'ofNeither'] as const, ['ofNeither', 'ofBoth'] as const]) {
    const settlement = await betweenUsers();
    const { send, charge } = settlement;
    for (const side of order) await receive(settlement[side]);
    assert.deepEqual(
      [await readStatus(send), await readStatus(charge)],
      ['COMPLETED', 'COMPLETED'],
    );
    assert.deepEqual(results(await receive({ ...settlement.ofBoth, again: true })), ['already']);
    assert.equal((await stored(charge.id)).end_to_end, send.end_to_end);
  }
});

test('a preview changes neither, and a replay changes nothing more', async () => {
  const { send, charge, ofBoth } = await betweenUsers();
  const eventId = await app.deliver(ofBoth);
  const previewed = await previewReplay(app.context, eventId);
  assert.ok(previewed.kind === 'preview');
  assert.deepEqual(
    previewed.items.map(({ index, result, transactionId }) => [index, result, transactionId]),
    [[0, 'applied', send.id]],
  );
  assert.deepEqual(
    [await readStatus(send), await readStatus(charge)],
    ['PROCESSING', 'PROCESSING'],
  );
  assert.deepEqual(results(await app.settle(eventId)), ['applied']);
  const before = [await app.timeline(send.id), await app.timeline(charge.id)];
  await replayEvent(app.context, eventId);
  assert.deepEqual([await app.timeline(send.id), await app.timeline(charge.id)], before);
});

test('a payment that corrects its send pays the charge, too', async () => {
  const { send, charge, ofBoth } = await betweenUsers();
  await receive({ ...ofBoth, transactionIdentification: undefined, status: 'FAILED', error });
  assert.deepEqual([await readStatus(send), await readStatus(charge)], ['FAILED', 'PROCESSING']);
  assert.deepEqual(results(await receive(ofBoth)), ['anomaly: corrected']);
  assert.deepEqual([await readStatus(send), await readStatus(charge)], ['COMPLETED', 'COMPLETED']);
  assert.deepEqual(results(await receive({ ...ofBoth, again: true })), ['already']);
});

test('a payment that contradicts its send pays no charge either', async () => {
  const { send, charge, ofBoth } = await betweenUsers();
  await receive({ ...ofBoth, transactionIdentification: undefined, status: 'FAILED', error });
  const unproved = { ...ofBoth, endToEnd: undefined, id: send.provider_txid };
  assert.deepEqual(results(await receive(unproved)), ['anomaly: contradicts_final_status']);
  assert.deepEqual([await readStatus(send), await readStatus(charge)], ['FAILED', 'PROCESSING']);
});

test('an item of a pix list with a status settles the send that it names', async () => {
  const send = await givenSend('123ABC');
  const gnExtras = { idEnvio: '123ABC' };
  const item = { endToEndId: send.end_to_end, status: 'REALIZADO', valor: '10.50', gnExtras };
  await receive({ pix: [item] });
  assert.equal(await readStatus(send), 'COMPLETED');
  const charge = await givenCharge();
  const paid = { endToEndId: newEndToEnd(), txid: charge.txid, valor: '10.50' };
  assert.deepEqual(results(await receive({ pix: [paid] })), ['applied']);
});

test('of several sends with one key that one is meant that fits the amount', async () => {
  const other = await givenCustomer(app);
  const key = randomUUID();
  const mine = await givenSend(key);
  const body = { pix_key: 'ana@example.com', amount: 20 };
  const otherSend = (await app.send(other, body, { key })).body.transaction_id;
  const event = (value: unknown) => confirmed({ clientRequestId: key, amount: value });
  assert.deepEqual(results(await receive(event(null))), ['parked: no_match']);
  assert.deepEqual(results(await receive(event(30))), ['parked: no_match']);
  assert.deepEqual(results(await receive(event(20))), ['applied']);
  assert.equal(await readStatus({ id: otherSend }), 'COMPLETED');
  assert.equal(await readStatus(mine), 'PROCESSING');
});

test('of several sends with one key and one amount none is meant, though one never left', async () => {
  const other = await givenCustomer(app);
  const key = randomUUID();
  const send = await givenSend(key);
  const failed = await app.send(other, { pix_key: 'notfound@ponte.test', amount }, { key });
  assert.equal(failed.status, 502);
  const settlement = await receive(confirmed({ clientRequestId: key, amount }));
  assert.deepEqual(results(settlement), ['parked: no_match']);
  assert.equal(await readStatus(send), 'PROCESSING');
});

test('where there are more sends with one key than are looked at, none is guessed', async () => {
  const key = randomUUID();
  const send = await givenSend(key);
  await app.rows(
    `insert into users (email, document, name, phone, password_hash, status, created_at, updated_at)
     select 'many-' || n || '@example.com', document || n, name, null, password_hash, status,
            created_at, updated_at from users, generate_series(1, 30) as n where id = $1`,
    [customer.id],
  );
  await app.rows(
    `insert into pix_transactions (id, user_id, operation, idempotency_key, fingerprint, status,
                                   phase, amount, created_at, updated_at)
     select gen_random_uuid(), u.id, 'SEND', $1, 'x', 'PROCESSING', 'RESERVED', 10.5, now(), now()
       from users u where email like 'many-%'`,
    [key],
  );
  const settlement = await receive(confirmed({ clientRequestId: key, amount }));
  assert.deepEqual(results(settlement), ['parked: no_match']);
  assert.equal(await readStatus(send), 'PROCESSING');
});

test("an event's own id does not take the place of the provider's, and both are known", async () => {
  const send = await givenSend();
  const id = `evt-${randomUUID()}`;
  await receive({ id, event: 'PAYMENT', endToEnd: send.end_to_end, status: 'COMPLETED' });
  assert.equal(await readStatus(send), 'COMPLETED');
  assert.ok(send.provider_txid !== null);
  assert.equal((await stored(send.id)).provider_txid, send.provider_txid);
  for (const known of [id, send.provider_txid]) {
    assert.deepEqual(results(await receive(confirmed({ id: known }))), ['already']);
  }
});

test('an event that waits for the id of another event is woken by it', async () => {
  const send = await givenSend();
  const id = `evt-${randomUUID()}`;
  const parked = await receive(confirmed({ id }));
  assert.equal(parked.status, 'parked');
  await app.postpone(parked.eventId);
  await receive(confirmed({ id, endToEnd: send.end_to_end, nth: 2 }));
  assert.deepEqual(await app.readWoken(parked.eventId), app.clock.now());
});

test("an id of the provider's that two sends have identifies neither", async () => {
  const [one, other] = [await givenSend(), await givenSend()];
  for (const { id } of [one, other]) {
    await app.rows(
      `insert into pix_timeline (transaction_id, phase, at, provider_txid)
       values ($1, 'ACCEPTED', now(), 'of-both')`,
      [id],
    );
  }
  assert.deepEqual(results(await receive(confirmed({ id: 'of-both' }))), ['parked: no_match']);
});
