import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { pixOutcomes } from '../../../src/domain/pix.ts';
import { nextStep, type OrderAnswer } from '../../../src/domain/pix-next.ts';
import { nextOfRow, orderAnswerRows } from '../../documents/order-answers.ts';

const completed = { status: 'COMPLETED', failureCode: null } as const;
const open = { status: 'PROCESSING', failureCode: null } as const;
const failed = (failureCode: string | null) => ({ status: 'FAILED', failureCode }) as const;

type Case = readonly [
  answer: string,
  status: number,
  order: OrderAnswer['order'],
  doubt: OrderAnswer['doubt'],
  next: string,
];

const cases: readonly Case[] = [
  ['a payment that is made', 200, completed, null, 'done'],
  ['an open payment', 200, open, null, 'wait'],
  ['an open payment that has not changed', 304, open, null, 'wait'],
  ['a failed payment', 200, failed('AC03'), null, 'new-key'],
  ['a failed payment without a code', 200, failed(null), null, 'new-key'],
  ['an abandoned payment', 200, failed('ABANDONED'), null, 'new-key'],
  ['a payment that was given up', 200, failed('CANCELLED'), null, 'new-key'],
  ['a payment that failed by its term', 200, failed('EXPIRED_UNEXECUTED'), null, 'ask'],
  ['a payment that an operator failed', 200, failed('OPERATOR_DECISION'), null, 'ask'],
  ['a payment that the bank refused', 502, failed('INSUFFICIENT_FUNDS'), null, 'new-key'],
  ['a failure of the bank beside no payment', 502, null, null, 'repeat'],
  ['a payment that a rule refused', 422, failed('ACCOUNT_NOT_ACTIVE'), null, 'new-key'],
  ['fields that are not valid', 422, null, null, 'correct'],
  ['the key of another payment that is made', 422, completed, 'other_request', 'ask'],
  ['the key of another payment that is open', 422, open, 'other_request', 'ask'],
  ['the key of another payment that failed', 422, failed('AC03'), 'other_request', 'ask'],
  ['an amount that may have been paid before a loss', 422, null, 'lost_commits', 'ask'],
  ['a pause that a rule or a cancellation meets', 503, null, 'lost_commits', 'ask'],
  ['a Pix that the user has not received', 404, null, null, 'correct'],
  ['a transaction that the user does not have', 404, null, 'no_transaction', 'ask'],
  ['a service that the bank does not offer', 501, null, null, 'correct'],
  ['a body that is not JSON', 400, null, null, 'correct'],
  ['a body that is too large', 413, null, null, 'correct'],
  ['a body of another media type', 415, null, null, 'correct'],
  ['headers that are too large', 431, null, null, 'correct'],
  ['an ended session', 401, null, null, 'log-in'],
  ['a session that the bank has ended during the payment', 401, open, null, 'log-in'],
  ['a request that took too long to arrive', 408, null, null, 'repeat'],
  ['a throttle', 429, null, null, 'repeat'],
  ['a defect', 500, null, null, 'repeat'],
  ['a pause, a queue or a database that is away', 503, null, null, 'repeat'],
  ['a pause beside a payment that waits', 503, open, null, 'repeat'],
];

describe('what the app does next', () => {
  for (const [answer, status, order, doubt, next] of cases) {
    it(`after ${status} for ${answer}: ${next}`, () => {
      assert.equal(nextStep({ status, order, doubt }), next);
    });
  }

  it('is a new key only after a stored payment that failed', () => {
    const orders = [null, completed, open, failed(null)];
    const statuses = Array.from({ length: 400 }, (_, place) => 200 + place);
    const found = statuses.flatMap((status) =>
      orders.filter((order) => nextStep({ status, order, doubt: null }) === 'new-key'),
    );
    assert.ok(found.length > 0 && found.every((order) => order?.status === 'FAILED'));
  });
});

describe('the table of the contract', () => {
  it('has one step in each row, and every step', () => {
    const steps = orderAnswerRows.map(nextOfRow);
    const known = ['ask', 'correct', 'done', 'log-in', 'new-key', 'repeat', 'wait'];
    assert.deepEqual([...new Set(steps)].sort(), known);
  });

  it('never offers a new key beside an outcome that is not known', () => {
    for (const row of orderAnswerRows) {
      if (row.outcome.includes('unknown')) assert.notEqual(nextOfRow(row), 'new-key', row.meaning);
    }
  });

  it('names only outcomes that there are', () => {
    const named = orderAnswerRows.flatMap(({ outcome }) =>
      [...outcome.matchAll(/`(\w+)`/g)].map(([, word]) => word),
    );
    assert.deepEqual(new Set(named), new Set<unknown>(pixOutcomes));
  });
});
