/** The bank's magic values, each to its end: the replies to the app, and what is stored. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { givenCustomer } from '../../support/factories.ts';
import { mockQueries } from '../../support/intercepted.ts';
import { startPixApp } from './pix-app.ts';

const settleMs = 1_500;

const app = await startPixApp({ environment: { STUB_SETTLE_MS: String(settleMs) } });

const begun = ['RESERVED', 'RESOLVED', 'PAYING 1'];

const refusals = [
  {
    pixKey: 'notfound@ponte.test',
    code: 'PIX_KEY_NOT_FOUND',
    outcome: 'not_sent',
    phase: 'SETTLED',
    timeline: ['RESERVED', 'SETTLED 1 404 look_up_failed'],
  },
  {
    pixKey: 'ratelimited@ponte.test',
    code: 'PROVIDER_RATE_LIMITED',
    outcome: 'not_sent',
    phase: 'SETTLED',
    retryAfter: '30',
    timeline: ['RESERVED', 'SETTLED 1 429 look_up_failed'],
  },
  {
    pixKey: 'unavailable@ponte.test',
    code: 'PROVIDER_UNAVAILABLE',
    outcome: 'not_sent',
    phase: 'SETTLED',
    timeline: ['RESERVED', 'SETTLED 3 5xx look_up_failed'],
  },
  {
    pixKey: 'reject@ponte.test',
    code: 'PROVIDER_REJECTED',
    outcome: 'rejected',
    phase: 'REJECTED',
    timeline: [...begun, 'REJECTED 1 4xx'],
  },
  {
    pixKey: 'ana@example.com',
    amount: 10_000.01,
    code: 'INSUFFICIENT_FUNDS',
    outcome: 'rejected',
    phase: 'REJECTED',
    timeline: [...begun, 'REJECTED 1 4xx'],
  },
];

for (const { pixKey, amount = 10, code, outcome, phase, retryAfter, timeline } of refusals) {
  const what = amount === 10 ? pixKey : 'an amount over the balance';
  test(`${what}: 502 ${code}, ${outcome}, the transaction is FAILED and nothing is paid`, async () => {
    const user = await givenCustomer(app);
    const sending = app.send(user, { pix_key: pixKey, amount }, { key: 'one' });
    const sent = await app.throughTime(sending);
    assert.equal(sent.status, 502);
    assert.equal(sent.body.code, code);
    assert.equal(sent.headers.get('pix-outcome'), outcome);
    assert.equal(sent.headers.get('retry-after'), retryAfter ?? null);
    assert.deepEqual(Object.keys(sent.body).sort(), ['code', 'message', 'transaction_id']);

    const again = await app.send(user, { pix_key: pixKey, amount }, { key: 'one' });
    assert.equal(again.status, 200);
    assert.equal(again.body.status, 'FAILED');
    assert.equal(again.body.transaction_id, sent.body.transaction_id);
    assert.equal(again.headers.get('pix-outcome'), outcome);
    assert.equal(again.headers.get('idempotency-replayed'), 'true');

    const stored = await app.stored(again.body.transaction_id);
    assert.deepEqual([stored.status, stored.phase, stored.failure_code], ['FAILED', phase, code]);
    assert.deepEqual(await app.timeline(stored.id), timeline);
    assert.deepEqual(await app.executed(user), []);
  });
}

test('a 502 never quotes the provider, and speaks Portuguese to who reads it', async () => {
  const user = await givenCustomer(app);
  const headers = { 'accept-language': 'pt-BR,pt;q=0.9' };
  const sent = await app.send(user, { pix_key: 'reject@ponte.test', amount: 10 }, { headers });
  const { transaction_id: id, ...refusal } = sent.body;
  assert.equal((await app.stored(id)).status, 'FAILED');
  assert.deepEqual(refusal, {
    code: 'PROVIDER_REJECTED',
    message: 'O banco recusou a operação.',
  });
});

test('flaky@ponte.test: the look-up is tried again and the payment goes through', async (t) => {
  const user = await givenCustomer(app);
  const lookUps = t.mock.method(app.bank, 'lookUpKey');
  const sent = await app.throughTime(app.send(user, { pix_key: 'flaky@ponte.test', amount: 10 }));
  assert.equal(sent.status, 200);
  assert.equal(sent.headers.get('pix-outcome'), 'accepted');
  assert.equal(lookUps.mock.callCount(), 2);
  assert.deepEqual(await app.timeline(sent.body.transaction_id), [...begun, 'ACCEPTED 1 2xx']);
});

const unknowns = [
  { pixKey: 'timeout@ponte.test', seen: 'timeout', attempts: 3 },
  { pixKey: 'lost@ponte.test', seen: '5xx', attempts: 3 },
  { pixKey: 'html@ponte.test', seen: 'invalid', attempts: 1 },
];

for (const { pixKey, seen, attempts } of unknowns) {
  test(`${pixKey}: 200 PROCESSING, unknown, until the webhook reports the payment`, async (t) => {
    const user = await givenCustomer(app);
    const payments = t.mock.method(app.bank, 'pay');
    const lookUps = t.mock.method(app.bank, 'lookUpKey');
    const sent = await app.throughTime(app.send(user, { pix_key: pixKey, amount: 10 }));
    const { transaction_id: id, end_to_end: endToEnd } = sent.body;
    assert.equal(sent.status, 200);
    assert.deepEqual(sent.body, { transaction_id: id, status: 'PROCESSING', end_to_end: endToEnd });
    assert.equal(sent.headers.get('pix-outcome'), 'unknown');
    assert.equal((await app.stored(id)).phase, 'UNKNOWN');
    assert.equal(payments.mock.callCount(), attempts);
    assert.equal(lookUps.mock.callCount(), 1);
    const orders = payments.mock.calls.map(({ arguments: [, order] }) => order);
    assert.ok(orders.every((order) => order.endToEnd === endToEnd));

    await app.clock.advance(settleMs);
    const stored = await app.settled(id);
    assert.deepEqual([stored.status, stored.outcome], ['COMPLETED', 'accepted']);
    const repeats = Array.from(
      { length: attempts - 1 },
      (_, nth) => `PAYING ${nth + 2} ${seen} after_unknown`,
    );
    const end = [`UNKNOWN ${attempts} ${seen}`, 'SETTLED COMPLETED event'];
    assert.deepEqual(await app.timeline(id), [...begun, ...repeats, ...end]);
    assert.deepEqual(await app.executed(user), [endToEnd]);
  });
}

test('any other key: accepted at once, COMPLETED by the webhook, phase by phase', async () => {
  const user = await givenCustomer(app);
  const sent = await app.send(user, { pix_key: 'ana@example.com', amount: 10 });
  const { transaction_id: id } = sent.body;
  assert.equal(sent.body.status, 'PROCESSING');
  assert.deepEqual(await app.timeline(id), [...begun, 'ACCEPTED 1 2xx']);
  await app.clock.advance(settleMs);
  assert.equal((await app.settled(id)).phase, 'SETTLED');
  const end = ['ACCEPTED 1 2xx', 'SETTLED COMPLETED event'];
  assert.deepEqual(await app.timeline(id), [...begun, ...end]);
  assert.equal((await app.view(user, id)).body.status, 'COMPLETED');
});

test('fail@ponte.test: accepted, then the webhook makes it FAILED with its reason', async () => {
  const user = await givenCustomer(app);
  const body = { pix_key: 'fail@ponte.test', amount: 10 };
  const sent = await app.send(user, body, { key: 'fails' });
  assert.equal(sent.headers.get('pix-outcome'), 'accepted');
  await app.clock.advance(settleMs);
  const stored = await app.settled(sent.body.transaction_id);
  assert.deepEqual([stored.status, stored.phase], ['FAILED', 'SETTLED']);
  assert.equal(stored.failure_code, 'DS04');
  assert.deepEqual((await app.timeline(stored.id)).slice(3), [
    'ACCEPTED 1 2xx',
    'SETTLED FAILED event',
  ]);
  const again = await app.send(user, body, { key: 'fails' });
  assert.deepEqual([again.status, again.body.status], [200, 'FAILED']);
  const headers = ['pix-outcome', 'pix-next'].map((name) => again.headers.get(name));
  assert.deepEqual(headers, ['accepted', 'new-key']);
});

test('slow@ponte.test: PROCESSING for thirty seconds, then COMPLETED', async () => {
  const user = await givenCustomer(app);
  const sent = await app.send(user, { pix_key: 'slow@ponte.test', amount: 10 });
  await app.clock.advance(29_999);
  assert.equal((await app.view(user, sent.body.transaction_id)).body.status, 'PROCESSING');
  await app.clock.advance(1);
  assert.equal((await app.settled(sent.body.transaction_id)).status, 'COMPLETED');
});

test('silent@ponte.test: accepted, and PROCESSING without a webhook', async () => {
  const user = await givenCustomer(app);
  const sent = await app.send(user, { pix_key: 'silent@ponte.test', amount: 10 });
  assert.equal(sent.headers.get('pix-outcome'), 'accepted');
  await app.clock.advance(5 * 60_000);
  await app.bank.idle();
  const stored = await app.stored(sent.body.transaction_id);
  assert.deepEqual([stored.status, stored.phase], ['PROCESSING', 'ACCEPTED']);
});

test('early@ponte.test: the webhook before the response still ends as COMPLETED, once', async () => {
  const user = await givenCustomer(app);
  const sent = await app.send(user, { pix_key: 'early@ponte.test', amount: 10 });
  assert.equal(sent.status, 200);
  assert.equal(sent.headers.get('pix-outcome'), 'accepted');
  const stored = await app.settled(sent.body.transaction_id);
  assert.deepEqual([stored.status, stored.outcome], ['COMPLETED', 'accepted']);
  const timeline = await app.timeline(stored.id);
  assert.equal(timeline.at(-1), 'SETTLED COMPLETED event');
  assert.deepEqual(await app.executed(user), [sent.body.end_to_end]);
});

test('twice@ponte.test: the second webhook changes nothing, the contradicting one is an anomaly', async (t) => {
  const user = await givenCustomer(app);
  const anomalies = await app.anomalies();
  const sent = await app.send(user, { pix_key: 'twice@ponte.test', amount: 10 });
  const { transaction_id: id } = sent.body;
  // Jobs run side by side: each further webhook is held until the first has been applied.
  let webhooks = 0;
  mockQueries(t, app.context.db, (run) => async (statement, parameters) => {
    if (statement.name === 'webhook-store') webhooks += 1;
    if (statement.name === 'webhook-store' && webhooks > 1) await app.settled(id);
    return run(statement, parameters);
  });
  await app.clock.advance(settleMs);
  const results = await app.resultsFor(id, 2);
  assert.deepEqual(results, ['applied', 'anomaly']);
  const stored = await app.stored(id);
  assert.deepEqual([stored.status, stored.failure_code], ['COMPLETED', null]);
  const end = ['ACCEPTED 1 2xx', 'SETTLED COMPLETED event'];
  const noted = 'ANOMALY contradicts_final_status event';
  assert.deepEqual(await app.timeline(id), [...begun, ...end, noted]);
  assert.equal(webhooks, 3);
  assert.equal(await app.anomalies(), anomalies + 1);
});
