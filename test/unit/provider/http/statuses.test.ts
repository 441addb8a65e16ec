import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ProviderErrorOptions } from '../../../../src/provider/errors.ts';
import type { Provider } from '../../../../src/provider/provider.ts';
import { chargeOrder, failure, payer } from '../stub/open-bank.ts';
import { order, session } from '../scripted-provider.ts';
import { NOT_UNDERSTOOD, providerAt, TIMED_OUT } from './over-http.ts';
import { answering } from './raw-server.ts';

type Expected = Partial<ProviderErrorOptions>;

interface Case {
  readonly status: number;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly expected: Expected;
}

const REJECTED: Expected = {
  outcome: 'rejected',
  code: 'PROVIDER_REJECTED',
  statusClass: '4xx',
  retryable: false,
};

const DOUBTFUL: Expected = { ...REJECTED, outcome: 'unknown' };

const UNAVAILABLE: Expected = {
  outcome: 'unknown',
  code: 'PROVIDER_UNAVAILABLE',
  statusClass: '5xx',
  retryable: true,
};

const TOKEN_REFUSED: Expected = {
  outcome: 'not_sent',
  code: 'TOKEN_REFUSED',
  statusClass: '401',
  retryable: false,
};

const INSUFFICIENT: Expected = { ...REJECTED, code: 'INSUFFICIENT_FUNDS' };

const LIMITED: Expected = { ...REJECTED, code: 'PROVIDER_RATE_LIMITED', statusClass: '429' };

const calls = {
  login: (provider: Provider) => provider.login({ email: 'a@b.c', password: 'x' }),
  balance: (provider: Provider) => provider.balance({ session }),
  lookUpKey: (provider: Provider) => provider.lookUpKey({ session, payerId: '1', key: 'k' }),
  pay: (provider: Provider) => provider.pay({ session, order }),
  charge: (provider: Provider) => provider.createDynamicCharge({ session, order: chargeOrder() }),
  createKey: (provider: Provider) =>
    provider.createKey({ session, keyType: 'CPF', key: '1', account: payer }),
  deleteKey: (provider: Provider) => provider.deleteKey({ session, key: 'k', account: payer }),
} as const;

/** The reason is read at the top of an answer. */
function reasonIn(body: object): Expected {
  return 'error' in body ? { reason: 'ALREADY_PAID' } : {};
}

function cases(call: keyof typeof calls, table: readonly Case[]): void {
  for (const { status, body = '', headers, expected } of table) {
    const shown = [JSON.stringify(body), headers && JSON.stringify(headers)].filter(Boolean);
    it(`${status} ${shown.join(' ').slice(0, 90)}: ${expected.outcome} ${expected.code}`, async () => {
      const { url } = await answering(status, body, headers);
      assert.deepEqual(await failure(calls[call](providerAt(url))), expected);
    });
  }
}

describe('a payment answered with', () => {
  cases('pay', [
    { status: 400, expected: REJECTED },
    { status: 403, body: '<html>forbidden</html>', expected: REJECTED },
    { status: 404, expected: { ...REJECTED, statusClass: '404' } },
    { status: 422, body: { code: 'AC03' }, expected: { ...REJECTED, reason: 'AC03' } },
    { status: 422, body: { error: { code: 'AB09' } }, expected: { ...REJECTED, reason: 'AB09' } },
    { status: 422, body: { errors: [{ code: 'X1' }] }, expected: { ...REJECTED, reason: 'X1' } },
    { status: 422, body: { error: 'AG03' }, expected: { ...REJECTED, reason: 'AG03' } },
    { status: 422, body: { Code: 17 }, expected: { ...REJECTED, reason: '17' } },
    { status: 422, body: { code: 'Maria da Silva' }, expected: REJECTED },
    ...['NOT_ENOUGH_BALANCE', 'insufficient_funds', 'INSUFFICIENT_BALANCE'].map((code) => ({
      status: 422,
      body: { code },
      expected: { ...INSUFFICIENT, reason: code },
    })),
    { status: 429, headers: { 'retry-after': '7' }, expected: { ...LIMITED, retryAfterMs: 7_000 } },
    { status: 429, headers: { 'retry-after': 'soon' }, expected: LIMITED },
    { status: 401, expected: TOKEN_REFUSED },
    {
      status: 401,
      body: { code: 'InvalidToken' },
      expected: { ...TOKEN_REFUSED, reason: 'InvalidToken' },
    },
  ]);
});

describe('a payment is never called refused by', () => {
  cases('pay', [
    { status: 409, expected: DOUBTFUL },
    ...['DUPL', 'AM05', 'DU04', 'PBE300', 'DuplicatedEndToEndId', 'ALREADY_PROCESSED'].map(
      (code) => ({ status: 422, body: { code }, expected: { ...DOUBTFUL, reason: code } }),
    ),
    {
      status: 400,
      body: { code: 'E1', message: 'Pagamento já foi processado.' },
      expected: { ...DOUBTFUL, reason: 'E1' },
    },
    {
      status: 422,
      body: { errors: [{ code: 'E2', description: 'the payment already exists' }] },
      expected: { ...DOUBTFUL, reason: 'E2' },
    },
    ...[
      { message: ['clientRequestId must be unique'] },
      { data: { message: 'EndToEndId em uso' } },
      { errors: { endToEnd: ['utilizado anteriormente'] } },
      { mensagem: 'Transação existente' },
    ].map((body) => ({ status: 422, body, expected: DOUBTFUL })),
    ...[
      { endToEnd: order.endToEnd, status: 'REJECTED', error: { code: 'ALREADY_PAID' } },
      { data: { endToEnd: order.endToEnd, status: 'ERROR', error: { code: 'ALREADY_PAID' } } },
    ].map((body) => ({
      status: 200,
      body,
      expected: { ...DOUBTFUL, statusClass: '2xx' as const, ...reasonIn(body) },
    })),
    // The provider's own id may be that of another payment.
    ...['PAID', 'PROCESSING', 'REJECTED'].map((status) => ({
      status: 200,
      body: { id: 'p-1', status },
      expected: { ...DOUBTFUL, statusClass: '2xx' as const },
    })),
    { status: 424, expected: DOUBTFUL },
    { status: 425, expected: DOUBTFUL },
    { status: 499, expected: DOUBTFUL },
    { status: 460, expected: DOUBTFUL },
    { status: 408, expected: TIMED_OUT },
    { status: 500, expected: UNAVAILABLE },
    { status: 501, expected: UNAVAILABLE },
    { status: 502, body: '<html>bad gateway</html>', expected: UNAVAILABLE },
    {
      status: 503,
      headers: { 'retry-after': '2' },
      expected: { ...UNAVAILABLE, retryAfterMs: 2_000 },
    },
    { status: 503, headers: { 'retry-after': '9'.repeat(30) }, expected: UNAVAILABLE },
    { status: 520, body: { code: 'X' }, expected: { ...UNAVAILABLE, reason: 'X' } },
    { status: 599, expected: UNAVAILABLE },
    { status: 204, expected: NOT_UNDERSTOOD },
    { status: 200, expected: NOT_UNDERSTOOD },
    { status: 300, expected: NOT_UNDERSTOOD },
    { status: 304, expected: NOT_UNDERSTOOD },
  ]);

  it('an account that is closed already is a refusal all the same', async () => {
    const { url } = await answering(422, { code: 'AC07', message: 'account already closed' });
    const failed = await failure(providerAt(url).pay({ session, order }));
    assert.deepEqual(failed, { ...REJECTED, reason: 'AC07' });
  });

  for (const status of [301, 302, 303, 307, 308]) {
    it(`${status}, which is not followed`, async () => {
      const elsewhere = await answering(200, { id: 'p', status: 'CONFIRMED' });
      const { url } = await answering(status, '', { location: `${elsewhere.url}/payments` });
      assert.deepEqual(await failure(providerAt(url).pay({ session, order })), NOT_UNDERSTOOD);
      assert.equal(elsewhere.sockets.length, 0);
    });
  }
});

describe('a login answered with', () => {
  cases('login', [
    { status: 401, expected: REJECTED },
    { status: 400, body: { code: 'X' }, expected: { ...REJECTED, reason: 'X' } },
    { status: 429, expected: LIMITED },
    { status: 503, expected: UNAVAILABLE },
    { status: 200, body: { hello: 'world' }, expected: NOT_UNDERSTOOD },
  ]);
});

describe('a look-up answered with', () => {
  cases('lookUpKey', [
    { status: 404, expected: { ...REJECTED, code: 'PIX_KEY_NOT_FOUND', statusClass: '404' } },
    { status: 401, expected: TOKEN_REFUSED },
    { status: 409, expected: REJECTED },
    { status: 418, expected: DOUBTFUL },
    {
      status: 422,
      body: { code: 'NOT_ENOUGH_BALANCE' },
      expected: { ...REJECTED, reason: 'NOT_ENOUGH_BALANCE' },
    },
  ]);
});

describe('other calls answered with', () => {
  cases('balance', [{ status: 404, expected: { ...REJECTED, statusClass: '404' } }]);
  cases('charge', [
    { status: 409, expected: REJECTED },
    { status: 404, expected: { ...REJECTED, statusClass: '404' } },
  ]);
  cases('createKey', [
    {
      status: 422,
      body: { code: 'EntryAlreadyExists' },
      expected: { ...REJECTED, reason: 'EntryAlreadyExists' },
    },
  ]);
  cases('deleteKey', [
    { status: 404, expected: { ...REJECTED, code: 'PIX_KEY_NOT_FOUND', statusClass: '404' } },
  ]);

  it('204: there is nothing to pass on', async () => {
    const { url } = await answering(204, '');
    const provider = providerAt(url);
    assert.deepEqual(await provider.deleteKey({ session, key: 'k', account: payer }), {});
  });
});
