/** Two users under one Idempotency-Key, at a provider that wants keys to be unique among all. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { givenCustomer, type TestUser } from '../../support/factories.ts';
import { intercepted } from '../../support/intercepted.ts';
import { startPixApp } from './pix-app.ts';
import { startScriptedBank, type PaymentRequest } from './scripted-bank.ts';

const bank = await startScriptedBank();
const app = await startPixApp({ bank: {} as never, environment: bank.environment });

const [first, second] = [await givenCustomer(app), await givenCustomer(app)];

const body = { pix_key: 'ana@example.com', amount: 10 };
const begun = ['RESERVED', 'RESOLVED', 'PAYING 1'];

/** A receipt of a payment with some of its ids. */
const receipt = (id: string, ids: Partial<PaymentRequest> = {}) => ({
  status: 200,
  body: { id, ...ids, status: 'PAID' },
});

async function accepted(user: TestUser, key: string) {
  bank.onPayment = (payment) => ({
    status: 200,
    body: { ...payment, id: 'p-1', status: 'PROCESSING' },
  });
  const sent = await app.send(user, body, { key });
  assert.equal(sent.headers.get('pix-outcome'), 'accepted');
  return app.stored(sent.body.transaction_id);
}

async function sentBySecond(key: string) {
  const sent = await app.throughTime(app.send(second, body, { key }));
  const rows = await app.rows<{ id: string }>(
    'select id from pix_transactions where user_id = $1 and idempotency_key = $2',
    [second.id, key],
  );
  const stored = await app.stored(rows[0]?.id ?? '');
  return { sent, stored, timeline: await app.timeline(stored.id) };
}

test('a refusal that names the payment of another user with the key: unknown', async () => {
  const other = await accepted(first, '1');
  const error = { code: 'DUPL', endToEndId: other.end_to_end };
  bank.onPayment = () => ({ status: 422, body: { error } });
  const { sent, timeline } = await sentBySecond('1');
  assert.deepEqual([sent.status, sent.body.status], [200, 'PROCESSING']);
  assert.equal(sent.headers.get('pix-outcome'), 'unknown');
  assert.deepEqual(timeline, [...begun, 'UNKNOWN 1 4xx']);
});

test('a receipt that names the key alone accepts its only payment, and an event completes it', async () => {
  bank.onPayment = ({ clientRequestId }) => receipt('p-2', { clientRequestId });
  const { sent, stored } = await sentBySecond('7');
  assert.deepEqual([sent.status, sent.body.status], [200, 'PROCESSING']);
  assert.equal(sent.headers.get('pix-outcome'), 'accepted');
  assert.equal(stored.phase, 'ACCEPTED');
  const event = { event: 'PIX_PAYMENT_OUT', endToEnd: stored.end_to_end, status: 'CONFIRMED' };
  await app.call('/webhooks/provider', { method: 'POST', body: event });
  assert.equal((await app.settled(stored.id)).status, 'COMPLETED');
});

test('a receipt that names a key of two users alone: unknown, and that is noted', async () => {
  const other = await accepted(first, '8');
  bank.onPayment = ({ clientRequestId }) => receipt('p-1', { clientRequestId });
  const { sent, timeline } = await sentBySecond('8');
  assert.deepEqual([sent.status, sent.body.status], [200, 'PROCESSING']);
  assert.equal(sent.headers.get('pix-outcome'), 'unknown');
  assert.deepEqual(timeline, [...begun, `ANOMALY same_key_as ${other.id}`, 'UNKNOWN 1 2xx']);
});

test('a receipt that names the key alone is not reported as accepted before it is checked', async () => {
  const { db } = app.context;
  const { query } = db;
  const away = intercepted(
    db,
    (run) => (statement, parameters) =>
      statement.name === 'pix-key-holder'
        ? Promise.reject(new Error('simulated: the database is away'))
        : run(statement, parameters),
  );
  Object.assign(db, { query: away.query });
  bank.onPayment = ({ clientRequestId }) => receipt('p-4', { clientRequestId });
  const { sent, stored } = await sentBySecond('9');
  Object.assign(db, { query });
  assert.deepEqual([sent.status, sent.body.status], [200, 'PROCESSING']);
  assert.equal(sent.headers.get('pix-outcome'), 'unknown');
  assert.equal(stored.phase, 'PAYING');
});

test('receipts that name none of the ids: unknown, and they open no breaker', async () => {
  bank.onPayment = () => receipt('p-3');
  for (let nth = 0; nth < 12; nth += 1) {
    const { sent, timeline } = await sentBySecond(`bare-${nth}`);
    assert.equal(sent.headers.get('pix-outcome'), 'unknown');
    assert.deepEqual(timeline, [...begun, 'UNKNOWN 1 2xx']);
  }
});
