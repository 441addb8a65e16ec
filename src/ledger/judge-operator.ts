/** The judge of an operator's decision about a transaction. It is pure. */
import {
  foundAfterLossNote,
  isBeforePaying,
  isOrder,
  phasesOpenToSettlement,
} from '../domain/pix.ts';
import { timeOfSpiId } from '../domain/reconciliation.ts';
import type { Move } from './move-repository.ts';
import type { PixTransaction } from './pix-transaction-repository.ts';

/** What an operator says of a transaction, and what is true of it meanwhile. */
export interface Decision {
  readonly as: 'completed' | 'failed';
  /** The end-to-end id of the payment, for a send that lacks it after a loss of commits. */
  readonly endToEnd?: string | undefined;
  /** The decider has seen that it is FAILED, and says that it was paid all the same. */
  readonly corrects: boolean;
  /** For the timeline. */
  readonly note: string;
  /** Whether a process may work on it. */
  readonly isClaimed: boolean;
  /** Whether it is an order before PAYING whose commits may be lost. */
  readonly mayBeLost: boolean;
  /** Whether sends are paused. */
  readonly isPaused: boolean;
}

/** The transaction that is decided on. */
export type DecidedOn = Pick<
  PixTransaction,
  'operation' | 'status' | 'phase' | 'outcome' | 'idempotencyKey' | 'endToEnd'
>;

/** Why a decision is refused. */
export type DecisionRefusal =
  | 'reported'
  | 'completed'
  | 'failed_already'
  | 'unseen'
  | 'never_sent'
  | 'claimed'
  | 'not_sent'
  | 'not_open'
  | 'other_end_to_end'
  | 'paused'
  | 'no_end_to_end';

export type DecisionVerdict =
  | { readonly kind: 'refused'; readonly reason: DecisionRefusal }
  /** It becomes COMPLETED although it is FAILED. */
  | { readonly kind: 'correct'; readonly note: string }
  | { readonly kind: 'move'; readonly move: Move };

/**
 * Judges a decision. The first rule that fits holds. COMPLETED is final, and nothing is decided of
 * what only a report has stored, or that a process may be sending at this moment.
 */
export function judgeDecision(decision: Decision, named: DecidedOn): DecisionVerdict {
  const reason = refusalOf(decision, named) ?? refusalOfId(decision, named);
  if (reason !== null) return { kind: 'refused', reason };
  const { note } = decision;
  return named.status === 'FAILED' ? { kind: 'correct', note } : end(decision, named);
}

function refusalOf(decision: Decision, named: DecidedOn): DecisionRefusal | null {
  const { operation, status, phase, idempotencyKey } = named;
  const { isClaimed, mayBeLost } = decision;
  if (idempotencyKey === null) return 'reported';
  if (status === 'COMPLETED') return 'completed';
  if (status === 'FAILED') return refusalOfCorrection(decision, named);
  if (!isOrder(operation)) return phase === 'RESERVED' && isClaimed ? 'claimed' : null;
  const isEarly = isBeforePaying(phase);
  if (isEarly && !mayBeLost) return 'not_sent';
  if (isClaimed && phase !== 'ACCEPTED' && phase !== 'UNKNOWN') return 'claimed';
  return isEarly || phasesOpenToSettlement.some((one) => one === phase) ? null : 'not_open';
}

function refusalOfCorrection(
  { as, corrects }: Decision,
  { operation, endToEnd }: DecidedOn,
): DecisionRefusal | null {
  if (as === 'failed') return 'failed_already';
  // The bank may have reported the failure after the decision.
  if (!corrects) return 'unseen';
  return operation === 'SEND' && endToEnd === null ? 'never_sent' : null;
}

/** The record of a send before PAYING may lack that it was paid: the bank knows its id. */
function refusalOfId(decision: Decision, named: DecidedOn): DecisionRefusal | null {
  const { endToEnd = named.endToEnd } = decision;
  const isLost = isLostOrder(named);
  const mayLackId = isLost && named.operation === 'SEND';
  if (endToEnd !== named.endToEnd && !mayLackId) return 'other_end_to_end';
  if (isLost && decision.isPaused) return 'paused';
  if (!mayLackId || decision.as === 'failed') return null;
  const isId = endToEnd?.startsWith('E') === true && timeOfSpiId(endToEnd) !== null;
  return isId ? null : 'no_end_to_end';
}

function isLostOrder({ operation, phase }: DecidedOn): boolean {
  return isOrder(operation) && isBeforePaying(phase);
}

function end({ as, note, endToEnd }: Decision, named: DecidedOn): DecisionVerdict {
  const isCompleted = as === 'completed';
  const isUnsure = named.outcome === null || named.outcome === 'unknown';
  const lostPaying = isCompleted && isLostOrder(named);
  const move: Move = {
    from: [named.phase],
    to: 'SETTLED',
    status: isCompleted ? 'COMPLETED' : 'FAILED',
    ...(isUnsure && { outcome: isCompleted ? 'accepted' : 'rejected' }),
    // An order may have been sent, even one before PAYING: its commits may be lost.
    ...(!isCompleted && {
      failureCode: isOrder(named.operation) ? 'OPERATOR_DECISION' : 'PROVIDER_REJECTED',
    }),
    ...(endToEnd !== undefined && { endToEnd }),
    timeline: [
      ...(lostPaying ? [{ phase: 'PAYING', note: foundAfterLossNote } as const] : []),
      { phase: 'SETTLED', note },
    ],
  };
  return { kind: 'move', move };
}
