/** Events that move nothing and still say something of a transaction: none of it goes unseen. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { unwatched } from '../operator/asking.ts';
import { listWebhooks } from '../../../src/operator/webhooks.ts';
import { previewReplay } from '../../../src/settlement/replay.ts';
import { confirmed, results, startSettlingApp } from './settling.ts';

const app = await startSettlingApp();
const { context, customer, givenSend, stored, receive } = app;

const { newEndToEnd } = app;

const warnings = () =>
  app.logLines.filter((line) =>
    line.includes('an event about a stored transaction was not understood'),
  );

async function unread(): Promise<number> {
  const { values } = await context.metrics.pixUnreadEvents.get();
  return values.reduce((sum, { value }) => sum + value, 0);
}

/** How many events were counted because they are not understood, whatever they concern. */
async function unreadFor(reason: string): Promise<number> {
  const { values } = await context.metrics.unreadEvents.get();
  return values.find(({ labels }) => labels.reason === reason)?.value ?? 0;
}

async function readEvents(transactionId: string): Promise<string[]> {
  const { events } = await listWebhooks.run(context, { transactionId, limit: 100 }, unwatched);
  return events.map(({ id }) => id);
}

async function givenCharge() {
  const response = await app.charge(customer, { type: 'dynamic', amount: 10.5 });
  const { id, transaction_identification: txid } = await stored(response.body.transaction_id);
  return { id, txid };
}

const notUnderstood: readonly [string, Record<string, unknown>][] = [
  ['unreadable_amount', { amount: '10,50' }],
  ['unknown_status', { status: 'SETTLED_OK' }],
  ['unknown_event', { event: 'PIX_SENT' }],
  ['reversal', { event: 'REVERSAL' }],
  ['contradictory_status', { Status: 'FAILED' }],
  ['contradictory_id', { end_to_end: 'E999' }],
  ['unreadable_amount', { amount: 10.5, Amount: 99 }],
  ['unknown_status', { status: 2 }],
  ['unknown_status', { status: '3' }],
  ['undeclared_field', { status: null, StatusCode: { StatusId: 3, Description: 'Scheduled' } }],
  ['undeclared_field', { event: null, eventType: 'PIX_SCHEDULE', amount: 10.5 }],
  [
    'undeclared_field',
    { event: null, eventType: 'PIX_REFUND', status: 'REJECTED', errorCode: 'AC03', amount: 10.5 },
  ],
  ['unlisted_code', { status: 'ERROR', error: { code: 'PBE300' } }],
  ['unlisted_code', { status: 'ERROR', error: 'Duplicated EndToEndId' }],
];

for (const [reason, changes] of notUnderstood) {
  test(`what is not understood of an open send is found by the send: ${reason}`, async () => {
    const send = await givenSend();
    const [counted, settlement] = [await unread(), warnings().length];
    const event = await receive(confirmed({ endToEnd: send.end_to_end, ...changes }));
    assert.deepEqual(event.items, [
      { index: 0, result: 'ignored', reason, transactionId: send.id },
    ]);
    assert.equal(event.status, 'ignored');
    assert.deepEqual(await stored(send.id), send);
    assert.equal((await unread()) - counted, 1);
    assert.equal(warnings().length - settlement, 1);
    assert.match(warnings().at(-1) ?? '', new RegExp(`"transactionId":"${send.id}"`));
    assert.deepEqual(await readEvents(send.id), [event.eventId]);
  });
}

for (const said of [
  { eventType: 'CHARGE_CANCELLATION', status: 'SUCCESS' },
  { action: 'cancel', status: 'SUCCESS' },
  { id: 'c-1', emv: '00020101021226', status: 'SUCCESS' },
]) {
  test(`what may be about something else completes no charge: ${JSON.stringify(said)}`, async () => {
    const { id, txid } = await givenCharge();
    const event = await receive({ ...said, transactionIdentification: txid, amount: 10.5 });
    assert.deepEqual(results(event), ['ignored: undeclared_field']);
    assert.equal((await stored(id)).status, 'PROCESSING');
  });
}

test('it is found by each id of an open transaction, and recorded once', async () => {
  const [send, charge] = [await givenSend('key-of-unread'), await givenCharge()];
  const named: readonly [Record<string, unknown>, string][] = [
    [{ clientRequestId: 'key-of-unread' }, send.id],
    [{ id: send.provider_txid, endToEnd: newEndToEnd() }, send.id],
    [{ txid: charge.txid }, charge.id],
    [{ txid: charge.txid?.slice(0, 25) }, charge.id],
  ];
  for (const [ids, id] of named) {
    const event = await receive(confirmed({ ...ids, status: 'PERHAPS' }));
    assert.equal(event.items[0]?.transactionId, id, JSON.stringify(ids));
    const counted = await unread();
    await app.settle(event.eventId);
    assert.equal(await unread(), counted);
    const previewed = await previewReplay(context, event.eventId);
    assert.ok(previewed.kind === 'preview');
    const [item] = previewed.items;
    assert.deepEqual([item?.result, item?.transactionId], ['ignored', id]);
    assert.equal(await unread(), counted);
  }
});

test('of a settled or an unknown transaction, it is only stored', async () => {
  const send = await givenSend('key-of-nobody');
  await receive(confirmed({ endToEnd: send.end_to_end, amount: 10.5 }));
  const counted = await unread();
  const others = [
    { endToEnd: send.end_to_end, status: 'PERHAPS' },
    { endToEnd: newEndToEnd(), status: 'PERHAPS' },
    { status: 'PERHAPS' },
  ];
  for (const ids of others) {
    const event = await receive(confirmed(ids));
    assert.equal(event.items[0]?.result, 'ignored');
    assert.equal(event.items[0]?.transactionId, undefined);
  }
  const underWay = await givenSend();
  await receive(confirmed({ endToEnd: underWay.end_to_end, status: 'PROCESSING' }));
  assert.equal(await unread(), counted);
});

test('a failure of a received payment is an anomaly, that of another attempt is not', async () => {
  const { id, txid } = await givenCharge();
  const [endToEnd, other] = [newEndToEnd(), newEndToEnd()];
  const failed = (ids: Record<string, unknown>) => ({
    event: 'PIX_RECEIVED',
    status: 'ERROR',
    ...ids,
  });
  assert.deepEqual(results(await receive(failed({ txid, endToEnd }))), ['ignored: not_received']);
  await receive({ event: 'PIX_RECEIVED', txid, endToEnd, amount: 10.5 });
  const before = await app.anomalies();
  const contradicting = [{ txid, n: 2 }, { endToEnd }, { txid, endToEnd, n: 2 }];
  for (const ids of contradicting) {
    const event = await receive(failed(ids));
    assert.deepEqual(results(event), ['anomaly: contradicts_final_status'], JSON.stringify(ids));
    assert.deepEqual([event.status, event.items[0]?.transactionId], ['anomaly', id]);
  }
  assert.equal((await app.anomalies()) - before, 3);
  assert.equal((await app.timeline(id)).at(-1), 'ANOMALY contradicts_final_status event');
  const another = await receive(failed({ txid, endToEnd: other }));
  assert.deepEqual(results(another), ['ignored: not_received']);
  assert.equal((await stored(id)).status, 'COMPLETED');
});

test('a failure of a recorded PIX is an anomaly', async () => {
  const endToEnd = newEndToEnd();
  const received = { event: 'PIX_RECEIVED', endToEnd, amount: 5, key: customer.email };
  const [recorded] = (await receive(received)).items;
  const settlement = await receive({ ...received, status: 'FAILED' });
  assert.deepEqual(results(settlement), ['anomaly: contradicts_final_status']);
  assert.equal(settlement.items[0]?.transactionId, recorded?.transactionId);
});

test('a failure that names a charge, and the end-to-end id of an open send, is found by the send', async () => {
  const send = await givenSend();
  const { txid } = await givenCharge();
  const said = { type: 'pix', endToEndId: send.end_to_end, txid, amount: 10.5, status: 'FAILED' };
  const { items } = await receive(said);
  assert.deepEqual(items, [
    { index: 0, result: 'ignored', reason: 'unlisted_code', transactionId: send.id },
  ]);
  assert.equal((await stored(send.id)).status, 'PROCESSING');
});

for (const [reason, payload] of [
  ['no_id', { event: 'PIX_RECEIVED', e2eId: newEndToEnd(), key: customer.email, amount: 5 }],
  ['no_id', { event: 'PIX_PAYMENT', e2eId: newEndToEnd(), status: 'CONFIRMED', amount: 5 }],
  ['not_an_object', [JSON.stringify({ event: 'PIX_RECEIVED', endToEnd: newEndToEnd() })]],
  ['not_an_object', [[[{ event: 'PIX_RECEIVED', endToEnd: newEndToEnd(), amount: 5 }]]]],
] as const) {
  test(`money that no id names is counted and logged: ${JSON.stringify(payload)}`, async () => {
    const [before, lines] = [await unreadFor(reason), app.logLines.length];
    assert.deepEqual(results(await receive(payload)), [`ignored: ${reason}`]);
    assert.equal((await unreadFor(reason)) - before, 1);
    const logged = app.logLines.slice(lines).filter((line) => line.includes('no dialect reads'));
    assert.match(logged.join(), new RegExp(`"reason":"${reason}"`));
  });
}
