/** Settling the provider's reports of payments. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { givenCustomer } from '../../support/factories.ts';
import { confirmed, results, startSettlingApp } from './settling.ts';

const app = await startSettlingApp();
const { receive, stored, givenSend } = app;

/** Puts a send where a process may have left it. */
const putInto = (id: string, phase: string, outcome: string | null = null) =>
  app.rows(`update pix_transactions set phase = $2, outcome = $3 where id = $1`, [
    id,
    phase,
    outcome,
  ]);

test('a payment is completed by its end-to-end id, and its timeline names the event', async () => {
  const send = await givenSend();
  const settlement = await receive(confirmed({ endToEnd: send.end_to_end, amount: 10.5 }));
  assert.equal(settlement.status, 'processed');
  assert.deepEqual(settlement.items, [{ index: 0, result: 'applied', transactionId: send.id }]);
  const { status, phase, outcome } = await stored(send.id);
  assert.deepEqual([status, phase, outcome], ['COMPLETED', 'SETTLED', 'accepted']);
  assert.deepEqual((await app.timeline(send.id)).at(-1), 'SETTLED COMPLETED event');
  const [entry] = await app.rows<{ event_id: string }>(
    'select event_id from pix_timeline where transaction_id = $1 order by id desc limit 1',
    [send.id],
  );
  assert.equal(entry?.event_id, settlement.eventId);
});

test("a payment is completed by its request id alone, or by the provider's id alone", async () => {
  const byRequest = await givenSend('request-of-one');
  const event = confirmed({ clientRequestId: 'request-of-one', amount: 10.5 });
  assert.deepEqual(results(await receive(event)), ['applied']);
  assert.equal((await stored(byRequest.id)).status, 'COMPLETED');
  const byProvider = await givenSend();
  const id = byProvider.provider_txid;
  assert.deepEqual(results(await receive(confirmed({ id }))), ['parked: no_match']);
  assert.deepEqual(results(await receive(confirmed({ id, amount: 10.5 }))), ['applied']);
  assert.equal((await stored(byProvider.id)).status, 'COMPLETED');
});

test('the shapes that providers use are settled alike', async () => {
  const shapes = [
    (endToEndId: string) => ({
      entity: 'pix-payment-out',
      status: 'CONFIRMED',
      body: { amount: 10.5, endToEndId },
    }),
    (EndToEndId: string) => ({
      RequestBody: {
        TransactionType: 'PAYMENT',
        EndToEndId,
        Amount: '10.50',
        StatusCode: { StatusId: 2 },
      },
    }),
    (endToEndId: string) => ({
      event: 'OPENPIX:MOVEMENT_CONFIRMED',
      payment: { value: 1050 },
      transaction: { endToEndId },
    }),
    (end_to_end_id: string) => ({ type: 'pix', status: 'PAID', end_to_end_id, valor: '10.50' }),
  ];
  for (const shape of shapes) {
    const send = await givenSend();
    assert.deepEqual(results(await receive(shape(send.end_to_end))), ['applied']);
    assert.equal((await stored(send.id)).status, 'COMPLETED');
  }
});

test('a payment that failed keeps its code, without which it has not certainly failed', async () => {
  const error = { code: 'BE17', description: 'recusado por Fulano de Tal' };
  const send = await givenSend();
  const event = confirmed({ endToEnd: send.end_to_end, status: 'ERROR', error });
  assert.deepEqual(results(await receive(event)), ['applied']);
  const { status, phase, failure_code: code } = await stored(send.id);
  assert.deepEqual([status, phase, code], ['FAILED', 'SETTLED', 'BE17']);
  for (const failure of [{ reason: 'recusado por Fulano de Tal' }, {}]) {
    const open = await givenSend();
    const doubtful = { event: 'PIX_PAYMENT_OUT', endToEnd: open.end_to_end, status: 'ERROR' };
    assert.deepEqual(results(await receive({ ...doubtful, ...failure })), [
      'ignored: unlisted_code',
    ]);
    assert.equal((await stored(open.id)).status, 'PROCESSING');
  }
});

test('an event without an amount is matched by its ids', async () => {
  const send = await givenSend();
  assert.deepEqual(results(await receive(confirmed({ endToEnd: send.end_to_end }))), ['applied']);
});

test('another amount is an anomaly, counted and logged, and nothing moves', async () => {
  const send = await givenSend();
  const [anomalies, lines] = [await app.anomalies(), app.logLines.length];
  for (const amount of [10.51, 1050, 0.01]) {
    const settlement = await receive(confirmed({ endToEnd: send.end_to_end, amount }));
    assert.equal(settlement.status, 'anomaly');
    assert.deepEqual(results(settlement), ['anomaly: amount_mismatch']);
  }
  assert.deepEqual(await stored(send.id), send);
  assert.equal((await app.anomalies()) - anomalies, 3);
  const logged = app.logLines.slice(lines).filter((line) => line.includes('"level":"error"'));
  assert.equal(logged.length, 3);
  assert.ok(logged.every((line) => line.includes(send.id)));
});

test('ids that belong to different payments are an anomaly, and nothing moves', async () => {
  const send = await givenSend('disagreeing');
  const other = await givenSend();
  const events = [
    { endToEnd: send.end_to_end, clientRequestId: 'another' },
    { endToEnd: 'E99999999202605241200aaaaaaaaaaa', id: send.provider_txid },
    { endToEnd: send.end_to_end, clientRequestId: 'another', id: other.provider_txid },
  ];
  for (const ids of events) {
    assert.deepEqual(results(await receive(confirmed(ids))), ['anomaly: ids_disagree']);
  }
  assert.deepEqual([await stored(send.id), await stored(other.id)], [send, other]);
});

test('a final status is not changed by what contradicts it: an anomaly', async () => {
  for (const [first, second] of [
    ['CONFIRMED', 'ERROR'],
    ['ERROR', 'CONFIRMED'],
  ]) {
    const send = await givenSend();
    await receive(confirmed({ endToEnd: send.end_to_end, status: first }));
    const [settled, timeline] = [await stored(send.id), await app.timeline(send.id)];
    const anomalies = await app.anomalies();
    const settlement = await receive(confirmed({ endToEnd: send.end_to_end, status: second }));
    assert.deepEqual(results(settlement), ['anomaly: contradicts_final_status']);
    assert.equal(settlement.retryAt, null);
    const noted = [...timeline, 'ANOMALY contradicts_final_status event'];
    assert.deepEqual([await stored(send.id), await app.timeline(send.id)], [settled, noted]);
    assert.equal((await app.anomalies()) - anomalies, 1);
  }
});

test('what a final status says already is no anomaly and adds nothing', async () => {
  const send = await givenSend();
  await receive(confirmed({ endToEnd: send.end_to_end }));
  const [timeline, anomalies] = [await app.timeline(send.id), await app.anomalies()];
  const settlement = await receive(confirmed({ endToEnd: send.end_to_end, settlement: 'again' }));
  assert.deepEqual([settlement.status, results(settlement)], ['processed', ['already']]);
  assert.deepEqual(await app.timeline(send.id), timeline);
  assert.equal(await app.anomalies(), anomalies);
});

test('what moves nothing is ignored with the reason', async () => {
  const { end_to_end: endToEnd, id } = await givenSend();
  const events: readonly [unknown, string][] = [
    [{ event: 'CONTA_CRIADA', endToEnd, status: 'CONFIRMED' }, 'moves_nothing'],
    [{ event: 'WEATHER_CHANGED', endToEnd, status: 'CONFIRMED' }, 'unknown_event'],
    [confirmed({ endToEnd, status: 'PERHAPS' }), 'unknown_status'],
    [confirmed({ endToEnd, status: 'PROCESSING' }), 'processing'],
    [confirmed({ endToEnd, status: 'APPROVED' }), 'processing'],
    [{ event: 'PIX_REVERSAL', endToEnd, status: 'CONFIRMED' }, 'reversal'],
    [confirmed({ amount: 10.5 }), 'no_id'],
    [confirmed({ endToEnd, amount: 'ten' }), 'unreadable_amount'],
    [[7], 'not_an_object'],
  ];
  for (const [event, reason] of events) {
    const settlement = await receive(event);
    assert.deepEqual([settlement.status, results(settlement)], ['ignored', [`ignored: ${reason}`]]);
    assert.equal(settlement.retryAt, null);
  }
  assert.equal((await stored(id)).status, 'PROCESSING');
});

test('a payload without items is ignored, whatever it is', async () => {
  for (const payload of [[], { pix: [] }, {}, '['.repeat(9_000) + ']'.repeat(9_000)]) {
    assert.equal((await receive(payload)).status, 'ignored');
  }
});

test('one bad item of a batch does not lose the others', async () => {
  const [first, second, third] = [await givenSend(), await givenSend(), await givenSend()];
  const settlement = await receive([
    confirmed({ endToEnd: first.end_to_end }),
    null,
    confirmed({ endToEnd: second.end_to_end, amount: 99 }),
    { event: 'WEATHER_CHANGED' },
    confirmed({ endToEnd: third.end_to_end, status: 'ERROR' }),
  ]);
  assert.equal(settlement.status, 'anomaly');
  assert.deepEqual(results(settlement), [
    'applied',
    'ignored: not_an_object',
    'anomaly: amount_mismatch',
    'ignored: unknown_event',
    'applied',
  ]);
  assert.deepEqual(
    settlement.items.map(({ index }) => index),
    [0, 1, 2, 3, 4],
  );
  const statuses = [];
  for (const { id } of [first, second, third]) statuses.push((await stored(id)).status);
  assert.deepEqual(statuses, ['COMPLETED', 'PROCESSING', 'FAILED']);
});

test('the request id decides only where one send has it', async () => {
  const other = await givenCustomer(app);
  const own = await givenSend('shared');
  const body = { pix_key: 'ana@example.com', amount: 10.5 };
  const foreign = (await app.send(other, body, { key: 'shared' })).body;
  const byRequest = await receive(confirmed({ clientRequestId: 'shared', amount: 10.5 }));
  assert.deepEqual(results(byRequest), ['parked: no_match']);
  const withBoth = { clientRequestId: 'shared', endToEnd: foreign.end_to_end };
  assert.deepEqual(results(await receive(confirmed(withBoth))), ['applied']);
  assert.equal((await stored(own.id)).status, 'PROCESSING');
  assert.equal((await stored(foreign.transaction_id)).status, 'COMPLETED');
});

test('a request id that very many users have does not hide the send that is meant', async () => {
  await app.rows(`
    with people as (
      insert into users (name, email, password_hash, created_at, updated_at)
      select 'x', 'popular' || n || '@example.com', 'x', now(), now() from generate_series(1, 60) n
      returning id
    )
    insert into pix_transactions (id, user_id, operation, idempotency_key, fingerprint, status,
           phase, amount, end_to_end, created_at, updated_at)
    select gen_random_uuid(), id, 'SEND', 'popular', '', 'PROCESSING', 'ACCEPTED', 10.50,
           'E-popular-' || id, now(), now()
      from people`);
  const meant = await givenSend('popular');
  const event = { endToEnd: meant.end_to_end, clientRequestId: 'popular', amount: 10.5 };
  assert.deepEqual(results(await receive(confirmed(event))), ['applied']);
  assert.equal((await stored(meant.id)).status, 'COMPLETED');
});

test('an event that comes before the response of the payment settles it', async () => {
  for (const [phase, outcome, word, status, ended] of [
    ['PAYING', null, 'CONFIRMED', 'COMPLETED', 'accepted'],
    ['UNKNOWN', 'unknown', 'CONFIRMED', 'COMPLETED', 'accepted'],
    ['UNKNOWN', 'unknown', 'ERROR', 'FAILED', 'rejected'],
  ] as const) {
    const send = await givenSend();
    await putInto(send.id, phase, outcome);
    const event = confirmed({ endToEnd: send.end_to_end, status: word, amount: 10.5 });
    assert.deepEqual(results(await receive(event)), ['applied']);
    const settled = await stored(send.id);
    assert.deepEqual([settled.status, settled.outcome], [status, ended]);
  }
});

test('a final status is notified to waiting requests', async () => {
  const send = await givenSend();
  const settlement = Promise.withResolvers<string>();
  const stop = await app.context.db.listen('ponte_pix', settlement.resolve);
  await receive(confirmed({ endToEnd: send.end_to_end }));
  assert.equal(await settlement.promise, send.id);
  await stop();
});

test('settling a second time changes nothing, as after a crash between the work and its note', async () => {
  const send = await givenSend();
  const first = await receive([
    confirmed({ endToEnd: send.end_to_end }),
    { event: 'CONTA_CRIADA' },
  ]);
  const timeline = await app.timeline(send.id);
  await app.rows(`update webhook_events set status = 'received', results = null where id = $1`, [
    first.eventId,
  ]);
  const again = await app.settle(first.eventId);
  assert.deepEqual(results(again), ['already', 'ignored: moves_nothing']);
  assert.deepEqual(await app.timeline(send.id), timeline);
});

test('a payment with the key of an open send under an unknown end-to-end id waits', async () => {
  const key = randomUUID();
  const send = await givenSend(key);
  const timeline = await app.timeline(send.id);
  const other = { clientRequestId: key, endToEnd: app.newEndToEnd(), amount: 10.5 };
  assert.deepEqual(results(await receive(confirmed(other))), ['parked: no_match']);
  assert.equal((await stored(send.id)).status, 'PROCESSING');
  assert.deepEqual(await app.timeline(send.id), timeline);
});

test('a failure by the key alone waits, and an operator is told', async () => {
  const key = randomUUID();
  const send = await givenSend(key);
  const weak = await receive(confirmed({ clientRequestId: key, amount: 10.5, status: 'ERROR' }));
  assert.deepEqual(results(weak), ['parked: weak_id']);
  assert.equal((await stored(send.id)).status, 'PROCESSING');
  assert.equal((await app.timeline(send.id)).at(-1), 'ANOMALY weak_id event');
  assert.deepEqual(results(await receive(confirmed({ endToEnd: send.end_to_end }))), ['applied']);
  assert.equal((await stored(send.id)).status, 'COMPLETED');
});
