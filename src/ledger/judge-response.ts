/**
 * Judges the response of the bank to a payment, or why there is none. Only the claim of the call
 * ties it to the transaction. The functions are pure.
 */
import { notSentNote, phasesOpenToResponse } from '../domain/pix.ts';
import type { ProviderError } from '../provider/errors.ts';
import type { PaymentReceipt } from '../provider/provider.ts';
import type { AttemptResponse, Move, TimelineEntry } from './move-repository.ts';
import type { PixTransaction } from './pix-transaction-repository.ts';

/** What is known beside a receipt of the bank. */
export interface BesideReceipt {
  /** The number of attempts that were made. */
  readonly attempt: number;
  /**
   * It names the payment only by its request id, and another user's send that may have been sent
   * has the same one: the response to a second payment under one key may be the receipt of the
   * first.
   */
  readonly mayBeOther: boolean;
}

/**
 * Judges the receipt of a payment. One that names it only by its request id accepts it at most: an
 * event or the statement, which name it by its end-to-end id, complete it.
 */
export function judgeReceipt(
  receipt: PaymentReceipt,
  { attempt, mayBeOther }: BesideReceipt,
): Move {
  const { isByRequestAlone, status, providerTxid } = receipt;
  if (isByRequestAlone && mayBeOther) return unknown({ providerStatus: '2xx', attempt });
  const isSettled = status === 'COMPLETED' && !isByRequestAlone;
  return {
    from: phasesOpenToResponse,
    to: isSettled ? 'SETTLED' : 'ACCEPTED',
    status: isSettled ? 'COMPLETED' : 'PROCESSING',
    outcome: 'accepted',
    providerTxid,
    timeline: [
      { phase: 'ACCEPTED', providerStatus: '2xx', attempt },
      ...(isSettled ? [{ phase: 'SETTLED' as const, note: status }] : []),
    ],
  };
}

/** What is known beside a failure. */
export interface BesideFailure {
  /** The number of attempts that were made. */
  readonly attempt: number;
  /** Whether the payee has the money: one end-to-end id is one payment. */
  readonly isReceived: boolean;
}

/** Judges a failure: refused, not sent, or unknown. What the payee has received is not refused. */
export function judgeFailure(failure: ProviderError, { attempt, isReceived }: BesideFailure): Move {
  const { outcome, code: failureCode } = failure;
  const last = failure.lastAttempt ?? failure;
  const response = { ...toAttemptResponse(last), attempt };
  if (outcome === 'unknown' || isReceived) {
    return unknown({ ...response, ...(last.outcome === 'not_sent' && { note: notSentNote }) });
  }
  const to = outcome === 'rejected' ? 'REJECTED' : 'SETTLED';
  return {
    from: phasesOpenToResponse,
    to,
    status: 'FAILED',
    outcome,
    failureCode,
    timeline: [{ phase: to, ...response, ...(to === 'SETTLED' && { note: notSentNote }) }],
  };
}

/** The response to an attempt, as the timeline stores it. */
export function toAttemptResponse(error: ProviderError): AttemptResponse {
  const { statusClass, httpStatus, refusalCode } = error;
  return { providerStatus: statusClass, httpStatus, providerCode: refusalCode };
}

function unknown(response: AttemptResponse & Pick<TimelineEntry, 'attempt' | 'note'>): Move {
  return {
    from: phasesOpenToResponse,
    to: 'UNKNOWN',
    status: 'PROCESSING',
    outcome: 'unknown',
    timeline: [{ phase: 'UNKNOWN', ...response }],
  };
}

/** A move that could not be made, because the transaction has moved meanwhile. */
export interface Unmoved {
  /** The end-to-end id of the payment that the move is of. */
  readonly endToEnd: string;
  readonly move: Move;
  /** The transaction as it is stored. */
  readonly stored: PixTransaction;
  /** Whether an event of the bank has settled the stored transaction. */
  readonly isSettledByEvent: boolean;
}

/**
 * Judges what could not be stored: it contradicts the stored transaction if it reports another
 * final status. An acceptance contradicts a failure that no event has reported, such as an
 * operator's decision. A transaction that now has another end-to-end id is another payment. One
 * that has none has failed before PAYING, because a loss of commits took that step: it may be paid.
 * @returns the reason of the conflict; null: there is none.
 */
export function judgeUnmoved({ endToEnd, move, stored, isSettledByEvent }: Unmoved): string | null {
  if (stored.status === 'PROCESSING' || stored.status === move.status) return null;
  if (stored.endToEnd === null && stored.status === 'FAILED') return 'left_after_loss';
  if (stored.endToEnd !== endToEnd) return null;
  if (move.status !== 'PROCESSING') return `contradicted_by_${move.status}`;
  const isDoubted = move.outcome === 'accepted' && stored.status === 'FAILED' && !isSettledByEvent;
  return isDoubted ? 'contradicted_by_ACCEPTED' : null;
}
