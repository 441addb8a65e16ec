/** The decisions about an item of an event, as `decide` returns them and `apply` takes them. */
import type { DisputeReport } from '../../../../../src/domain/dispute.ts';
import { foundInStatementNote, type PixStatus } from '../../../../../src/domain/pix.ts';
import type { Move, TimelineEntry } from '../../../../../src/ledger/move-repository.ts';
import type { WebhookItem } from '../../../../../src/provider/webhook-events.ts';
import type { Refund } from '../../../../../src/ledger/refund-repository.ts';
import type {
  CandidateRow,
  ReceivedPix,
} from '../../../../../src/ledger/transaction-repository.ts';

export type Decision =
  /** Nothing is changed, or not yet. */
  | {
      readonly kind: 'skip';
      readonly result: 'ignored' | 'already' | 'parked';
      readonly reason?: string;
      readonly transaction?: CandidateRow;
      /** The contradiction to report now, while the item waits for its transaction. */
      readonly reportNow?: Flag;
    }
  | MoveDecision
  | {
      readonly kind: 'record';
      readonly received: ReceivedPix;
      /** The charge that the item names but does not complete: a person must check it. */
      readonly flaggedCharge?: Pick<Flag, 'transaction' | 'reason'>;
    }
  /** The end-to-end id of the payment that completed a charge is known now. */
  | {
      readonly kind: 'identify';
      readonly transaction: CandidateRow;
      readonly endToEnd: string;
      readonly eventId: string | null;
    }
  | RefundDecision
  /** The provider reports the status of a dispute, which moves no transaction. */
  | { readonly kind: 'dispute'; readonly report: DisputeReport }
  /** The provider holds a sent payment for analysis. */
  | { readonly kind: 'hold'; readonly transaction: CandidateRow }
  | CorrectDecision
  | Flag
  /** The item contradicts itself: a person must check it, whether or not it names a transaction. */
  | {
      readonly kind: 'suspect';
      readonly reason: string;
      readonly transaction: CandidateRow | undefined;
    }
  /** It concerns a stored transaction and was not understood: a person must check it, too. */
  | { readonly kind: 'unread'; readonly transaction: CandidateRow; readonly reason: string };

/** It settles a transaction. */
export interface MoveDecision {
  readonly kind: 'move';
  readonly transaction: CandidateRow;
  readonly move: Move;
}

/** A FAILED transaction was paid: it becomes COMPLETED, and an operator must look at it. */
export interface CorrectDecision {
  readonly kind: 'correct';
  readonly transaction: CandidateRow;
  readonly endToEnd: string | null;
  readonly providerTxid: string | null;
}

/** It records a refund. */
export interface RefundDecision {
  readonly kind: 'refund';
  /** The transaction that is refunded. */
  readonly transaction: CandidateRow;
  readonly refund: Refund;
}

/** The item contradicts the stored rows: a person must check it. */
export interface Flag {
  readonly kind: 'flag';
  readonly transaction: CandidateRow;
  readonly reason: string;
}

/** An item of an event, or a line of a statement as one. */
export interface EventItem {
  /** Null for a line of the provider's statement. */
  readonly eventId: string | null;
  readonly item: WebhookItem;
  /** When the event was received, or the statement was read. */
  readonly receivedAt: Date;
  /** Whether another item of the event reports as completed what this one reports as failed. */
  readonly isContradicted?: boolean;
  /** The settled transaction that an earlier attempt has found for the item. */
  readonly settledId?: string | undefined;
}

/** An item whose only decision is a move that has not been made yet. */
export interface ItemMove {
  /** The item's place in the payload, from 0. */
  readonly index: number;
  readonly decision: MoveDecision;
}

/** An item that reports the end of a payment, a charge or a refund. */
export interface FinalItem extends EventItem {
  readonly status: Exclude<PixStatus, 'PROCESSING'>;
}

/**
 * The row of a timeline for the end of a transaction.
 * @param eventId null for a line of the provider's statement, which the note names instead.
 */
export function endedBy(eventId: string | null, note: string): TimelineEntry {
  return eventId === null
    ? { phase: 'SETTLED', note: foundInStatementNote }
    : { phase: 'SETTLED', eventId, note };
}

/** The anomaly of an item that another item of its event contradicts. */
export const contradictedInEvent = 'contradicted_in_event';
