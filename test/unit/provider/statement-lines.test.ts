/** Whether a statement has all its lines: any sign of a further page or a failure says that not. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { dialects } from '../../support/dialects.ts';

const items = [{ id: '1' }, { id: '2' }];
const many = (count: number) => Array.from({ length: count }, (_, nth) => ({ id: String(nth) }));

const whole: Readonly<Record<string, unknown>> = {
  'an array': items,
  'an empty array': [],
  'a list under a name': { items },
  'a wrapped list': { data: { items }, success: true, message: 'OK' },
  'the requested days': { items, startDate: '2026-05-01', end_date: '2026-05-24' },
  'a total of all lines': { items, total: 2 },
  'a total that is a text': { items, totalCount: '2' },
  'the only page': { items, page: 1, totalPages: 1 },
  'a page that is not full': { items, page: 1, pageSize: 3 },
  'no next page': { items, next: null, hasMore: false, cursor: '' },
  'page data of their own': { data: items, pagination: { page: 0, limit: 50, total: 2 } },
  'a total beside a usual page size': { items: many(100), total: 100 },
  'a request that succeeded': { items, status: 'success', statusCode: 200, code: '00' },
};

const partial: Readonly<Record<string, unknown>> = {
  'a larger total': { items, total: 3 },
  'a smaller total': { items, total: 1 },
  'a total that cannot be read': { items, total: 'two' },
  'a further page': { items, page: 1, totalPages: 2 },
  'a text of pages': { items, page: '1 of 2' },
  'the last of two pages': { items, page: 2, total: 2 },
  'a page of unknown size': { items, page: 1 },
  'a full page': { items, limit: 2 },
  'a next page': { items, next: '/statement?page=2' },
  'a link': { items, links: { next: '/statement?page=2' } },
  'a cursor': { items, cursor: 'abc' },
  'a flag': { items, hasMore: true },
  'a flag in a wrapper': { data: { items, has_next: true } },
  'a flag beside a wrapper': { data: { items }, nextPageToken: 'x' },
  'page data of their own': { items, meta: { nextCursor: 'x' } },
  'page data that are a text': { items, pagination: '1/2' },
  'a field that nobody has declared': { items, truncated: 'yes' },
  'a list as long as a usual page': many(100),
  'a list of a usual length under a name': { items: many(50) },
  'a request that failed': { items: [], success: false, message: 'time-out' },
  'a request that failed, by its status': { data: [], status: 'ERROR' },
  'a request that failed, by its code': { data: { items: [] }, code: 'E500' },
  'a request with the status of another one': { list: [], statusCode: 206 },
  'a line that is no object': { items: [...items, 'x'] },
  'a return in another form': [{ endToEnd: 'E1', returnIdentification: 'D1', amount: 5 }],
  'a return of the Pix API': [{ endToEnd: 'E1', rtrId: 'D1', amount: 5 }],
  'a return that names its payment only': [{ originalEndToEnd: 'E1', amount: 5 }],
  'a line with an id that cannot be read': { items: [...items, { endToEnd: { id: 'E1' } }] },
  'a line with two ids': { items: [...items, { endToEnd: 'E1', endToEndId: 'E2' }] },
};

for (const [title, json] of Object.entries(whole)) {
  test(`a statement is whole: ${title}`, () => {
    assert.equal(dialects.readStatement(json, false)?.isWhole, true);
  });
}

for (const [title, json] of Object.entries(partial)) {
  test(`a statement may have further lines: ${title}`, () => {
    assert.equal(dialects.readStatement(json, false)?.isWhole, false);
  });
}

test('every item has its line, in the same order, and stays unchanged', () => {
  const given = [{ endToEnd: 'E1', amount: -10.5, status: 'PAID', id: 7 }, { note: 'x' }];
  const statement = dialects.readStatement({ items: given }, false) ?? assert.fail();
  assert.deepEqual(statement.items, given);
  assert.deepEqual(statement.lines[0], {
    ids: {
      endToEnd: 'E1',
      clientRequestId: null,
      transactionIdentification: null,
      providerTxid: '7',
      returnId: null,
    },
    amountCents: 1_050,
    direction: 'out',
    status: 'COMPLETED',
  });
  assert.deepEqual(Object.values(statement.lines[1]?.ids ?? {}), [null, null, null, null, null]);
});

test('a return id that stands as the end-to-end id of a line is its return id', () => {
  const returnId = 'D00000000202605241700aB3dE5gH7jK';
  const line = { endToEndId: returnId, amount: 5, type: 'DEVOLUCAO', status: 'CONFIRMED' };
  const ids = dialects.readStatement([line], false)?.lines[0]?.ids;
  assert.deepEqual([ids?.returnId, ids?.endToEnd], [returnId, null]);
});
