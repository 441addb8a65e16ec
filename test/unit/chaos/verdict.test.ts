/** The verdict finds every way to report or store a payment wrongly. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { LedgerPayment } from '../../../src/provider/sandbox/ledger.ts';
import { verdict, type Evidence, type StoredSend } from '../../chaos/verdict.ts';

const audit = { ok: true, checked: { transactions: 1, events: 0, jobs: 0 }, invariants: [] };

const payment = { clientRequestId: 'k' } as LedgerPayment;

const row: StoredSend = { id: 't', idempotency_key: 'k', status: 'COMPLETED', phase: 'SETTLED' };

const reported = { key: 'k', amount: 1, transactionId: 't', status: 'PROCESSING' };

const good: Evidence = {
  executed: [payment],
  stored: [row],
  reported: [reported],
  audit,
  deadJobs: 0,
};

test('a payment that is executed, stored and reported once passes', () => {
  assert.deepEqual(verdict(good), []);
});

test('a payment that the provider never received may wait for an operator', () => {
  const stored = [{ ...row, status: 'PROCESSING', phase: 'UNKNOWN' }];
  assert.deepEqual(verdict({ ...good, executed: [], stored }), []);
});

const wrong: Readonly<Record<string, Partial<Evidence>>> = {
  'a payment that is made twice': { executed: [payment, payment] },
  'two transactions of one key': { stored: [row, row] },
  'an executed payment that is not stored': { stored: [], reported: [] },
  'an executed payment that has failed': { stored: [{ ...row, status: 'FAILED' }] },
  'an executed payment that is open': { stored: [{ ...row, status: 'PROCESSING' }] },
  'a completed payment that was not executed': { executed: [] },
  'a payment that stays in a phase before it is sent': {
    executed: [],
    stored: [{ ...row, status: 'PROCESSING', phase: 'RESERVED' }],
  },
  'an acknowledged payment that is another one': {
    reported: [{ ...reported, transactionId: 'u' }],
  },
  'an executed payment that was called failed': { reported: [{ ...reported, status: '502' }] },
  'a dead job': { deadJobs: 1 },
};

for (const [name, change] of Object.entries(wrong)) {
  test(`${name} is found`, () => {
    assert.notDeepEqual(verdict({ ...good, ...change }), []);
  });
}
