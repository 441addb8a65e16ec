/** What time ends: tables without a database. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  judgeExpiredCharge,
  judgeOverdueSend,
  type ExpiredChargeFacts,
  type OverdueFacts,
} from '../../../src/ledger/judge-clock.ts';

const hourMs = 60 * 60_000;
const now = new Date('2026-05-26T12:00:00.000Z');
const ago = (hours: number): Date => new Date(now.getTime() - hours * hourMs);

const absent: OverdueFacts = {
  now,
  attemptedAt: ago(36),
  endToEnd: 'E11165756202605241200aaaaaaaaaaa',
  outcome: 'unknown',
  isRefused: true,
  isElsewhere: true,
  hasLineIds: true,
  evidence: 'absent',
  mayBeThere: false,
};

const sends: Readonly<Record<string, readonly [Partial<OverdueFacts>, string | null]>> = {
  'a send that the bank has refused, and that no line shows': [{}, 'EXPIRED_UNEXECUTED'],
  'a millisecond before 36 hours': [{ attemptedAt: new Date(ago(36).getTime() + 1) }, null],
  'without an attempt': [{ attemptedAt: null }, null],
  'without a word of the bank': [{ isRefused: false }, null],
  'to an account of the same institution, or of an unknown one': [{ isElsewhere: false }, null],
  'whose id the lines do not have': [{ hasLineIds: false }, null],
  'that a line may be': [{ mayBeThere: true }, null],
  'that a line shows': [{ evidence: 'completed' }, null],
  'that a line mentions': [{ evidence: 'unclear' }, null],
  'whose money came back': [{ evidence: 'reversed' }, 'REVERSED'],
  'whose money came back, of whomever': [
    {
      evidence: 'reversed',
      isRefused: false,
      isElsewhere: false,
      hasLineIds: false,
    },
    'REVERSED',
  ],
  'whose money came back too early': [{ evidence: 'reversed', attemptedAt: ago(35) }, null],
};

for (const [name, [facts, failureCode]] of Object.entries(sends)) {
  test(`${name}: ${failureCode ?? 'stays open'}`, () => {
    const move = judgeOverdueSend({ ...absent, ...facts });
    assert.equal(move?.failureCode ?? null, failureCode);
    if (!move) return;
    assert.deepEqual(move.from, ['ACCEPTED', 'UNKNOWN']);
    assert.equal(move.endToEnd, absent.endToEnd);
    assert.equal(move.outcome, 'rejected');
  });
}

test('an acceptance is not taken back by time', () => {
  const move = judgeOverdueSend({ ...absent, outcome: 'accepted', evidence: 'reversed' });
  assert.equal(move?.status, 'FAILED');
  assert.equal('outcome' in (move ?? {}), false);
});

const charges: Readonly<
  Record<string, readonly [ExpiredChargeFacts['evidence'], number, boolean]>
> = {
  'a statement without its payment': ['absent', 25, true],
  'a statement with its payment': ['paid', 72, false],
  'lines that are not clear': ['unclear', 47, false],
  'lines that are not clear for two days': ['unclear', 48, true],
  'no statement': [null, 47, false],
  'no statement for two days': [null, 48, true],
};

for (const [name, [evidence, hours, isEnded]] of Object.entries(charges)) {
  test(`${name}: an expired charge ${isEnded ? 'ends' : 'waits'}`, () => {
    const move = judgeExpiredCharge({ expiresAt: ago(hours), now, evidence });
    assert.equal(move?.failureCode ?? null, isEnded ? 'CHARGE_EXPIRED' : null);
  });
}
