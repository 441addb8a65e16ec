/** Two users under one Idempotency-Key, at a provider that wants keys to be unique among all. */
import assert from 'node:assert/strict';
import { createServer, type IncomingMessage } from 'node:http';
import { json } from 'node:stream/consumers';
import { test } from 'node:test';
import type { Statement } from '../../../src/db/database.ts';
import { listening } from '../../unit/provider/http/raw-server.ts';
import { givenCustomer, type TestUser } from '../../support/factories.ts';
import { unhurriedTimeoutMs } from '../../support/passing-time.ts';
import { startPixApp } from './pix-app.ts';

interface Payment {
  readonly endToEnd: string;
  readonly clientRequestId: string;
}

type Answer = readonly [status: number, body: unknown];

/** How the provider answers a payment. */
const script: { payments(payment: Payment): Answer } = { payments: () => [404, {}] };

let made = 0;

async function answerOf(request: IncomingMessage): Promise<Answer> {
  made += 1;
  switch (request.url) {
    case '/internal/api/v1/auth/login': {
      const account = { agency: '0001', accountNumber: `${1000 + made}`, document: '11144477735' };
      return [200, { access_token: `token-${made}`, account }];
    }
    case '/internal/api/v1/keys/dict':
      return [200, { endToEnd: `E11165756202605241200${String(made).padStart(11, '0')}` }];
    case '/internal/api/v1/payments':
      return script.payments((await json(request)) as Payment);
    default:
      return [404, {}];
  }
}

const provider = createServer((request, response) => {
  void answerOf(request).then(([status, body]) => {
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  });
});
const port = await listening(provider);

const app = await startPixApp({
  bank: {} as never,
  environment: {
    PROVIDER_STUB: 'false',
    PROVIDER_BASE_URL: `http://127.0.0.1:${port}`,
    PROVIDER_TIMEOUT_MS: String(unhurriedTimeoutMs),
  },
});

const [first, second] = [await givenCustomer(app), await givenCustomer(app)];

const body = { pix_key: 'ana@example.com', amount: 10 };
const begun = ['RESERVED', 'RESOLVED', 'PAYING 1'];

const accept = (payment: Payment): Answer => [200, { ...payment, id: 'p-1', status: 'PROCESSING' }];

async function accepted(user: TestUser, key: string) {
  script.payments = accept;
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
  script.payments = () => [422, { error: { code: 'DUPL', endToEndId: other.end_to_end } }];
  const { sent, timeline } = await sentBySecond('1');
  assert.deepEqual([sent.status, sent.body.status], [200, 'PROCESSING']);
  assert.equal(sent.headers.get('pix-outcome'), 'unknown');
  assert.deepEqual(timeline, [...begun, 'UNKNOWN 1 4xx']);
});

test('a receipt that names the key alone accepts its only payment, and an event completes it', async () => {
  script.payments = ({ clientRequestId }) => [200, { id: 'p-2', clientRequestId, status: 'PAID' }];
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
  script.payments = ({ clientRequestId }) => [200, { id: 'p-1', clientRequestId, status: 'PAID' }];
  const { sent, timeline } = await sentBySecond('8');
  assert.deepEqual([sent.status, sent.body.status], [200, 'PROCESSING']);
  assert.equal(sent.headers.get('pix-outcome'), 'unknown');
  assert.deepEqual(timeline, [...begun, `ANOMALY same_key_as ${other.id}`, 'UNKNOWN 1 2xx']);
});

test('a receipt that names the key alone is not reported as accepted before it is checked', async () => {
  const { db } = app.context;
  const query = db.query.bind(db);
  Object.assign(db, {
    query: (statement: Statement, parameters: readonly unknown[]) =>
      statement.name === 'pix-key-holder'
        ? Promise.reject(new Error('simulated: the database is away'))
        : query(statement, parameters),
  });
  script.payments = ({ clientRequestId }) => [200, { id: 'p-4', clientRequestId, status: 'PAID' }];
  const { sent, stored } = await sentBySecond('9');
  Object.assign(db, { query });
  assert.deepEqual([sent.status, sent.body.status], [200, 'PROCESSING']);
  assert.equal(sent.headers.get('pix-outcome'), 'unknown');
  assert.equal(stored.phase, 'PAYING');
});

test('receipts that name none of the ids: unknown, and they open no breaker', async () => {
  script.payments = () => [200, { id: 'p-3', status: 'PAID' }];
  for (let nth = 0; nth < 12; nth += 1) {
    const { sent, timeline } = await sentBySecond(`bare-${nth}`);
    assert.equal(sent.headers.get('pix-outcome'), 'unknown');
    assert.deepEqual(timeline, [...begun, 'UNKNOWN 1 2xx']);
  }
});
