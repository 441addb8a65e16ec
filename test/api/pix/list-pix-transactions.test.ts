/** The list of transactions: its order, its filters, and how its pages follow each other. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import type { PixListItem } from '../../../contract/types.ts';
import type { TestResponse } from '../../support/app.ts';
import { givenCustomer, type TestUser } from '../../support/factories.ts';
import { startPixApp } from './pix-app.ts';
import { messageOf } from '../../support/validation-message.ts';

// Its clock shows 24 May 2026, 09:00 in São Paulo.
const app = await startPixApp({ environment: { JOBS: 'off', PROVIDER_RETRIES: '0' } });

function list({ token }: TestUser, query = '', headers = {}): Promise<TestResponse> {
  return app.call(`/pix${query}`, { token, headers });
}

interface ListPage {
  readonly items: readonly PixListItem[];
  readonly next_cursor?: string;
}

async function readPage(user: TestUser, query = ''): Promise<ListPage> {
  const { status, body } = await list(user, query);
  assert.equal(status, 200, JSON.stringify(body));
  return body;
}

/** All pages of a list, each with its number of items at most. */
async function readPages(user: TestUser, query: string): Promise<PixListItem[][]> {
  const pages: PixListItem[][] = [];
  let cursor: string | undefined = '';
  while (cursor !== undefined) {
    const page: ListPage = await readPage(user, query + (cursor && `&cursor=${cursor}`));
    pages.push([...page.items]);
    cursor = page.next_cursor;
  }
  return pages;
}

const listIds = (items: readonly PixListItem[]): string[] =>
  items.map(({ transaction_id: id }) => id);

interface GivenRow {
  readonly at: string;
  readonly id?: string;
  readonly operation?: 'SEND' | 'CHARGE' | 'RECEIVED';
  readonly status?: 'PROCESSING' | 'COMPLETED' | 'FAILED';
  readonly qrCode?: string;
  readonly endToEnd?: string;
}

/** Stores a transaction of a user. @returns its id. */
async function given(user: TestUser, row: GivenRow): Promise<string> {
  const { at, id = randomUUID(), operation = 'RECEIVED', status = 'COMPLETED', qrCode } = row;
  const { endToEnd = `E-${id}` } = row;
  const isOpen = status === 'PROCESSING';
  await app.rows(
    `insert into pix_transactions (id, user_id, operation, idempotency_key, fingerprint, status,
            phase, amount, transaction_identification, qr_code, end_to_end, created_at, updated_at,
            settled_at)
     values ($1, $2, $3, $4, $5, $6, $7, 10.5, $8, $9, $10, $11, $11, $12)`,
    [
      id,
      user.id,
      operation,
      ...(operation === 'RECEIVED' ? [null, null] : [id, Buffer.from('x')]),
      status,
      isOpen ? 'ACCEPTED' : 'SETTLED',
      operation === 'CHARGE' ? id.replaceAll('-', '').slice(0, 26) : null,
      qrCode ?? null,
      endToEnd,
      new Date(at),
      isOpen ? null : new Date(at),
    ],
  );
  return id;
}

/** Stores received PIX of a user, one a second until noon (UTC) of 20 May. */
async function givenMany(user: TestUser, count: number): Promise<void> {
  await app.rows(
    `insert into pix_transactions (id, user_id, operation, status, phase, amount, created_at,
            updated_at, settled_at)
     select gen_random_uuid(), $1, 'RECEIVED', 'COMPLETED', 'SETTLED', 1, at, at, at
       from generate_series(1, $3::int) n,
            lateral (select $2::timestamptz - n * interval '1 second') times (at)`,
    [user.id, new Date('2026-05-20T12:00:00Z'), count],
  );
}

test('an empty list has no items and no cursor', async () => {
  const user = await givenCustomer(app);
  const { status, body } = await list(user);
  assert.deepEqual([status, body], [200, { items: [] }]);
});

test('a send that failed before its look-up says which key it was for', async () => {
  const user = await givenCustomer(app);
  await app.send(user, { pix_key: 'notfound@ponte.test', amount: 1 });
  const [item] = (await readPage(user)).items;
  assert.deepEqual(item?.payee, { key: 'notfound@ponte.test' });
  assert.equal(item?.end_to_end, undefined);
});

test('a send and a charge have the fields of the contract, the newest first', async () => {
  const user = await givenCustomer(app);
  const body = { pix_key: '123.456.789-09', amount: 12.34, description: 'Almoço' };
  const sent = await app.send(user, body);
  await app.clock.advance(1);
  const charged = await app.charge(user, { type: 'static', amount: 20 });
  const { items } = await readPage(user);
  const { qr_code: qrCode, copy_paste: copyPaste } = charged.body;
  const now = app.clock.now();
  assert.deepEqual(items, [
    {
      transaction_id: charged.body.transaction_id,
      type: 'PIX_CHARGE',
      amount: 20,
      status: 'PROCESSING',
      created_at: now.toISOString(),
      qr_code: qrCode,
      copy_paste: copyPaste,
    },
    {
      transaction_id: sent.body.transaction_id,
      type: 'PIX_SEND',
      amount: 12.34,
      status: 'PROCESSING',
      created_at: new Date(now.getTime() - 1).toISOString(),
      payee: {
        name: 'Recebedor de Teste',
        document: '***.456.789-**',
        bank: { ispb: '11165756', name: 'GLOBAL SCM LTDA' },
        institution: { ispb: '11165756' },
        key: '***.456.789-**',
      },
      description: 'Almoço',
      end_to_end: sent.body.end_to_end,
    },
  ]);
});

test('an item has all that GET /pix/{transactionId} answers', async () => {
  const user = await givenCustomer(app);
  await app.charge(user, { type: 'dynamic', amount: 1 });
  const [item] = (await readPage(user)).items;
  assert.ok(item);
  const view = await app.view(user, item.transaction_id);
  assert.partialDeepStrictEqual(item, view.body);
});

test('a received PIX that paid a charge is listed once, as the charge', async () => {
  const [user, other] = [await givenCustomer(app), await givenCustomer(app)];
  const at = '2026-05-20T12:00:00Z';
  const charge = await given(user, { at, operation: 'CHARGE' });
  await given(user, { at, endToEnd: `E-${charge}` });
  const ofOther = await given(other, { at, operation: 'CHARGE' });
  const alone = await given(user, { at: '2026-05-19T12:00:00Z', endToEnd: `E-${ofOther}` });
  assert.deepEqual(listIds((await readPage(user)).items), [charge, alone]);
  assert.deepEqual(listIds((await readPage(user, '?type=PIX_RECEIVED')).items), [alone]);
});

test("other users' transactions are not listed, whatever the cursor", async () => {
  const [one, other] = [await givenCustomer(app), await givenCustomer(app)];
  const days = ['20', '19', '18'];
  for (const day of days) await given(other, { at: `2026-05-${day}T12:00:00Z` });
  const own = await given(one, { at: '2026-05-01T12:00:00Z' });
  const { next_cursor: cursor } = await readPage(other, '?limit=1');
  assert.ok(cursor);
  assert.deepEqual(listIds((await readPage(one, `?cursor=${cursor}`)).items), [own]);
});

// Pages.

test('pages follow each other without a gap or a repeat, also within one instant', async () => {
  const user = await givenCustomer(app);
  const at = '2026-05-20T12:00:00.123Z';
  const together = Array.from({ length: 5 }, () => randomUUID()).sort();
  // Stored in another order than that of their ids.
  for (const id of [3, 0, 4, 1, 2]) await given(user, { at, id: together[id] ?? '' });
  const newest = await given(user, { at: '2026-05-20T12:00:00.124Z' });
  const oldest = await given(user, { at: '2026-05-20T12:00:00.122Z' });
  const inOrder = [newest, ...together.toReversed(), oldest];
  for (const limit of [1, 2, 3, 6, 7]) {
    const pages = await readPages(user, `?limit=${limit}`);
    assert.deepEqual(pages.flatMap(listIds), inOrder, `pages of ${limit}`);
    assert.ok(pages.every(({ length }) => length === limit || length === inOrder.length % limit));
  }
});

test('what is made meanwhile neither shifts nor repeats an item', async () => {
  const user = await givenCustomer(app);
  const old: string[] = [];
  for (const day of ['20', '19', '18'])
    old.push(await given(user, { at: `2026-05-${day}T12:00Z` }));
  const first = await readPage(user, '?limit=2');
  assert.deepEqual(listIds(first.items), old.slice(0, 2));
  await given(user, { at: '2026-05-21T12:00Z' });
  const second = await readPage(user, `?limit=2&cursor=${first.next_cursor}`);
  assert.deepEqual(second, { items: second.items });
  assert.deepEqual(listIds(second.items), old.slice(2));
});

test('a page has twenty items unless the request has another limit, and at most a hundred', async () => {
  const user = await givenCustomer(app);
  await givenMany(user, 101);
  assert.equal((await readPage(user)).items.length, 20);
  const page = await readPage(user, '?limit=100');
  assert.equal(page.items.length, 100);
  assert.equal((await readPage(user, `?cursor=${page.next_cursor}`)).items.length, 1);
});

test('a filter that finds little is answered in pages too, to the end', async () => {
  const user = await givenCustomer(app);
  await givenMany(user, 2_100);
  const newest = await given(user, { at: '2026-05-20T12:00:00Z', operation: 'SEND' });
  const oldest = await given(user, { at: '2026-05-01T12:00:00Z', operation: 'SEND' });
  const pages = await readPages(user, '?type=PIX_SEND');
  assert.deepEqual(pages.map(listIds), [[newest], [], [oldest]]);
  const full = await readPages(user, '?type=PIX_SEND&limit=1');
  assert.deepEqual(full.flatMap(listIds), [newest, oldest]);
  const none = await readPages(user, '?type=PIX_CHARGE');
  assert.deepEqual(none, [[], [], []]);
  const all = await readPages(user, '?limit=100');
  assert.equal(new Set(all.flatMap(listIds)).size, 2_102);
});

test('a page of charges ends when their codes are large', async () => {
  const user = await givenCustomer(app);
  const ids: string[] = [];
  for (let day = 28; day > 20; day -= 1) {
    const row = { at: `2026-04-${day}T12:00Z`, operation: 'CHARGE', status: 'PROCESSING' } as const;
    ids.push(await given(user, { ...row, qrCode: 'x'.repeat(300_000) }));
  }
  const pages = await readPages(user, '?limit=50');
  assert.deepEqual(
    pages.map(({ length }) => length),
    [4, 4, 0],
  );
  assert.deepEqual(pages.flatMap(listIds), ids);
  // What a filter leaves out is no part of the page.
  await given(user, { at: '2026-05-01T12:00Z' });
  assert.deepEqual(
    (await readPages(user, '?type=PIX_RECEIVED')).map((items) => items.length),
    [1],
  );
});

test('qr_code is an image: a text that an older release has stored there is left out', async () => {
  const user = await givenCustomer(app);
  const row = { at: '2026-04-28T12:00Z', operation: 'CHARGE', status: 'PROCESSING' } as const;
  await given(user, { ...row, qrCode: '00020101021226' });
  await given(user, { ...row, at: '2026-04-27T12:00Z', qrCode: 'iVBORw0KGgoAAAA' });
  const { body } = await app.call('/pix', { token: user.token });
  const { items } = body as { items: { qr_code?: string }[] };
  assert.deepEqual(
    items.map((item) => item.qr_code),
    [undefined, 'iVBORw0KGgoAAAA'],
  );
});

// Filters.

test('type and status filter, alone and together', async () => {
  const user = await givenCustomer(app);
  const rows = [
    ['SEND', 'PROCESSING'],
    ['SEND', 'COMPLETED'],
    ['SEND', 'FAILED'],
    ['CHARGE', 'PROCESSING'],
    ['CHARGE', 'COMPLETED'],
    ['RECEIVED', 'COMPLETED'],
  ] as const;
  for (const [nth, [operation, status]] of rows.entries()) {
    await given(user, { at: `2026-05-2${9 - nth}T12:00Z`, operation, status });
  }
  const kinds = async (query: string): Promise<string[]> =>
    (await readPage(user, query)).items.map(({ type, status }) => `${type} ${status}`);
  const [sending, sent, unsent, charging, charged, received] = rows.map(
    ([operation, status]) => `PIX_${operation} ${status}`,
  );
  assert.deepEqual(await kinds('?type=PIX_SEND'), [sending, sent, unsent]);
  assert.deepEqual(await kinds('?type=PIX_CHARGE'), [charging, charged]);
  assert.deepEqual(await kinds('?type=PIX_RECEIVED'), [received]);
  assert.deepEqual(await kinds('?status=PROCESSING'), [sending, charging]);
  assert.deepEqual(await kinds('?status=COMPLETED'), [sent, charged, received]);
  assert.deepEqual(await kinds('?status=FAILED'), [unsent]);
  assert.deepEqual(await kinds('?status=COMPLETED&type=PIX_CHARGE'), [charged]);
  assert.deepEqual(await kinds('?status=FAILED&type=PIX_RECEIVED'), []);
});

test('days are whole days in São Paulo, and included; without them the list has no end', async () => {
  const user = await givenCustomer(app);
  const times = [
    '2026-05-12T03:00:00.000Z',
    '2026-05-12T02:59:59.999Z',
    '2026-05-10T03:00:00.000Z',
    '2026-05-10T02:59:59.999Z',
    '2026-04-25T03:00:00.000Z',
    '2026-04-25T02:59:59.999Z',
    '1999-01-01T00:00:00.000Z',
  ];
  for (const at of times) await given(user, { at });
  const instants = async (query: string): Promise<string[]> =>
    (await readPages(user, `${query}&limit=2`)).flat().map((item) => item.created_at);
  assert.deepEqual(await instants('?'), times);
  const days = '?start_date=2026-05-10&end_date=2026-05-11';
  assert.deepEqual(await instants(days), times.slice(1, 3));
  assert.deepEqual(await instants('?end_date=2026-05-24'), times.slice(0, 5));
  assert.deepEqual(await instants('?start_date=2026-05-12'), times.slice(0, 1));
});

test('a cursor goes on in another period and with another filter', async () => {
  const user = await givenCustomer(app);
  const days = ['20', '19', '18', '17'];
  const ids: string[] = [];
  for (const day of days) ids.push(await given(user, { at: `2026-05-${day}T12:00Z` }));
  const { next_cursor: cursor } = await readPage(user, '?limit=2');
  const within = `start_date=2026-05-17&end_date=2026-05-17`;
  assert.deepEqual(listIds((await readPage(user, `?cursor=${cursor}&${within}`)).items), [ids[3]]);
  const before = `start_date=2026-05-19&end_date=2026-05-20`;
  assert.deepEqual((await readPage(user, `?cursor=${cursor}&${before}`)).items, []);
  assert.deepEqual((await readPage(user, `?cursor=${cursor}&status=FAILED`)).items, []);
});

// 422

const noCursor = ['Enter the next_cursor of the page before unchanged. Begin without a cursor.'];
const goodId = '0197020c-7d2f-7c4a-9c1d-2f5f0f6b7a10';
const encode = (text: string): string => Buffer.from(text).toString('base64url');

for (const [what, cursor] of [
  ['empty', ''],
  ['no base64url', 'a+b/c='],
  ['a word', 'next'],
  ['of another version', encode(`2.1779636312000.${goodId}`)],
  ['without an id', encode('1.1779636312000.')],
  ['without a time', encode(`1..${goodId}`)],
  ['of a time before 1970', encode(`1.-1.${goodId}`)],
  ['of a time that no database has', encode(`1.99999999999999.${goodId}`)],
  ['of a time in another spelling', encode(`1.01779636312000.${goodId}`)],
  ['of something else than an id', encode(`1.1779636312000.${'-'.repeat(36)}`)],
  ['longer than its tuple', encode(`1.1779636312000.${goodId} `)],
  ['followed by other characters', `${encode(`1.1779636312000.${goodId}`)}!`],
  ['SQL', encode(`1.1779636312000.' or 1 = 1 --`)],
] as const) {
  test(`422 names a cursor that is ${what}`, async () => {
    const response = await list(await givenCustomer(app), `?cursor=${encodeURIComponent(cursor)}`);
    assert.equal(response.status, 422);
    assert.deepEqual(response.body.errors, { cursor: noCursor });
  });
}

test('422 names a cursor that is too long', async () => {
  const response = await list(await givenCustomer(app), `?cursor=${'x'.repeat(300)}`);
  const errors = { cursor: ['The text must have at most 128 characters.'] };
  assert.deepEqual([response.status, response.body.errors], [422, errors]);
});

const date = ['The value must be a date such as 2026-05-24.'];

const oneOfTypes =
  'The value must be one of PIX_SEND, PIX_CHARGE, PIX_RECEIVED, PIX_REFUND_IN, PIX_REFUND_OUT.';

for (const [query, errors] of [
  ['?limit=0', { limit: ['The value must be at least 1.'] }],
  ['?limit=101', { limit: ['The value must be at most 100.'] }],
  ['?limit=ten', { limit: ['The value must be a whole number.'] }],
  ['?limit=1.5', { limit: ['The value must be a whole number.'] }],
  ['?type=SEND', { type: [oneOfTypes] }],
  ['?status=', { status: ['The value must be one of PROCESSING, COMPLETED, FAILED.'] }],
  ['?start_date=2026-02-30', { start_date: date }],
  ['?start_date=2026-05-25', { start_date: ['The first day must not be after the last one.'] }],
  ['?start_date=2025-05-23', { start_date: ['The period must not be longer than 366 days.'] }],
  ['?end_date=2101-01-01', { end_date: ['Must be a day of the years 1970 to 2100.'] }],
  [
    '?start_date=2026-10-10&end_date=2026-10-01&limit=0',
    {
      limit: ['The value must be at least 1.'],
      start_date: ['The first day must not be after the last one.'],
    },
  ],
  ['?limit=1&limit=2', { limit: ['The parameter must not be repeated.'] }],
  [
    '?limit=0&type=x&status=x&start_date=x&end_date=x&cursor=x',
    {
      type: [oneOfTypes],
      status: ['The value must be one of PROCESSING, COMPLETED, FAILED.'],
      start_date: date,
      end_date: date,
      limit: ['The value must be at least 1.'],
      cursor: noCursor,
    },
  ],
] as const) {
  test(`422 for ${query} names what is wrong`, async () => {
    const response = await list(await givenCustomer(app), query);
    assert.equal(response.status, 422);
    assert.deepEqual(response.body, { message: messageOf(errors), errors });
  });
}

test('422 is worded in Portuguese for those who prefer it', async () => {
  const response = await list(await givenCustomer(app), '?cursor=x', {
    'accept-language': 'pt-BR',
  });
  assert.deepEqual(response.body.errors, {
    cursor: ['Informe o next_cursor da página anterior sem alterações. Comece sem cursor.'],
  });
});

// 401

test('401 without a token, and after a logout, also for an invalid cursor', async () => {
  assert.equal((await app.call('/pix')).status, 401);
  const user = await givenCustomer(app);
  await given(user, { at: '2026-05-20T12:00Z' });
  await app.call('/auth/logout', { method: 'POST', token: user.token });
  assert.equal((await list(user)).status, 401);
  assert.equal((await list(user, '?cursor=x')).status, 401);
});

test('the bank is not called', async (t) => {
  const user = await givenCustomer(app);
  const { provider } = app.context;
  const calls = (Object.keys(provider) as (keyof typeof provider)[]).map((method) =>
    t.mock.method(provider, method),
  );
  await readPage(user);
  assert.ok(calls.every(({ mock }) => mock.callCount() === 0));
});
