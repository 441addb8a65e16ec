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

function makeDraft(id: string): Draft {
  const operation = operations.find((one) => one.id === id) ?? assert.fail(id);
  return legalDraft({ document, operation, customer, chance: new Chance(1), nonce: 'n' });
}

type Given = readonly [status: number, body: unknown, headers?: Readonly<Record<string, string>>];

function findFaults(draft: Draft, ...[status, body, headers = {}]: Given): string[] {
  const all = Object.entries({ ...usual, ...headers });
  const text = body === undefined ? '' : JSON.stringify(body);
  return oracle.findFaults(draft, {
    status,
    headers: new Map(all.map(([name, value]) => [name, [value]])),
    text,
  });
}

const sent = { transaction_id: '0197020c-7d2f-7c4a-9c1d-2f5f0f6b7a10', status: 'PROCESSING' };

const next = { 'pix-next': 'wait' };

const outcome = { ...next, 'pix-outcome': 'accepted' };

test('a response of the contract is accepted', () => {
  assert.deepEqual(findFaults(makeDraft('sendPix'), 200, sent, outcome), []);
  assert.deepEqual(findFaults(makeDraft('sendPix'), 400, { message: 'no' }), []);
  const unread = { 'pix-outcome': 'unknown' };
  assert.deepEqual(findFaults(makeDraft('getBalance'), 431, { message: 'no' }, unread), []);
});

test('every other response is reported', () => {
  const send = makeDraft('sendPix');
  const found = [
    findFaults(send, 500, { message: 'a defect' }),
    findFaults(send, 503, { message: 'busy' }, { 'retry-after': '5' }),
    findFaults(send, 418, { message: 'no' }),
    findFaults(send, 200, sent, next),
    findFaults(send, 200, sent, { ...next, 'pix-outcome': 'perhaps' }),
    findFaults(send, 200, { ...sent, leaked: true }, outcome),
    findFaults(send, 200, undefined, outcome),
    findFaults(send, 429, { message: 'wait' }),
    findFaults(send, 400, { message: 'no' }, { 'x-powered-by': 'y' }),
    findFaults(send, 400, { message: 'no' }, { 'cache-control': 'public' }),
    findFaults(makeDraft('getBalance'), 404, { message: 'no' }, { 'pix-outcome': 'unknown' }),
    findFaults({ ...send, isForged: true }, 200, sent, outcome),
    findFaults({ ...send, isRouted: false }, 404, {}),
  ];
  for (const [nth, faults] of found.entries()) assert.equal(faults.length, 1, String(nth));
});
