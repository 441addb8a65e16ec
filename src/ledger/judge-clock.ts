/** What ends by the passing of time, unless a statement contradicts it. It is pure. */
import { dayMs } from '../clock.ts';
import {
  chargeExpired,
  executableMs,
  expiredNote,
  expiredUnexecuted,
  phasesOpenToFailure,
  reversed,
  reversedNote,
  unexecutedNote,
  type PixOutcome,
} from '../domain/pix.ts';
import { endUnsent, type Move } from './move-repository.ts';

/** An order before PAYING that no process works on, and of which no commit is lost: not sent. */
export const abandoned = endUnsent('ABANDONED', { note: 'abandoned' });

/** A process that crashed in PAYING cannot report the outcome of the payment. */
export const leftInPaying: Move = {
  from: ['PAYING'],
  to: 'UNKNOWN',
  status: 'PROCESSING',
  outcome: 'unknown',
  timeline: [{ phase: 'UNKNOWN', note: 'process_died' }],
};

/** How long after its expiry an unpaid charge may still be reported as paid, in ms. */
export const expiryGraceMs = dayMs;

/** How long after that a charge waits for a statement that is not read or not clear, in ms. */
const unreadGraceMs = dayMs;

/** What a statement says of a charge that expired a day ago; null: it could not be read. */
export interface ExpiredChargeFacts {
  readonly expiresAt: Date;
  readonly now: Date;
  readonly evidence: 'paid' | 'absent' | 'unclear' | null;
}

/**
 * @returns the end of a charge as unpaid; null: it is paid, or it waits. A statement that is not
 *   read, or whose lines are not clear, makes it wait a day longer.
 */
export function judgeExpiredCharge({ expiresAt, now, evidence }: ExpiredChargeFacts): Move | null {
  const waitsUntil = expiresAt.getTime() + expiryGraceMs + unreadGraceMs;
  if (evidence === 'paid') return null;
  return evidence === 'absent' || now.getTime() >= waitsUntil ? unpaid : null;
}

/** The end of a charge as unpaid. */
export const unpaid: Move = {
  from: ['ACCEPTED'],
  to: 'SETTLED',
  status: 'FAILED',
  failureCode: chargeExpired,
  timeline: [{ phase: 'SETTLED', note: expiredNote }],
};

/** What is known of an open send a day and a half after its last attempt. */
export interface OverdueFacts {
  readonly now: Date;
  /** When its last attempt was announced; null: it has no such step. */
  readonly attemptedAt: Date | null;
  readonly endToEnd: string;
  readonly outcome: PixOutcome | null;
  /** Whether the bank has said that it failed, or refused every attempt for its session alone. */
  readonly isRefused: boolean;
  /** Whether the payee's account is known to be at another institution. */
  readonly isElsewhere: boolean;
  /** Whether the lines of the bank's statements have the end-to-end ids of this service. */
  readonly hasLineIds: boolean;
  /** What a whole statement says, read from the day before the send to now. */
  readonly evidence: 'completed' | 'returned' | 'reversed' | 'pending' | 'absent' | 'unclear';
  /** Whether a line without its end-to-end id may be the payment. */
  readonly mayBeThere: boolean;
}

/**
 * The end of a send that nothing can execute any more: the end-to-end ids of the instant payment
 * system live twelve hours, and a bank reconciles by the next day. A transfer within one
 * institution does not pass that system, and does not expire with its id.
 * @returns null: nothing proves that no money has left.
 */
export function judgeOverdueSend(facts: OverdueFacts): Move | null {
  const { now, attemptedAt, evidence } = facts;
  const isOverdue = attemptedAt !== null && now.getTime() >= attemptedAt.getTime() + executableMs;
  if (!isOverdue) return null;
  if (evidence === 'reversed') return failed(facts, reversed, reversedNote);
  const { isRefused, isElsewhere, hasLineIds, mayBeThere } = facts;
  const isUnexecuted = evidence === 'absent' && isRefused && isElsewhere && hasLineIds;
  return isUnexecuted && !mayBeThere ? failed(facts, expiredUnexecuted, unexecutedNote) : null;
}

function failed({ endToEnd, outcome }: OverdueFacts, failureCode: string, note: string): Move {
  return {
    from: phasesOpenToFailure,
    to: 'SETTLED',
    status: 'FAILED',
    failureCode,
    endToEnd,
    ...(outcome !== 'accepted' && { outcome: 'rejected' }),
    timeline: [{ phase: 'SETTLED', note }],
  };
}
