/** The oracle reports responses that are not in the contract. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { closedReplies } from '../../src/contract/closed-replies.ts';
import { parseContract, readServedContract } from '../../src/app/contract-file.ts';
import { Chance } from '../simulation/chance.ts';
import { legalDraft, type Customer, type Draft, type Json } from './drafts.ts';
import { Oracle } from './oracle.ts';

const document = closedReplies((await parseContract()) as Json) as Json;
const { operations } = await readServedContract();
const oracle = new Oracle(document);

const customer: Customer = {
  email: 'ana@example.com',
  password: 'x',
  token: 'a.b.c',
  transactions: [],
  endToEnds: [],
  applications: [],
  keys: [],
};

const usual = {
  'x-request-id': '1',
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
};

function draftOf(id: string): Draft {
  const operation = operations.find((one) => one.id === id) ?? assert.fail(id);
  return legalDraft({ document, operation, customer, chance: new Chance(1), nonce: 'n' });
}

type Given = readonly [status: number, body: unknown, headers?: Readonly<Record<string, string>>];

function faultsOf(draft: Draft, ...[status, body, headers = {}]: Given): string[] {
  const all = Object.entries({ ...usual, ...headers });
  const text = body === undefined ? '' : JSON.stringify(body);
  return oracle.faultsOf(draft, {
    status,
    headers: new Map(all.map(([name, value]) => [name, [value]])),
    text,
  });
}

const sent = { transaction_id: '0197020c-7d2f-7c4a-9c1d-2f5f0f6b7a10', status: 'PROCESSING' };

const outcome = { 'pix-outcome': 'accepted' };

test('a response of the contract is accepted', () => {
  assert.deepEqual(faultsOf(draftOf('sendPix'), 200, sent, outcome), []);
  assert.deepEqual(faultsOf(draftOf('sendPix'), 400, { message: 'no' }), []);
  const unread = { 'pix-outcome': 'unknown' };
  assert.deepEqual(faultsOf(draftOf('getBalance'), 431, { message: 'no' }, unread), []);
});

test('every other response is reported', () => {
  const send = draftOf('sendPix');
  const found = [
    faultsOf(send, 500, { message: 'a defect' }),
    faultsOf(send, 503, { message: 'busy' }, { 'retry-after': '5' }),
    faultsOf(send, 418, { message: 'no' }),
    faultsOf(send, 200, sent),
    faultsOf(send, 200, sent, { 'pix-outcome': 'perhaps' }),
    faultsOf(send, 200, { ...sent, leaked: true }, outcome),
    faultsOf(send, 200, undefined, outcome),
    faultsOf(send, 429, { message: 'wait' }),
    faultsOf(send, 400, { message: 'no' }, { 'x-powered-by': 'y' }),
    faultsOf(send, 400, { message: 'no' }, { 'cache-control': 'public' }),
    faultsOf(draftOf('getBalance'), 404, { message: 'no' }, { 'pix-outcome': 'unknown' }),
    faultsOf({ ...send, isForged: true }, 200, sent, outcome),
    faultsOf({ ...send, isRouted: false }, 404, {}),
  ];
  for (const [nth, faults] of found.entries()) assert.equal(faults.length, 1, String(nth));
});
