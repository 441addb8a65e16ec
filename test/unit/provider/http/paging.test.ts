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
  ['Content-Range', 'items 0-0/200'],
  ['X-Total-Count', '2'],
  ['X-Total', 'many'],
  ['X-Total-Pages', '2'],
  ['X-Page', '2'],
  ['X-Next-Page', '2'],
  ['X-Next-Cursor', 'b3Blbg'],
  ['X-Has-More', 'true'],
  ['X-Per-Page', '1'],
  ['Page-Size', '1'],
];

for (const [name, value] of parts) {
  test(`a statement with the header ${name}: ${value} is not whole`, async () => {
    assert.equal(await isWhole(200, { [name]: value }), false);
  });
}

test('a statement that is answered by 206 is not whole', async () => {
  assert.equal(await isWhole(206, {}), false);
});

test('a statement whose headers say that nothing follows is whole', async () => {
  const headers = {
    Link: '<https://bank/statement?page=1>; rel="first", <https://bank/nextgen>; rel="help"',
    'Content-Range': 'items 0-0/1',
    'X-Total-Count': '1',
    'X-Total-Pages': '1',
    'X-Page': '1',
    'X-Next-Page': '',
    'X-Next-Cursor': 'null',
    'X-Has-More': 'false',
    'X-Per-Page': '50',
    'X-RateLimit-Remaining': '9',
  };
  assert.equal(await isWhole(200, headers), true);
});
