/** What an operator's decision changes, and which is refused: a table without a database. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  judgeDecision,
  type DecidedOn,
  type Decision,
} from '../../../src/ledger/judge-operator.ts';

const endToEnd = 'E11165756202605241200aaaaaaaaaaa';
const other = 'E11165756202605241200bbbbbbbbbbb';

const unknown: DecidedOn = {
  operation: 'SEND',
  status: 'PROCESSING',
  phase: 'UNKNOWN',
  outcome: 'unknown',
  idempotencyKey: 'key',
  endToEnd,
};
const failed = { status: 'FAILED', phase: 'SETTLED' } as const;
const early = { phase: 'RESERVED', outcome: null, endToEnd: null } as const;
const charge = { operation: 'CHARGE', phase: 'ACCEPTED', outcome: 'accepted' } as const;

const calm = {
  corrects: false,
  note: 'operator ana: seen',
  isClaimed: false,
  mayBeLost: false,
  isPaused: false,
};
const completes: Decision = { ...calm, as: 'completed' };
const fails: Decision = { ...calm, as: 'failed' };
const lost = { mayBeLost: true };

function decide(decision: Decision, named: Partial<DecidedOn>): string {
  const verdict = judgeDecision(decision, { ...unknown, ...named });
  if (verdict.kind === 'refused') return `refused ${verdict.reason}`;
  if (verdict.kind === 'correct') return 'correct';
  const { from, status, outcome, failureCode, timeline, endToEnd: id } = verdict.move;
  const steps = timeline.map(({ phase }) => phase).join(' ');
  return [...from, status, outcome, failureCode, id && 'with its id', `(${steps})`]
    .filter((part) => part !== undefined && part !== null)
    .join(' ');
}

const rows: readonly (readonly [Decision, Partial<DecidedOn>, string])[] = [
  [completes, {}, 'UNKNOWN COMPLETED accepted (SETTLED)'],
  [fails, {}, 'UNKNOWN FAILED rejected OPERATOR_DECISION (SETTLED)'],
  [completes, { phase: 'ACCEPTED', outcome: 'accepted' }, 'ACCEPTED COMPLETED (SETTLED)'],
  [
    fails,
    { phase: 'ACCEPTED', outcome: 'accepted' },
    'ACCEPTED FAILED OPERATOR_DECISION (SETTLED)',
  ],
  [completes, { idempotencyKey: null }, 'refused reported'],
  [fails, { status: 'COMPLETED', phase: 'SETTLED' }, 'refused completed'],
  [completes, { status: 'COMPLETED', phase: 'SETTLED' }, 'refused completed'],
  // FAILED is corrected by who has seen it.
  [fails, failed, 'refused failed_already'],
  [completes, failed, 'refused unseen'],
  [{ ...completes, corrects: true }, failed, 'correct'],
  [{ ...completes, corrects: true }, { ...failed, endToEnd: null }, 'refused never_sent'],
  [{ ...completes, corrects: true, endToEnd: other }, failed, 'refused other_end_to_end'],
  // A process may work on it.
  [{ ...fails, isClaimed: true }, {}, 'UNKNOWN FAILED rejected OPERATOR_DECISION (SETTLED)'],
  [{ ...fails, isClaimed: true }, { phase: 'PAYING' }, 'refused claimed'],
  [fails, { phase: 'PAYING' }, 'PAYING FAILED rejected OPERATOR_DECISION (SETTLED)'],
  [{ ...fails, isClaimed: true }, { ...charge, phase: 'RESERVED' }, 'refused claimed'],
  [{ ...fails, isClaimed: true }, charge, 'ACCEPTED FAILED PROVIDER_REJECTED (SETTLED)'],
  [completes, charge, 'ACCEPTED COMPLETED (SETTLED)'],
  // Before PAYING nothing was sent, unless commits may be lost.
  [fails, early, 'refused not_sent'],
  [{ ...fails, ...lost }, early, 'RESERVED FAILED rejected OPERATOR_DECISION (SETTLED)'],
  [{ ...fails, ...lost, isClaimed: true }, early, 'refused claimed'],
  [{ ...fails, ...lost, isPaused: true }, early, 'refused paused'],
  [{ ...completes, ...lost }, early, 'refused no_end_to_end'],
  [{ ...completes, ...lost, endToEnd: `D${other.slice(1)}` }, early, 'refused no_end_to_end'],
  [{ ...completes, ...lost, endToEnd: 'E1' }, early, 'refused no_end_to_end'],
  [
    { ...completes, ...lost, endToEnd: other },
    early,
    'RESERVED COMPLETED accepted with its id (PAYING SETTLED)',
  ],
  [
    { ...completes, ...lost },
    { ...early, operation: 'REFUND_OUT', endToEnd: `D${endToEnd.slice(1)}` },
    'RESERVED COMPLETED accepted (PAYING SETTLED)',
  ],
  [{ ...completes, endToEnd: other }, {}, 'refused other_end_to_end'],
  [completes, { phase: 'REJECTED' }, 'refused not_open'],
];

for (const [decision, named, expected] of rows) {
  const { as, endToEnd: id, ...facts } = decision;
  const flags = Object.entries(facts).flatMap(([name, value]) => (value === true ? [name] : []));
  const what = [named.operation, named.status, named.phase].filter(Boolean).join(' ') || 'UNKNOWN';
  const given = id === undefined ? '' : ` as ${id}`;
  test(`${as}${given} of ${what} ${flags.join(', ')}: ${expected}`, () => {
    assert.equal(decide(decision, named), expected);
  });
}
