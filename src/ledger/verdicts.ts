/** Verdicts that several tables of the judge have. */
import { failedAfterRepeat } from '../domain/pix.ts';
import type { Beside, Conflict, Report, Stored, Verdict } from './report.ts';

/** A contradiction of a stored transaction. */
export function conflict(transaction: Stored, reason: string): Beside {
  return { kind: 'conflict', transaction, reason };
}

/** The report waits for a transaction that is not stored. */
export const unmatched = { kind: 'waits', reason: 'no_match' } as const satisfies Verdict;

/** The report waits until a transaction has moved on. */
export function waitsFor(transaction: Stored, reason: string): Verdict {
  return { kind: 'waits', reason, transaction };
}

/** The report waits, and the contradiction is recorded for the operator at once. */
export function waitsBeside(beside: Beside): Verdict {
  const { transaction, reason } = beside;
  return { kind: 'waits', reason, transaction, beside };
}

/** One end-to-end id is one payment: a report repeats what is stored, or contradicts it. */
export function judgeAgain(
  { amountCents }: Report,
  stored: Stored,
): Conflict | Extract<Verdict, { readonly kind: 'already' }> {
  const agrees = amountCents === null || amountCents === stored.amountCents;
  return agrees ? { kind: 'already', transaction: stored } : conflict(stored, 'amount_mismatch');
}

/** Whether a verdict ends a transaction, or finds that it has ended in this way. */
export function isMade({ kind }: Verdict): boolean {
  return ['move', 'correct', 'already'].includes(kind);
}

/** Whether a transaction is said to have failed while an attempt of it is not accounted for. */
export function lacksAttempt(verdict: Verdict): boolean {
  return verdict.kind === 'conflict' && verdict.reason === failedAfterRepeat;
}

/**
 * Whether a report ends a transaction as failed, or would if all its attempts were accounted for.
 */
export function isFailure({ status }: Report, verdict: Verdict): boolean {
  return status === 'FAILED' && (verdict.kind === 'move' || lacksAttempt(verdict));
}
