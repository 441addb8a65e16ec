/** What an item of an event may result in, as it is decided and as it is applied. */
import type { PixStatus } from '../domain/pix.ts';
import type { Move } from '../pix/move-repository.ts';
import type { WebhookItem } from '../provider/webhook-events.ts';
import type { Refund } from './refund-repository.ts';
import type { CandidateRow, ReceivedPix } from './transaction-repository.ts';

export type Decision =
  /** Nothing is to be done, or not yet. */
  | {
      readonly kind: 'skip';
      readonly result: 'ignored' | 'already' | 'parked';
      readonly reason?: string;
      readonly transaction?: CandidateRow;
      /** What it contradicts already, while it waits for what it may mean. */
      readonly meanwhile?: Flag;
    }
  | MoveDecision
  | {
      readonly kind: 'record';
      readonly received: ReceivedPix;
      /** The charge that it names and does not complete: for a person to check. */
      readonly beside?: { readonly transaction: CandidateRow; readonly reason: string };
    }
  /** The end-to-end id of the payment that completed a charge is known now. */
  | {
      readonly kind: 'identify';
      readonly transaction: CandidateRow;
      readonly endToEnd: string;
      readonly eventId: string;
    }
  | RefundDecision
  | Flag
  /** It is about an open transaction and was not understood: for a person to check, too. */
  | { readonly kind: 'unread'; readonly transaction: CandidateRow; readonly reason: string };

/** It settles a transaction. */
export interface MoveDecision {
  readonly kind: 'move';
  readonly transaction: CandidateRow;
  readonly move: Move;
}

/** It records a refund. */
export interface RefundDecision {
  readonly kind: 'refund';
  /** The transaction that is refunded. */
  readonly transaction: CandidateRow;
  readonly refund: Refund;
}

/** It contradicts what is stored: for a person to check. */
export interface Flag {
  readonly kind: 'flag';
  readonly transaction: CandidateRow;
  readonly reason: string;
  /** The received Pix that an earlier attempt has recorded beside this transaction. */
  readonly recorded?: CandidateRow;
}

/** An item of an event. */
export interface EventItem {
  readonly eventId: string;
  readonly item: WebhookItem;
  /** The transaction that an earlier attempt has found the item to be about, settled. */
  readonly settledId?: string | undefined;
}

/** An item whose only result is a move, which is still to be made. */
export interface ItemMove {
  /** The item's place in the payload, from 0. */
  readonly index: number;
  readonly decision: MoveDecision;
}

/** An item that says how something ended. */
export interface FinalItem extends EventItem {
  readonly status: Exclude<PixStatus, 'PROCESSING'>;
}
