import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { describe, it } from 'node:test';
import { parse } from 'yaml';
import { doubtfulStatuses } from '../../../../src/provider/refusals.ts';
import { dialects } from '../../../support/dialects.ts';
import type { ProviderErrorOptions } from '../../../../src/provider/errors.ts';
import type { Provider } from '../../../../src/provider/provider.ts';
import { chargeOrder, failure, payer } from '../sandbox/bank/open-bank.ts';
import { order, session } from '../scripted-provider.ts';
import { notUnderstood, providerAt, timedOut } from './over-http.ts';
import { responding } from './raw-server.ts';

type Expected = Partial<ProviderErrorOptions>;

interface Case {
  readonly status: number;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly expected: Expected;
}

const rejected: Expected = {
  outcome: 'rejected',
  code: 'PROVIDER_REJECTED',
  statusClass: '4xx',
  retryable: false,
};

const doubtful: Expected = { ...rejected, outcome: 'unknown' };

const unavailable: Expected = {
  outcome: 'unknown',
  code: 'PROVIDER_UNAVAILABLE',
  statusClass: '5xx',
  retryable: true,
};

const tokenRefused: Expected = {
  outcome: 'not_sent',
  code: 'TOKEN_REFUSED',
  statusClass: '401',
  retryable: false,
};

const limited: Expected = { ...rejected, code: 'PROVIDER_RATE_LIMITED', statusClass: '429' };

const refundOrder = {
  returnId: 'D11165756202605241530aB3dE5gH7jK',
  endToEnd: order.endToEnd,
  clientRequestId: 'r-1',
  amountCents: 500,
  account: payer,
};

const calls = {
  login: (provider: Provider) => provider.login({ email: 'a@b.c', password: 'x' }),
  balance: (provider: Provider) => provider.balance({ session }),
  lookUpKey: (provider: Provider) => provider.lookUpKey({ session, payerId: '1', key: 'k' }),
  pay: (provider: Provider) => provider.pay({ session, order }),
  refund: (provider: Provider) => provider.refund({ session, order: refundOrder }),
  charge: (provider: Provider) => provider.createDynamicCharge({ session, order: chargeOrder() }),
  createKey: (provider: Provider) =>
    provider.createKey({ session, keyType: 'CPF', key: '1', account: payer }),
  deleteKey: (provider: Provider) => provider.deleteKey({ session, key: 'k', account: payer }),
} as const;

const { endToEnd, clientRequestId } = order;
const ids = { endToEnd, clientRequestId };

/** The code at its declared place. */
function reasonIn(body: { readonly code?: string; readonly error?: { code: string } }): Expected {
  const reason = body.code ?? body.error?.code;
  return reason === undefined ? {} : { reason };
}

function cases(call: keyof typeof calls, table: readonly Case[]): void {
  for (const { status, body = '', headers, expected } of table) {
    const shown = [JSON.stringify(body), headers && JSON.stringify(headers)].filter(Boolean);
    it(`${status} ${shown.join(' ').slice(0, 90)}: ${expected.outcome} ${expected.code}`, async () => {
      const { url } = await responding(status, body, headers);
      assert.deepEqual(await failure(calls[call](providerAt(url))), expected);
    });
  }
}

describe('a payment is refused by a listed code in an object, with a status of refusals:', () => {
  const listed = (code: string): Expected => ({
    ...rejected,
    code: dialects.refusals.get(code)?.error ?? 'PROVIDER_REJECTED',
    reason: code,
  });
  cases('pay', [
    ...[...dialects.refusals.keys()].map((code) => ({
      status: 422,
      body: { code },
      expected: listed(code),
    })),
    ...[400, 402, 403, 405, 406, 410, 413, 415, 418, 423, 424, 428, 451, 460, 499].map(
      (status) => ({ status, body: { code: 'AC03' }, expected: listed('AC03') }),
    ),
    { status: 404, body: { code: 'AC03' }, expected: { ...listed('AC03'), statusClass: '404' } },
    {
      status: 422,
      body: { code: 'AC03', error: { code: 'ac03' }, statusCode: 422, success: false },
      expected: listed('AC03'),
    },
    { status: 422, body: { code: 'AC03', key: order.key }, expected: listed('AC03') },
    { status: 422, body: { code: 'AC03', key: 'a**@ponte.test' }, expected: listed('AC03') },
    {
      status: 422,
      body: { code: 'AC03', currency: 'BRL', scheduleDate: null, test: false },
      expected: listed('AC03'),
    },
    { status: 422, body: { error: { code: 'AB09' } }, expected: listed('AB09') },
    { status: 422, body: { Code: ' insufficient_funds ' }, expected: listed('INSUFFICIENT_FUNDS') },
    { status: 422, body: { code: 'AC07', error: { code: 'ac07' } }, expected: listed('AC07') },
    {
      status: 422,
      body: { code: 'AC07', message: 'account already closed' },
      expected: listed('AC07'),
    },
    ...['ERROR', 'REJECTED', 'cancelled'].flatMap((status) =>
      [
        { endToEnd: order.endToEnd, status, code: 'AC03' },
        { data: { endToEnd: order.endToEnd, status, error: { code: 'AC03' } } },
        { ...ids, id: 'p1', status, error: { code: 'AC03' } },
      ].map((body) => ({
        status: 200,
        body,
        expected: { ...listed('AC03'), statusClass: '2xx' as const },
      })),
    ),
  ]);

  it('the description of the provider lists no status that refuses nothing', async () => {
    const text = await readFile('contract/provider.yaml', 'utf8');
    const { paths } = parse(text) as { paths: Record<string, { post: { responses: object } }> };
    const responses = Object.entries(paths['/internal/api/v1/payments']?.post.responses ?? {});
    const refusals = responses.filter(([, one]) => one.$ref === '#/components/responses/Refused');
    const statuses = new Set(refusals.map(([status]) => Number(status)));
    assert.ok(statuses.has(422));
    assert.ok(statuses.isDisjointFrom(doubtfulStatuses));
  });
});

describe('a payment is never called refused by', () => {
  const doubt = (code?: string): Expected => (code ? { ...doubtful, reason: code } : doubtful);
  const unlisted: readonly (readonly [body: unknown, code?: string])[] = [
    [''],
    ['Duplicate clientRequestId'],
    ['<html>blocked</html>'],
    ['<error><code>AC03</code></error>'],
    ['"AC03"'],
    ['AC03'],
    ['null'],
    ['["AC03"]'],
    [[{ code: 'AC03' }]],
    [{ code: ['AC03'] }, 'unreadable'],
    [{ code: { code: 'AC03' } }, 'unreadable'],
    [{ code: 'AC03', error: { code: 'PBE300' } }, 'unreadable'],
    [{ code: 'AC03', Code: 'AM05' }, 'unreadable'],
    [{ errors: [{ code: 'AC03' }] }],
    [{ violations: [{ code: 'AC03' }] }],
    [{ data: { code: 'AC03' } }],
    [{ error: 'AC03' }],
    [{ reason: 'AC03' }],
    [{ errorCode: 'AC03' }],
    [{ title: 'AC03' }],
    [{ msg: 'EndToEndId duplicado' }],
    [{ message: 'Não foi possível determinar o resultado da interação' }],
    [{ clientRequestId: ['already exists'] }],
    [{ code: 'toString' }, 'TOSTRING'],
    [{ code: '__proto__' }, 'unreadable'],
    [{ code: 'Maria da Silva' }, 'unreadable'],
    [{ code: '52998224725' }, 'unreadable'],
    [{ code: 17 }, '17'],
    [{ endToEnd: 'E-other', code: 'AC03' }, 'unreadable'],
    [{ clientRequestId: 'other', error: { code: 'AC03' } }, 'unreadable'],
    [{ data: { endToEnd: 'E-other' }, code: 'AC03' }, 'unreadable'],
    [{ ...ids, status: 'CONFIRMED', code: 'AC03' }, 'unreadable'],
    [{ status: 'PROCESSING', code: 'AC03' }, 'unreadable'],
    ...[true, 'True', 1].map((success) => [{ success, code: 'AC03' }, 'unreadable'] as const),
    ...[
      { endToEndId: 'E-other' },
      { clientCode: 'other' },
      { status: 'PROCESSING' },
      { success: true },
    ].map((named) => [{ error: { code: 'AC03', ...named } }, 'unreadable'] as const),
    [{ error: { code: 'AC03' }, Error: { code: 'ED05' } }, 'unreadable'],
    [{ code: 'AC03', data: {}, Data: { endToEnd: 'E-other' } }, 'unreadable'],
    // Signs of success beside the code.
    ...[
      { status: 'CONFIRMED' },
      { status: 'sent_ok', paymentStatus: 'PAID' },
      { situacao: 'Liquidado' },
      { status: 200 },
      { status: '201' },
      { statusCode: 202 },
      { httpStatus: '200' },
      { ok: true },
      { sucesso: 'sim' },
      { approved: 1 },
      { payment: { status: 'COMPLETED' } },
      { data: { payments: [{ state: 'settled' }] } },
      { error: { code: 'AC03', detail: { success: 'true' } } },
      // A second code that is not listed.
      { errorCode: 'E42' },
      { reasonCode: 'AM05' },
      { errors: [{ code: 'PBE300' }] },
      { details: { error: { code: 17 } } },
      // Foreign matter.
      { key: 'other@ponte.test' },
      { data: { creditParty: { key: '52998224725' } } },
      { scheduleDate: '2026-06-01' },
      { payment: { agendamento: { data: '2026-06-01' } } },
      { paymentDate: '2099-01-01' },
      { test: true },
      { environment: 'sandbox' },
      { livemode: false },
      { currency: 'USD' },
      { amount: { value: 10.5, currency: 'EUR' } },
      { cancelledAt: '2026-05-24T15:30:00Z' },
      { payment: { cancelled: true } },
      // Another payment, wherever it is named.
      { payment: { endToEndId: 'E-other' } },
      { error: { code: 'AC03', details: [{ clientCode: 'other' }] } },
      { payment: { key: 'other@ponte.test' } },
      { creditParty: { pixKey: { pixKey: 'other@ponte.test' } } },
      { status: ['COMPLETED'] },
    ].map((sign) => [{ code: 'AC03', ...sign }, 'unreadable'] as const),
    ...['CBE100', 'CBE101', 'DU01', 'DU05'].map((code) => [{ code }, code] as const),
    ...['DUPL', 'AM05', 'DU04', 'PBE300', 'PBE324', 'IN_PROGRESS', 'TIMEOUT', 'ED05', 'AC99'].map(
      (code) => [{ code }, code] as const,
    ),
  ];
  cases('pay', [
    ...[400, 422].flatMap((status) =>
      unlisted.map(([body, code]) => ({ status, body, expected: doubt(code) })),
    ),
    ...[409, 425].map((status) => ({
      status,
      body: { code: 'AC03' },
      expected: doubt('AC03'),
    })),
    { status: 403, body: '<html>forbidden</html>', expected: doubtful },
    { status: 429, body: { code: 'AC03' }, expected: { ...doubt('AC03'), statusClass: '429' } },
    { status: 401, expected: { ...tokenRefused, outcome: 'unknown' } },
    {
      status: 401,
      body: { code: 'AC03' },
      expected: { ...tokenRefused, outcome: 'unknown', reason: 'AC03' },
    },
    ...[
      { ...ids, status: 'ERROR', message: 'Tempo esgotado; o resultado será notificado' },
      { ...ids, status: 'REJECTED', error: { code: 'ALREADY_PAID' } },
      { ...ids, status: 'ERROR', errors: [{ code: 'AC03' }] },
      { ...ids, status: 'ERROR', reason: 'AC03' },
      { clientRequestId: order.clientRequestId, status: 'ERROR', code: 'AC03' },
      { id: 'p-1', status: 'REJECTED', code: 'AC03' },
    ].map((body) => ({
      status: 200,
      body,
      expected: { ...doubtful, statusClass: '2xx' as const, ...reasonIn(body) },
    })),
    ...[
      { endToEnd: 'E-other' },
      { clientRequestId: 'other' },
      { endToEnd: order.endToEnd, clientRequestId: 'other' },
    ].map((named) => ({
      status: 200,
      body: { ...named, status: 'ERROR', code: 'AC03' },
      expected: { ...doubt('unreadable'), statusClass: '2xx' as const },
    })),
    ...[
      { ...ids, status: 'ERROR', error: { code: 'AC03', endToEndId: 'E-other' } },
      { ...ids, status: 'ERROR', success: true, code: 'AC03' },
      { success: true, data: { ...ids, status: 'ERROR', code: 'AC03' } },
      { ...ids, status: 'ERROR', code: 'AC03', paymentStatus: 'PAID' },
      { ...ids, status: 'ERROR', code: 'AC03', statusCode: 200 },
      { ...ids, status: 'ERROR', code: 'AC03', errors: [{ code: 'E42' }] },
      { ...ids, status: 'ERROR', code: 'AC03', key: 'other@ponte.test' },
      { ...ids, status: 'ERROR', code: 'AC03', cancelled: true },
    ].map((body) => ({
      status: 200,
      body,
      expected: { ...doubt('unreadable'), statusClass: '2xx' as const },
    })),
    // The provider's own id may be that of another payment.
    ...['PAID', 'PROCESSING'].map((status) => ({
      status: 200,
      body: { id: 'p-1', status },
      expected: { ...doubtful, statusClass: '2xx' as const },
    })),
    { status: 408, expected: timedOut },
    { status: 500, expected: unavailable },
    { status: 500, body: { code: 'AC03' }, expected: { ...unavailable, reason: 'AC03' } },
    { status: 501, expected: unavailable },
    { status: 502, body: '<html>bad gateway</html>', expected: unavailable },
    {
      status: 503,
      headers: { 'retry-after': '2' },
      expected: { ...unavailable, retryAfterMs: 2_000 },
    },
    { status: 503, headers: { 'retry-after': '9'.repeat(30) }, expected: unavailable },
    { status: 599, expected: unavailable },
    { status: 204, expected: notUnderstood },
    { status: 200, expected: notUnderstood },
    ...[{}, { ...ids, status: 'CONFIRMED' }, { ...ids, status: 'PROCESSING' }].map((receipt) => ({
      status: 200,
      body: { ...receipt, code: 'AC03' },
      expected: notUnderstood,
    })),
    // A receipt that is not about this payment, made now, in reais.
    ...[
      { key: 'other@ponte.test' },
      { pixKey: '52998224725' },
      { key: order.key, Key: 'other@ponte.test' },
      { scheduledAt: '2026-06-01T00:00:00Z' },
      { transactionDate: '01/01/2099' },
      { isTest: 'true' },
      { currency: 'USD' },
      { cancelledAt: '2026-05-24T15:30:00Z' },
    ].flatMap((foreign) => [
      { status: 200, body: { ...ids, status: 'CONFIRMED', ...foreign }, expected: notUnderstood },
      { status: 200, body: { data: { ...ids, ...foreign } }, expected: notUnderstood },
    ]),
    { status: 300, expected: notUnderstood },
    { status: 304, expected: notUnderstood },
  ]);

  for (const status of [301, 302, 303, 307, 308]) {
    it(`${status}, which is not followed`, async () => {
      const elsewhere = await responding(200, { id: 'p', status: 'CONFIRMED' });
      const { url } = await responding(status, '', { location: `${elsewhere.url}/payments` });
      assert.deepEqual(await failure(providerAt(url).pay({ session, order })), notUnderstood);
      assert.equal(elsewhere.sockets.length, 0);
    });
  }
});

describe('a return is refused by a listed code', () => {
  const code = 'AC03';
  const { returnId } = refundOrder;
  const doubt = { ...doubtful, reason: 'unreadable' };
  cases('refund', [
    { status: 422, body: { endToEnd, returnId, code }, expected: { ...rejected, reason: code } },
    // The response is about another return, or about that of another payment.
    { status: 422, body: { returnId: 'D-other', code }, expected: doubt },
    { status: 422, body: { endToEnd: 'E-other', returnId, code }, expected: doubt },
    {
      status: 200,
      body: { endToEnd: 'E-other', returnId, status: 'NAO_REALIZADO', code },
      expected: { ...doubt, statusClass: '2xx' },
    },
  ]);
});

describe('a login answered with', () => {
  cases('login', [
    { status: 401, expected: rejected },
    { status: 400, body: { code: 'X' }, expected: { ...rejected, reason: 'X' } },
    { status: 429, expected: limited },
    { status: 503, expected: unavailable },
    { status: 200, body: { hello: 'world' }, expected: notUnderstood },
  ]);
});

describe('a look-up answered with', () => {
  const refusedInside: Expected = { ...rejected, statusClass: '2xx' };

  cases('lookUpKey', [
    { status: 404, expected: { ...rejected, code: 'PIX_KEY_NOT_FOUND', statusClass: '404' } },
    { status: 401, expected: tokenRefused },
    { status: 409, expected: rejected },
    { status: 418, expected: doubtful },
    ...[
      { success: false },
      { success: 'False' },
      { ok: 0 },
      { status: 'ERROR' },
      { statusCode: 404 },
      { error: { message: 'no such key' } },
      { errors: ['no such key'] },
    ].flatMap((sign) => [
      { status: 200, body: { endToEnd: 'E1', ...sign }, expected: refusedInside },
      { status: 200, body: { data: { endToEnd: 'E1', ...sign } }, expected: refusedInside },
    ]),
    {
      status: 422,
      body: { code: 'NOT_ENOUGH_BALANCE' },
      expected: { ...rejected, reason: 'NOT_ENOUGH_BALANCE' },
    },
  ]);
});

describe('other calls answered with', () => {
  cases('balance', [{ status: 404, expected: { ...rejected, statusClass: '404' } }]);
  cases('charge', [
    { status: 409, expected: rejected },
    { status: 404, expected: { ...rejected, statusClass: '404' } },
  ]);
  cases('createKey', [
    {
      status: 422,
      body: { code: 'EntryAlreadyExists' },
      expected: { ...rejected, reason: 'EntryAlreadyExists' },
    },
  ]);
  cases('deleteKey', [
    { status: 404, expected: { ...rejected, code: 'PIX_KEY_NOT_FOUND', statusClass: '404' } },
  ]);

  it('204: there is nothing to pass on', async () => {
    const { url } = await responding(204, '');
    const provider = providerAt(url);
    assert.deepEqual(await provider.deleteKey({ session, key: 'k', account: payer }), {});
  });
});
