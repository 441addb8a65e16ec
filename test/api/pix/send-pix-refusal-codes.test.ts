/** Responses to a payment that are not receipts, over HTTP: only a listed code rejects it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { givenCustomer, logIn } from '../../support/factories.ts';
import { startPixApp } from './pix-app.ts';
import {
  acceptance,
  startScriptedBank,
  type PaymentRequest,
  type ScriptedResponse,
} from './scripted-bank.ts';

const bank = await startScriptedBank();
const app = await startPixApp({ bank: {} as never, environment: bank.environment });
const user = await givenCustomer(app);

const body = { pix_key: 'ana@example.com', amount: 10 };

interface StoredResponse {
  readonly http_status: number | null;
  readonly provider_code: string | null;
}

/** Sends with a payment that is answered so. */
async function sent(scripted: (payment: PaymentRequest) => ScriptedResponse) {
  bank.onPayment = scripted;
  const response = await app.throughTime(app.send(user, body));
  const endToEnd = bank.payments.at(-1)?.endToEnd;
  const [row] = await app.rows<{ id: string }>(
    'select id from pix_transactions where end_to_end = $1',
    [endToEnd],
  );
  const stored = await app.stored(row?.id ?? '');
  const [last] = await app.rows<StoredResponse>(
    `select http_status, provider_code from pix_timeline where transaction_id = $1
      order by id desc limit 1`,
    [stored.id],
  );
  return { response, stored, answered: [last?.http_status ?? null, last?.provider_code ?? null] };
}

type Case = readonly [status: number, type: string, body: unknown, code: string | null];

const json = 'application/json';
const ofReceipt = ({ endToEnd, clientRequestId }: PaymentRequest) => ({
  id: 'p1',
  status: 'ERROR',
  endToEnd,
  clientRequestId,
});

const unknown: readonly Case[] = [
  [422, 'text/plain', 'Duplicate clientRequestId', null],
  [422, json, [{ code: 'PBE300' }], null],
  [422, json, [{ code: 'AC03' }], null],
  [422, json, 'AC03', null],
  [422, 'application/problem+json', '{"code":"PBE300","code":"AC03"}', null],
  [422, 'application/problem+json', '{"error":{"code":"X"},"error":{"code":"AC03"}}', null],
  [422, 'application/xml', '<error><code>AC03</code></error>', null],
  [400, json, { clientRequestId: ['already exists'] }, null],
  [400, json, { violations: [{ code: 'AC03' }] }, null],
  [422, json, { msg: 'EndToEndId duplicado' }, null],
  [422, json, { message: 'Não foi possível determinar o resultado da interação' }, null],
  [422, json, { code: 'PBE324' }, 'PBE324'],
  [422, json, { code: '529.982.247-25' }, 'unreadable'],
  [422, json, { code: '52998224725' }, 'unreadable'],
  [422, json, { code: '12ABC34501DE35' }, 'unreadable'],
  [422, json, { code: 'Maria da Silva' }, 'unreadable'],
  [423, json, { code: 'IN_PROGRESS' }, 'IN_PROGRESS'],
  [409, json, { code: 'AC03' }, 'AC03'],
  [405, 'text/html', '<html>method not allowed</html>', null],
  [404, 'text/html', '<html>not found</html>', null],
  [429, 'text/html', '<html>slow down</html>', null],
  [403, 'text/html', '<html>blocked by gateway</html>', null],
  [403, json, 'AC03', null],
  [425, json, { code: 'AC03' }, 'AC03'],
  [422, json, { code: 'AC03', success: true }, 'unreadable'],
  [422, json, { code: 'AC03', payment: { status: 'CONFIRMED' } }, 'unreadable'],
  [422, json, { code: 'AC03', statusCode: 200 }, 'unreadable'],
  [422, json, { code: 'AC03', situacao: 'EFETIVADA' }, 'unreadable'],
  [422, json, { code: 'AC03', status: 'EM_ANALISE' }, 'unreadable'],
  [422, json, { code: 'AC03', reason: 'AM05' }, 'unreadable'],
  [422, json, { code: 'AC03', environment: 'TESTING' }, 'unreadable'],
  [422, json, { code: 'AC03', errors: [{ code: 'CBE100' }] }, 'unreadable'],
  [422, json, { code: 'AC03', key: 'other@example.com' }, 'unreadable'],
  [422, json, { error: { code: 'AC03', key: 'other@example.com' } }, 'unreadable'],
  [422, json, { code: 'AC03', errors: [{ key: 'other@example.com' }] }, 'unreadable'],
  [422, json, { error: { code: 'AC03', creditor: { key: 'other@example.com' } } }, 'unreadable'],
  [422, json, { code: 'AC03', currency: 'USD' }, 'unreadable'],
  ...['AM05', 'DUPL', 'PBE300', 'CBE100', 'CBE101'].map((code): Case => [
    422,
    json,
    { code },
    code,
  ]),
];

for (const [status, type, scripted, code] of unknown) {
  test(`${status} ${JSON.stringify(scripted)}: 200 PROCESSING, unknown, and noted`, async () => {
    const { response, stored, answered } = await sent(() => ({ status, type, body: scripted }));
    assert.deepEqual([response.status, response.body.status], [200, 'PROCESSING']);
    assert.equal(response.headers.get('pix-outcome'), 'unknown');
    assert.equal(stored.phase, 'UNKNOWN');
    assert.deepEqual(answered, [status, code]);
  });
}

for (const [what, extra] of [
  ['a sentence', { message: 'Tempo esgotado; o resultado será notificado' }],
  ['an unlisted code', { code: 'E42' }],
  ['a listed code elsewhere', { reason: 'AC03' }],
  ['no word, but a flag', { status: null, isSuccess: false }],
  ['no word, but a number', { status: 'PROCESSING', statusCode: 422 }],
  ['no word, but its errors', { status: null, erros: ['saldo'] }],
  ['a word of another language', { status: 'REJEITADO' }],
  ['a word of another spelling', { status: 'CANCELED' }],
] as const) {
  test(`200 that says that it failed, with ${what}: unknown`, async () => {
    const { response, stored } = await sent((payment) => ({
      status: 200,
      body: { ...ofReceipt(payment), ...extra },
    }));
    assert.deepEqual([response.status, response.headers.get('pix-outcome')], [200, 'unknown']);
    assert.equal(stored.phase, 'UNKNOWN');
  });
}

const rejected: readonly (readonly [number, (payment: PaymentRequest) => object, string])[] = [
  [422, () => ({ code: 'INSUFFICIENT_FUNDS' }), 'INSUFFICIENT_FUNDS'],
  [400, () => ({ error: { code: 'AC07' } }), 'PROVIDER_REJECTED'],
  [400, () => ({ error: { code: 'AC07', key: body.pix_key } }), 'PROVIDER_REJECTED'],
  [400, () => ({ error: { code: 'AC07', key: 'amount' } }), 'PROVIDER_REJECTED'],
  [422, () => ({ code: 'AC07', errors: [{ key: 'amount', code: 'AC07' }] }), 'PROVIDER_REJECTED'],
  [422, () => ({ code: 'AC07', creditor: { key: 'Ana@Example.com' } }), 'PROVIDER_REJECTED'],
  [403, () => ({ code: 'AC03' }), 'PROVIDER_REJECTED'],
  [404, () => ({ code: 'AC03' }), 'PROVIDER_REJECTED'],
  [423, () => ({ code: 'AC03', key: body.pix_key, currency: 'BRL' }), 'PROVIDER_REJECTED'],
  [200, (payment) => ({ ...ofReceipt(payment), code: 'AC03' }), 'PROVIDER_REJECTED'],
];

for (const [status, scripted, code] of rejected) {
  test(`${status} with a listed code: 502 ${code}, rejected, FAILED`, async () => {
    const { response, stored, answered } = await sent((payment) => ({
      status,
      body: scripted(payment),
    }));
    assert.deepEqual([response.status, response.body.code], [502, code]);
    assert.equal(response.headers.get('pix-outcome'), 'rejected');
    assert.deepEqual([stored.status, stored.outcome], ['FAILED', 'rejected']);
    assert.equal(stored.failure_code, code);
    assert.equal(answered[0], status);
  });
}

test('a listed code after an attempt that ended unknown: unknown; each attempt is noted', async () => {
  let attempts = 0;
  const { response, stored, answered } = await sent(() => {
    attempts += 1;
    return attempts === 1
      ? { status: 500, body: { code: 'X-1' } }
      : { status: 422, body: { code: 'AC03' } };
  });
  assert.equal(response.headers.get('pix-outcome'), 'unknown');
  assert.deepEqual(answered, [422, 'AC03']);
  const [repeat] = await app.rows<StoredResponse>(
    `select http_status, provider_code from pix_timeline
      where transaction_id = $1 and phase = 'PAYING' and attempt = 2`,
    [stored.id],
  );
  assert.deepEqual(repeat, { http_status: 500, provider_code: 'X-1' });
});

test('401 to a payment: 401 unknown, the session ends; the same key after a login pays', async () => {
  const customer = await givenCustomer(app);
  bank.onPayment = () => ({ status: 401, body: { message: 'token' } });
  const response = await app.throughTime(app.send(customer, body, { key: 'k-401' }));
  assert.deepEqual([response.status, response.headers.get('pix-outcome')], [401, 'unknown']);
  const ended = await app.call('/accounts/balance', { token: customer.token });
  assert.equal(ended.status, 401);

  const paid = bank.payments.length;
  const token = await logIn(app, customer.email);
  bank.onPayment = acceptance;
  const again = await app.send({ ...customer, token }, body, { key: 'k-401' });
  assert.deepEqual([again.status, again.headers.get('pix-outcome')], [200, 'accepted']);
  assert.equal(bank.payments.length, paid + 1);
});
