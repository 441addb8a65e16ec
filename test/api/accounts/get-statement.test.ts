/** The statement: whole days in São Paulo, the stored lines and the provider's. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import type { BankStatement } from '../../../src/provider/sandbox/bank/statement.ts';
import { faulty, refused, type BankResponse } from '../../../src/provider/sandbox/bank/response.ts';
import { startTestApp, type TestResponse } from '../../support/app.ts';
import { eventually } from '../../support/eventually.ts';
import { givenCustomer } from '../../support/factories.ts';
import { passUntil } from '../../support/passing-time.ts';
import { messageOf } from '../../support/validation-message.ts';

// Its clock shows 24 May 2026, 09:00 in São Paulo.
const app = await startTestApp({ environment: { JOBS: 'off', PROVIDER_RETRIES: '0' } });

function statement(token: string, query = '', headers = {}): Promise<TestResponse> {
  return app.call(`/accounts/statement${query}`, { token, headers });
}

/** Stores a received PIX that came at an instant, such as `2026-05-10T03:00:00.000Z`. */
async function givenReceived(
  userId: number,
  at: string,
  id: string = randomUUID(),
): Promise<string> {
  await app.rows(
    `insert into pix_transactions (id, user_id, operation, status, phase, outcome, amount, pix_key,
            provider_txid, created_at, updated_at, settled_at)
     values ($1, $2, 'RECEIVED', 'COMPLETED', 'SETTLED', 'accepted', 10.5, 'ana@example.com',
             $4,
             $3, $3, $3)`,
    [id, userId, new Date(at), id],
  );
  return id;
}

async function givenAllReceived(userId: number, times: readonly string[]): Promise<void> {
  for (const at of times) await givenReceived(userId, at);
}

/** The instants of the local items, in their order. */
async function instants(token: string, query = ''): Promise<string[]> {
  const { status, body } = await statement(token, query);
  assert.equal(status, 200, JSON.stringify(body));
  return body.items.local.map((item: { created_at: string }) => item.created_at);
}

// Local items.

test('an empty statement has two empty lists', async () => {
  const { token } = await givenCustomer(app);
  const response = await statement(token);
  assert.equal(response.status, 200);
  assert.deepEqual(response.body, { items: { local: [], remote: [] } });
  assert.equal(response.headers.get('x-statement-remote'), null);
});

test('a local item has the fields of the contract', async () => {
  const { id: userId, token } = await givenCustomer(app);
  const id = await givenReceived(userId, '2026-05-20T15:30:00.123Z');
  assert.deepEqual((await statement(token)).body.items.local, [
    {
      id,
      type: 'PIX_RECEIVED',
      amount: 10.5,
      status: 'COMPLETED',
      pix_key: 'ana@example.com',
      provider_txid: id,
      created_at: '2026-05-20T15:30:00.123Z',
    },
  ]);
});

test('a send says to whom, what for, and its end-to-end id', async () => {
  const { token } = await givenCustomer(app);
  const body = { pix_key: 'ana@example.com', amount: 1, description: 'Almoço' };
  const sent = await app.call('/pix/send', { token, key: randomUUID(), body });
  const [item] = (await statement(token)).body.items.local;
  assert.partialDeepStrictEqual(item, {
    payee: {
      name: 'Recebedor de Teste',
      document: '***.456.789-**',
      bank: { ispb: '11165756', name: 'GLOBAL SCM LTDA' },
      institution: { ispb: '11165756' },
      key: 'ana@example.com',
    },
    description: 'Almoço',
    end_to_end: sent.body.end_to_end,
  });
});

test('sends, charges and failed sends are listed with their types and states', async () => {
  const { token } = await givenCustomer(app);
  const post = (path: string, body: object) =>
    app.call(path, { token, key: randomUUID(), body: { amount: 1, ...body } });
  await post('/pix/send', { pix_key: 'ana@example.com' });
  await app.clock.advance(1);
  await post('/pix/send', { pix_key: 'notfound@ponte.test' });
  await app.clock.advance(1);
  await post('/pix/charge', { type: 'static' });
  const { local } = (await statement(token)).body.items;
  assert.deepEqual(
    local.map(({ type, status }: Record<string, string>) => `${type} ${status}`),
    ['PIX_CHARGE PROCESSING', 'PIX_SEND FAILED', 'PIX_SEND PROCESSING'],
  );
});

test('local items come newest first, those of one instant in a fixed order', async () => {
  const { id: userId, token } = await givenCustomer(app);
  const days = ['2026-05-02', '2026-05-20', '2026-05-11'];
  await givenAllReceived(
    userId,
    days.map((day) => `${day}T12:00:00.000Z`),
  );
  const together = [randomUUID(), randomUUID(), randomUUID()].sort();
  // Stored in another order than either of their ids.
  for (const id of [together[1], together[0], together[2]]) {
    await givenReceived(userId, '2026-05-15T12:00:00.000Z', id);
  }
  const { local } = (await statement(token)).body.items;
  const ids = local.map(({ id }: { id: string }) => id);
  assert.deepEqual(ids.slice(1, 4), together.toReversed());
  assert.deepEqual(
    local.map((item: { created_at: string }) => item.created_at.slice(8, 10)),
    ['20', '15', '15', '15', '11', '02'],
  );
});

test("other users' transactions are not listed", async () => {
  const [one, other] = [await givenCustomer(app), await givenCustomer(app)];
  await givenReceived(other.id, '2026-05-20T12:00:00.000Z');
  assert.deepEqual(await instants(one.token), []);
  assert.equal((await instants(other.token)).length, 1);
});

// Days.

test('both days are whole days in São Paulo, and included', async () => {
  const { id, token } = await givenCustomer(app);
  const first = '2026-05-10T03:00:00.000Z';
  const last = '2026-05-12T02:59:59.999Z';
  await givenAllReceived(id, ['2026-05-10T02:59:59.999Z', first, last, '2026-05-12T03:00:00.000Z']);
  const query = '?start_date=2026-05-10&end_date=2026-05-11';
  assert.deepEqual(await instants(token, query), [last, first]);
});

test('one day is a period', async () => {
  const { id, token } = await givenCustomer(app);
  const within = '2026-05-11T02:30:00.000Z';
  await givenAllReceived(id, ['2026-05-10T02:30:00.000Z', within]);
  const query = '?start_date=2026-05-10&end_date=2026-05-10';
  assert.deepEqual(await instants(token, query), [within]);
});

test('without dates the last 30 days are listed, today among them', async () => {
  const { id, token } = await givenCustomer(app);
  const first = '2026-04-25T03:00:00.000Z';
  const now = app.clock.now().toISOString();
  await givenAllReceived(id, ['2026-04-25T02:59:59.999Z', first, now]);
  assert.deepEqual(await instants(token), [now, first]);
});

test('without an end the period ends today', async () => {
  const { id, token } = await givenCustomer(app);
  const today = '2026-05-25T02:59:59.999Z';
  await givenAllReceived(id, ['2026-03-31T12:00:00.000Z', today, '2026-05-25T03:00:00.000Z']);
  assert.deepEqual(await instants(token, '?start_date=2026-04-01'), [today]);
});

test('without a start the period is the 30 days up to its end', async () => {
  const { id, token } = await givenCustomer(app);
  const first = '2026-03-02T03:00:00.000Z';
  const last = '2026-04-01T02:59:59.999Z';
  await givenAllReceived(id, ['2026-03-02T02:59:59.999Z', first, last, '2026-04-01T03:00:00.000Z']);
  assert.deepEqual(await instants(token, '?end_date=2026-03-31'), [last, first]);
});

test('366 days are a period: a whole leap year', async () => {
  const { token } = await givenCustomer(app);
  for (const query of [
    '?start_date=2024-01-01&end_date=2024-12-31',
    '?start_date=2025-05-24&end_date=2026-05-24',
    '?start_date=2025-05-24',
  ]) {
    assert.equal((await statement(token, query)).status, 200, query);
  }
});

test('an end in the future is a period', async () => {
  const { token } = await givenCustomer(app);
  assert.equal((await statement(token, '?end_date=2026-06-30')).status, 200);
});

test('only a parameter that the operation has is refused for a malformed encoding', async () => {
  const { token } = await givenCustomer(app);
  assert.equal((await statement(token, '?utm=%ff&x=100%')).status, 200);
  assert.equal((await statement(token, '?start_date=%ff')).status, 400);
});

test('unknown parameters are ignored, as 1.0.0 promised', async () => {
  const { token } = await givenCustomer(app);
  const { status, body } = await statement(token, '?page=2&startDate=x');
  assert.equal(status, 200);
  assert.deepEqual(body, (await statement(token)).body);
});

test('the newest thousand of a period are listed, and a header says that there are more', async () => {
  const { id, token } = await givenCustomer(app);
  const latest = '2026-05-20T12:00:00.000Z';
  const times = Array.from({ length: 1_001 }, (_, nth) =>
    new Date(new Date(latest).getTime() - nth * 1_000).toISOString(),
  );
  const [oldest = ''] = times.slice(-1);
  await givenAllReceived(id, times.slice(0, -1));
  const complete = await statement(token);
  assert.equal(complete.headers.get('x-statement-local'), null);
  assert.equal(complete.body.items.local.length, 1_000);
  await givenReceived(id, oldest);
  const { headers, body } = await statement(token);
  assert.equal(headers.get('x-statement-local'), 'truncated');
  assert.deepEqual(
    body.items.local.map((item: { created_at: string }) => item.created_at),
    times.slice(0, -1),
  );
});

// 422

const noDate = ['The value must be a date such as 2026-05-24.'];
const outside = ['Must be a day of the years 1970 to 2100.'];
const afterEnd = ['The first day must not be after the last one.'];
const tooLong = ['The period must not be longer than 366 days.'];
const twice = ['The parameter must not be repeated.'];

const faults: [what: string, query: string, errors: Record<string, string[]>][] = [
  ['a start that is no date', '?start_date=yesterday', { start_date: noDate }],
  ['an empty start', '?start_date=', { start_date: noDate }],
  ['a start that does not exist', '?start_date=2026-02-30', { start_date: noDate }],
  ['a start with a time', '?start_date=2026-05-01T00:00:00Z', { start_date: noDate }],
  ['a start written as in Brazil', '?start_date=01/05/2026', { start_date: noDate }],
  ['a start given twice', '?start_date=2026-05-01&start_date=2026-05-02', { start_date: twice }],
  ['an end that is no date', '?end_date=20260524', { end_date: noDate }],
  ['an end that does not exist', '?end_date=2025-02-29', { end_date: noDate }],
  ['an empty end', '?end_date=', { end_date: noDate }],
  ['an end given twice', '?end_date=2026-05-01&end_date=2026-05-01', { end_date: twice }],
  [
    'both dates at once',
    '?start_date=2026-13-01&end_date=soon',
    { start_date: noDate, end_date: noDate },
  ],
  [
    'both dates at once when they are centuries away',
    '?start_date=1969-12-31&end_date=9999-12-31',
    { start_date: outside, end_date: outside },
  ],
  [
    'a start that is no date beside an end that is centuries away',
    '?start_date=abc&end_date=2200-01-01',
    { start_date: noDate, end_date: outside },
  ],
  ['a start after the end', '?start_date=2026-05-02&end_date=2026-05-01', { start_date: afterEnd }],
  ['a start after today when there is no end', '?start_date=2026-05-25', { start_date: afterEnd }],
  ['a period of 367 days', '?start_date=2025-05-23&end_date=2026-05-24', { start_date: tooLong }],
  ['a period of 367 days up to today', '?start_date=2025-05-23', { start_date: tooLong }],
];

for (const [what, query, errors] of faults) {
  test(`422 names ${what}`, async () => {
    const { token } = await givenCustomer(app);
    const response = await statement(token, query);
    assert.equal(response.status, 422);
    assert.deepEqual(response.body, { message: messageOf(errors), errors });
  });
}

test('422 is worded in Portuguese for those who prefer it', async () => {
  const { token } = await givenCustomer(app);
  const inPortuguese = { 'accept-language': 'pt-BR' };
  const readErrors = async (query: string): Promise<unknown> => {
    const { status, body } = await statement(token, query, inPortuguese);
    assert.equal(status, 422);
    return body.errors;
  };
  assert.deepEqual(await readErrors('?start_date=2026-05-02&end_date=2026-05-01'), {
    start_date: ['O primeiro dia não pode ser depois do último.'],
  });
  assert.deepEqual(await readErrors('?start_date=2020-01-01'), {
    start_date: ['O período não pode passar de 366 dias.'],
  });
  assert.deepEqual(await readErrors('?end_date=1666-01-01'), {
    end_date: ['Deve ser um dia dos anos de 1970 a 2100.'],
  });
});

test('422 without asking the provider', async (t) => {
  const { token } = await givenCustomer(app);
  const { mock } = t.mock.method(app.bank, 'statement');
  assert.equal((await statement(token, '?start_date=2026-05-25')).status, 422);
  assert.equal(mock.callCount(), 0);
});

// The provider's items.

test("the provider's items are passed on as they come", async () => {
  const { token } = await givenCustomer(app);
  const body = { pix_key: 'ana@example.com', amount: 12.34, description: 'lunch' };
  const sent = await app.call('/pix/send', { token, key: 'to-be-stated', body });
  const { remote } = (await statement(token)).body.items;
  assert.equal(remote.length, 1);
  const { id, ...item } = remote[0];
  assert.equal(typeof id, 'string');
  assert.deepEqual(item, {
    type: 'PIX_PAYMENT_OUT',
    direction: 'DEBIT',
    endToEnd: sent.body.end_to_end,
    clientRequestId: 'to-be-stated',
    description: 'lunch',
    amount: 12.34,
    status: 'CONFIRMED',
    createdAt: app.clock.now().toISOString(),
  });
});

test('the provider gets the same days', async (t) => {
  const { token } = await givenCustomer(app);
  const { mock } = t.mock.method(app.bank, 'statement');
  await statement(token);
  await statement(token, '?start_date=2026-01-05&end_date=2026-02-28');
  const requested = mock.calls.map(({ arguments: [, { start, end }] }) => [start, end]);
  assert.deepEqual(requested, [
    ['2026-04-25', '2026-05-24'],
    ['2026-01-05', '2026-02-28'],
  ]);
});

const failures: [what: string, response: BankResponse<BankStatement>][] = [
  ['answers 503', faulty('unavailable')],
  ['answers with HTML', faulty('garbled')],
  ['limits the requests', refused({ kind: 'rate_limited', reason: 'TooMany' })],
];

for (const [what, failure] of failures) {
  test(`the local list is returned when the provider ${what}, and a header says so`, async (t) => {
    const { id, token } = await givenCustomer(app);
    await givenReceived(id, '2026-05-20T12:00:00.000Z');
    t.mock.method(app.bank, 'statement', () => failure);
    const response = await statement(token);
    assert.equal(response.status, 200);
    assert.equal(response.headers.get('x-statement-remote'), 'unavailable');
    assert.equal(response.body.items.local.length, 1);
    assert.deepEqual(response.body.items.remote, []);
  });
}

test('the local list is returned when the provider does not answer in time', async (t) => {
  const { token } = await givenCustomer(app);
  const { mock } = t.mock.method(app.bank, 'statement', () => faulty('hang'));
  const response = statement(token);
  await eventually(() => mock.callCount() === 1, 'the question to the bank');
  await app.clock.advance(100);
  assert.equal((await response).headers.get('x-statement-remote'), 'unavailable');
});

test('the local list is returned for offline@ponte.test', async () => {
  const { id, token } = await givenCustomer(app, { email: 'offline@ponte.test' });
  await givenReceived(id, '2026-05-20T12:00:00.000Z');
  const response = await statement(token);
  assert.equal(response.status, 200);
  assert.equal(response.headers.get('x-statement-remote'), 'unavailable');
  assert.equal(response.body.items.local.length, 1);
});

// 401

test('401 without a token', async () => {
  assert.equal((await app.call('/accounts/statement?start_date=nonsense')).status, 401);
});

test('401 after a logout', async () => {
  const { token } = await givenCustomer(app);
  await app.call('/auth/logout', { method: 'POST', token });
  assert.equal((await statement(token)).status, 401);
});

test('401 when the provider refuses its token', async () => {
  const { id, email, token } = await givenCustomer(app);
  await givenReceived(id, '2026-05-20T12:00:00.000Z');
  app.bank.expireCustomerTokens(email);
  const response = await passUntil(app.clock, statement(token));
  assert.equal(response.status, 401);
  assert.deepEqual(Object.keys(response.body), ['message']);
});

// This one moves the clock to another day, so it comes last.

test('today is the day in São Paulo, also while it is tomorrow in UTC', async () => {
  await app.clock.advance(
    new Date('2026-05-25T02:30:00.000Z').getTime() - app.clock.now().getTime(),
  );
  const { id, token } = await givenCustomer(app);
  const now = app.clock.now().toISOString();
  const first = '2026-04-25T03:00:00.000Z';
  await givenAllReceived(id, ['2026-04-25T02:59:59.999Z', first, now]);
  assert.deepEqual(await instants(token), [now, first]);
  assert.deepEqual(await instants(token, '?start_date=2026-05-24&end_date=2026-05-24'), [now]);
  assert.equal((await statement(token, '?start_date=2026-05-25')).status, 422);
});
