import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { testSandbox } from './sandbox.ts';

const base = '/internal/api/v1';

const problem = (status: number, title: string, code?: string) => ({
  type: 'about:blank',
  title,
  status,
  ...(code !== undefined && { code }),
});

/** Calls with any headers and any body. */
async function raw(url: string, path: string, init: RequestInit = {}) {
  const response = await fetch(`${url}${base}/${path}`, { redirect: 'manual', ...init });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

async function loggedIn() {
  const sandbox = await testSandbox();
  const login = await sandbox.call('POST', `${base}/auth/login`, {
    email: 'dev@ponte.test',
    password: 'x',
  });
  const authorization = `Bearer ${login.body.access_token}`;
  const headers = { authorization, 'content-type': 'application/json' };
  const post = async (path: string, body: unknown) => {
    const init = { method: 'POST', headers, body: JSON.stringify(body) };
    const { status, text } = await raw(sandbox.url, path, init);
    return { status, body: JSON.parse(text) };
  };
  return { ...sandbox, login, headers, post };
}

describe('what the sandbox writes', () => {
  it('a login: the token and the account, without an end of the token', async () => {
    const { login } = await loggedIn();
    assert.equal(login.status, 200);
    const { access_token: token, accountNumber, digitAccount, companyId, ...rest } = login.body;
    const { clientToken, ...fixed } = rest;
    assert.deepEqual(fixed, { token_type: 'Bearer', agency: '0001', document: '11144477735' });
    assert.match(token, /^stub\./);
    assert.match(accountNumber + digitAccount, /^\d{8}\d$/);
    assert.match(companyId + clientToken, /^\d+[0-9a-f-]{36}$/);
  });

  it('a balance', async () => {
    const { url, headers } = await loggedIn();
    const response = await raw(url, 'account/balance', { headers });
    assert.equal(response.text, '{"balance":10000}');
    assert.equal(response.headers.get('content-type'), 'application/json');
  });

  it('a look-up and a receipt', async () => {
    const { post } = await loggedIn();
    const found = await post('keys/dict', { payerId: '11144477735', key: 'maria@example.com' });
    assert.deepEqual(Object.keys(found.body), ['endToEnd', 'key', 'account', 'owner']);
    const { endToEnd } = found.body;
    const paid = await post('payments', {
      initiationType: 'DICT',
      endToEnd,
      clientRequestId: 'r-1',
      key: 'maria@example.com',
      amount: 10.5,
      debitParty: { agency: '0001', account: '1', document: '11144477735' },
    });
    const { id, ...rest } = paid.body;
    assert.match(id, /^[0-9a-f-]{36}$/);
    assert.deepEqual(rest, { status: 'PROCESSING', endToEnd, clientRequestId: 'r-1' });
  });

  it('charges', async () => {
    const { post } = await loggedIn();
    const common = { key: 'k@x.y', transactionIdentification: 'a1', receiverName: 'R', city: 'C' };
    const dynamic = await post('payments/qrcode/dynamic', {
      ...common,
      initialAmount: 1,
      expirationQR: '60',
      reusable: false,
    });
    assert.deepEqual(Object.keys(dynamic.body), [
      'id',
      'transactionIdentification',
      'qrcode',
      'pixCopiaECola',
    ]);
    const again = { ...common, transactionIdentification: 'a2', amount: 1 };
    const fixed = await post('payments/qrcode/static', again);
    assert.deepEqual(Object.keys(fixed.body), ['id', 'transactionIdentification', 'qrcode', 'emv']);
  });

  it('errors in the shape of RFC 7807, with a code', async () => {
    const { url, headers, post } = await loggedIn();
    const unknown = await raw(url, 'account/balance', { headers: { authorization: 'Bearer x' } });
    assert.equal(unknown.headers.get('content-type'), 'application/problem+json');
    assert.deepEqual(JSON.parse(unknown.text), problem(401, 'Unauthorized', 'InvalidToken'));
    const none = await raw(url, 'account/balance');
    assert.equal(none.status, 401);
    const limited = await raw(url, 'keys/dict', {
      method: 'POST',
      headers,
      body: JSON.stringify({ payerId: '1', key: 'ratelimited@ponte.test' }),
    });
    assert.equal(limited.headers.get('retry-after'), '30');
    assert.deepEqual(JSON.parse(limited.text), problem(429, 'Too Many Requests', 'RateLimited'));
    const down = await post('keys/dict', { payerId: '1', key: 'unavailable@ponte.test' });
    assert.deepEqual(down.body, problem(503, 'Service Unavailable'));
  });
});

describe('what the sandbox refuses to read', () => {
  const payment = {
    initiationType: 'DICT',
    endToEnd: 'E1',
    clientRequestId: 'r',
    key: 'k',
    amount: 1,
    debitParty: { agency: '1', account: '1', document: '1' },
  };
  const cases: readonly [string, unknown, string][] = [
    ['payments', [], 'body: The value must be an object.'],
    ['payments', null, 'body: The value must be an object.'],
    ['payments', { ...payment, amount: '1.00' }, 'amount: The value must be a number.'],
    ['payments', { ...payment, endToEnd: undefined }, 'endToEnd: The field is required.'],
    ['payments', { ...payment, endToEnd: 1 }, 'endToEnd: The value must be a text.'],
    [
      'payments',
      { ...payment, initiationType: 'MANUAL' },
      'initiationType: The value must be one of DICT, DYNAMIC_QRCODE.',
    ],
    [
      'payments',
      { ...payment, debitParty: { account: '1', document: '1' } },
      'debitParty.agency: The field is required.',
    ],
    ['payments', { ...payment, debitParty: undefined }, 'debitParty: The field is required.'],
    [
      'keys/dict',
      { payerid: '1', key: 'k' },
      'payerId: The field is required. payerid: The field is not allowed.',
    ],
    [
      'payments',
      { ...payment, amount: 10.505 },
      'amount: The value must have at most two decimals.',
    ],
    [
      'keys/create',
      { keyType: 'toString', key: 'k', agency: '1', account: '1', document: '1' },
      'keyType: The value must be one of CPF, CNPJ, CELULAR, E_MAIL, EVP_ENDERECO_VIRTUAL_DE_PAGAMENTO.',
    ],
    ['auth/login', { email: 'a@b.c' }, 'password: The field is required.'],
    ['keys/list', { agency: '1', account: '1', document: '1' }, 'ispb: The field is required.'],
    [
      'payments/qrcode/dynamic',
      {
        transactionIdentification: 'a',
        key: 'k',
        receiverName: 'R',
        city: 'C',
        initialAmount: 1,
        expirationQR: 60,
        reusable: false,
      },
      'expirationQR: The value must be a text.',
    ],
  ];
  for (const [path, body, detail] of cases) {
    it(`${path}: ${detail}`, async () => {
      const { post } = await loggedIn();
      assert.deepEqual(await post(path, body), {
        status: 400,
        body: { ...problem(400, 'Bad Request', 'InvalidRequest'), detail },
      });
    });
  }

  it('a statement without its days', async () => {
    const { url, headers } = await loggedIn();
    const response = await raw(url, 'account/statement?startDate=2026-05-01', { headers });
    assert.equal(JSON.parse(response.text).detail, 'endDate: The field is required.');
  });

  const bodies: readonly [string, RequestInit, number][] = [
    ['no JSON', { body: '{' }, 400],
    ['another media type', { body: '{}', headers: { 'content-type': 'text/plain' } }, 415],
    ['more than 256 KiB', { body: `"${'x'.repeat(300_000)}"` }, 413],
  ];
  for (const [title, init, status] of bodies) {
    it(title, async () => {
      const { url, headers } = await loggedIn();
      const response = await raw(url, 'payments', { method: 'POST', headers, ...init });
      assert.equal(response.status, status);
    });
  }

  it('other paths and methods', async () => {
    const { url, call } = await testSandbox();
    assert.equal((await call('GET', `${base}/payments`)).headers.get('allow'), 'POST');
    assert.equal((await call('GET', `${base}/payments`)).status, 405);
    assert.equal((await call('POST', `${base}/keys`, {})).headers.get('allow'), 'DELETE');
    for (const path of ['/', '/internal/api/v1', `${base}/baas/list`, '/sandboxes']) {
      assert.equal((await call('GET', path)).status, 404);
    }
    const onboarding = '/core/v2/onboarding';
    assert.equal((await call('GET', `${onboarding}/pf`)).headers.get('allow'), 'POST');
    assert.equal((await call('POST', `${onboarding}/cep/01310100`)).status, 405);
    for (const path of ['pf//kyc', 'pf/a/b/kyc', 'pf/a/kyc/', 'cep', 'cep/%zz']) {
      assert.equal((await call('GET', `${onboarding}/${path}`)).status, 404);
    }
    const options = await fetch(url, { method: 'OPTIONS' });
    assert.equal(options.status, 404);
  });
});

describe('the sandbox', () => {
  it('closes though calls hang', async () => {
    const { url, calls, close, queueFaults } = await testSandbox();
    queueFaults('*:hang-before,*:latency=1s,*:drip');
    const ends = ['x', 'y', 'z'].map((email) =>
      raw(url, 'auth/login', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ email, password: 'p' }),
      }).then(
        () => 'answered',
        () => 'cut',
      ),
    );
    const { eventually } = await import('../../../support/eventually.ts');
    await eventually(() => calls.list().length === 3, 'the calls');
    await close();
    assert.deepEqual(await Promise.all(ends), ['cut', 'cut', 'cut']);
  });

  it('reports what goes wrong inside the bank, and answers 500', async () => {
    const sandbox = await testSandbox();
    sandbox.bank.balance = () => {
      throw new Error('the bank is broken');
    };
    const response = await raw(sandbox.url, 'account/balance');
    assert.deepEqual(JSON.parse(response.text), problem(500, 'Internal Server Error'));
    assert.match(String(sandbox.reported), /the bank is broken/);
  });
});
