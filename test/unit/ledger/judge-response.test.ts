/** What the response to a payment changes, and what it contradicts: tables without a database. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { judgeFailure, judgeReceipt, judgeUnmoved } from '../../../src/ledger/judge-response.ts';
import type { Move } from '../../../src/ledger/move-repository.ts';
import type { PixTransaction } from '../../../src/ledger/pix-transaction-repository.ts';
import { notUnderstood, ProviderError } from '../../../src/provider/errors.ts';
import type { PaymentReceipt } from '../../../src/provider/provider.ts';

const endToEnd = 'E11165756202605241200aaaaaaaaaaa';
const receipt: PaymentReceipt = {
  endToEnd,
  clientRequestId: 'key',
  providerTxid: 'bank-1',
  status: 'PROCESSING',
};
const completed = { ...receipt, status: 'COMPLETED' } as const;
const byRequest = { ...completed, isByRequestAlone: true } as const;
const alone = { attempt: 1, mayBeOther: false };

const notSent = new ProviderError({
  outcome: 'not_sent',
  code: 'PROVIDER_UNAVAILABLE',
  statusClass: 'stopped',
});

function describe({ to, status, outcome, failureCode, timeline }: Move): string {
  const steps = timeline.map(({ phase, note }) => [phase, note].filter(Boolean).join(' '));
  return [to, status, outcome, failureCode, `(${steps.join(', ')})`].filter(Boolean).join(' ');
}

function failure(
  outcome: 'rejected' | 'not_sent' | 'unknown',
  last?: ProviderError,
  isReceived = false,
): Move {
  const code = outcome === 'rejected' ? 'PROVIDER_REJECTED' : 'PROVIDER_UNAVAILABLE';
  const error = new ProviderError({ outcome, code, statusClass: '4xx', refusalCode: 'AB03' });
  return judgeFailure(Object.assign(error, { lastAttempt: last ?? null }), {
    attempt: 2,
    isReceived,
  });
}

const rows: readonly (readonly [string, Move, string])[] = [
  ['an acceptance', judgeReceipt(receipt, alone), 'ACCEPTED PROCESSING accepted (ACCEPTED)'],
  [
    'a completion',
    judgeReceipt(completed, alone),
    'SETTLED COMPLETED accepted (ACCEPTED, SETTLED COMPLETED)',
  ],
  [
    'a completion by the request id alone',
    judgeReceipt(byRequest, alone),
    'ACCEPTED PROCESSING accepted (ACCEPTED)',
  ],
  [
    'the same beside the send of another user with the key',
    judgeReceipt(byRequest, { ...alone, mayBeOther: true }),
    'UNKNOWN PROCESSING unknown (UNKNOWN)',
  ],
  ['a refusal', failure('rejected'), 'REJECTED FAILED rejected PROVIDER_REJECTED (REJECTED)'],
  [
    'a refusal of what the payee has received',
    failure('rejected', undefined, true),
    'UNKNOWN PROCESSING unknown (UNKNOWN)',
  ],
  [
    'not sent',
    failure('not_sent'),
    'SETTLED FAILED not_sent PROVIDER_UNAVAILABLE (SETTLED not_sent)',
  ],
  ['no response', failure('unknown'), 'UNKNOWN PROCESSING unknown (UNKNOWN)'],
  [
    'no response to the first attempt, and a second one that was not sent',
    failure('unknown', notSent),
    'UNKNOWN PROCESSING unknown (UNKNOWN not_sent)',
  ],
];

for (const [name, move, expected] of rows) {
  test(`${name} is judged`, () => {
    assert.equal(describe(move), expected);
    assert.deepEqual(move.from, ['PAYING', 'UNKNOWN']);
  });
}

test('a receipt and a failure keep what the bank has said', () => {
  assert.equal(judgeReceipt(receipt, { ...alone, attempt: 3 }).timeline[0]?.attempt, 3);
  assert.equal(judgeReceipt(receipt, alone).providerTxid, 'bank-1');
  const [entry] = failure('rejected').timeline;
  assert.deepEqual(
    [entry?.providerStatus, entry?.providerCode, entry?.attempt],
    ['4xx', 'AB03', 2],
  );
  assert.equal(judgeFailure(notUnderstood(), { attempt: 1, isReceived: false }).to, 'UNKNOWN');
});

const stored: PixTransaction = {
  id: 'send',
  userId: 1,
  operation: 'SEND',
  idempotencyKey: 'key',
  status: 'FAILED',
  phase: 'SETTLED',
  outcome: 'rejected',
  failureCode: 'PROVIDER_REJECTED',
  endToEnd,
  transactionIdentification: null,
  qrCode: null,
  copyPaste: null,
};
const accepts = judgeReceipt(receipt, alone);
const completes = judgeReceipt(completed, alone);
const fails = failure('rejected');
const doubts = failure('unknown');
const paid = { ...stored, status: 'COMPLETED' } as const;
const open = { ...stored, status: 'PROCESSING', phase: 'ACCEPTED' } as const;

interface UnmovedRow {
  readonly move: Move;
  readonly stored?: Partial<PixTransaction>;
  readonly isSettledByEvent?: boolean;
  readonly conflict: string | null;
}

const unmoved: Readonly<Record<string, UnmovedRow>> = {
  'a refusal of what is open is late': { move: fails, stored: open, conflict: null },
  'a refusal of what is COMPLETED': {
    move: fails,
    stored: paid,
    conflict: 'contradicted_by_FAILED',
  },
  'a completion of what is FAILED': { move: completes, conflict: 'contradicted_by_COMPLETED' },
  'a completion of what is COMPLETED': { move: completes, stored: paid, conflict: null },
  'a refusal of what is FAILED': { move: fails, conflict: null },
  'no response about what is FAILED': { move: doubts, conflict: null },
  'an acceptance of what no event has failed': {
    move: accepts,
    conflict: 'contradicted_by_ACCEPTED',
  },
  'an acceptance of what an event has failed': {
    move: accepts,
    isSettledByEvent: true,
    conflict: null,
  },
  'an acceptance of what is COMPLETED': { move: accepts, stored: paid, conflict: null },
  'an acceptance of another payment': {
    move: accepts,
    stored: { endToEnd: endToEnd.replaceAll('a', 'b') },
    conflict: null,
  },
  'an acceptance of what failed before PAYING': {
    move: accepts,
    stored: { endToEnd: null },
    conflict: 'left_after_loss',
  },
};

for (const [name, { move, stored: as, isSettledByEvent = false, conflict }] of Object.entries(
  unmoved,
)) {
  test(`${name}: ${conflict ?? 'no conflict'}`, () => {
    const found = { endToEnd, move, stored: { ...stored, ...as }, isSettledByEvent };
    assert.equal(judgeUnmoved(found), conflict);
  });
}
