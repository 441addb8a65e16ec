/** Statements whose status or headers speak of further pages. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { session } from '../scripted-provider.ts';
import { providerAt } from './over-http.ts';

import { responding } from './raw-server.ts';

const item = { endToEnd: 'E1', amount: 10.5, status: 'CONFIRMED', direction: 'DEBIT' };

async function isWhole(status: number, headers: Readonly<Record<string, string>>) {
  const { url } = await responding(status, [item], headers);
  const days = { start: '2026-05-01', end: '2026-05-24' };
  return (await providerAt(url).statement({ session, ...days })).isWhole;
}

const parts: readonly (readonly [name: string, value: string])[] = [
  ['Link', '<https://bank/statement?page=2>; rel="next"'],
  ['Link', '<https://bank/statement?page=1>; rel=first, </statement?page=2>; rel=next'],
  ['Link', "</statement?page=2>; rel='last next'"],
  ['Content-Range', 'items 0-0/200'],
  ['X-Total-Count', '2'],
  ['X-TotalCount', '2'],
  ['X-Total', 'many'],
  ['X-Total-Pages', '2'],
  ['X-Page', '2'],
  ['X-Next-Page', '2'],
  ['X-Next-Cursor', 'b3Blbg'],
  ['X-Ms-Continuation', 'abc'],
  ['X-Has-More', 'true'],
  ['X-HasNext', 'true'],
  ['X-Per-Page', '1'],
  ['Page-Size', '1'],
  ['X-Truncated', 'true'],
  ['X-Possui-Mais', 'true'],
  ['X-Pagination', '{"totalCount":200,"pageSize":1,"currentPage":1,"hasNext":true}'],
];

for (const [name, value] of parts) {
  test(`a statement with the header ${name}: ${value} is not whole`, async () => {
    assert.equal(await isWhole(200, { [name]: value }), false);
  });
}

test('a statement that is answered by 206 is not whole', async () => {
  assert.equal(await isWhole(206, {}), false);
});

const onePages: readonly Readonly<Record<string, string>>[] = [
  {
    'X-Total': '1',
    'X-Total-Pages': '1',
    'X-Per-Page': '1',
    'X-Page': '1',
    'X-Prev-Page': '',
    'X-Next-Page': '',
  },
  { 'X-Next-Cursor': 'null', 'X-Has-More': 'false', 'X-Has-Next': 'n', 'X-Per-Page': '50' },
  { 'X-Total-Count': '1, 1', 'X-Page': '1/1', 'Content-Range': 'items 0-0/1' },
  { 'X-Total-Count': '', 'Content-Range': 'bytes 0-99/100' },
  { 'X-Pagination': '{"totalCount":1,"pageSize":1,"hasNext":false,"next":null}' },
  { Link: '</statement?page=1>; rel="first", </nextgen>; rel="next-version"; title="rel=next"' },
];

const ofGateways: Readonly<Record<string, string>> = {
  'X-RateLimit-Remaining': '9',
  'X-RateLimit-Total': '100',
  'X-Total-Time': '12ms',
  'X-Total-Amount': '10.50',
  'X-Kong-Total-Latency': '12',
  'X-More-Info': 'https://bank/help',
  'X-Next-Poll': '60',
  'X-Page-Id': 'statement',
  'X-Page-Limit': '1000',
};

for (const headers of [...onePages, ofGateways]) {
  test(`a statement with ${JSON.stringify(headers)} is whole`, async () => {
    assert.equal(await isWhole(200, headers), true);
  });
}
