/** What an item of an event may ask for, as it is decided and as it is carried out. */
import type { CandidateRow } from '../db/queries/pix-row.ts';
import type { PixStatus } from '../domain/pix.ts';
import type { ProviderEvent } from '../provider/webhook-events.ts';
import type { Move } from '../pix/transactions.ts';

/** A PIX that came in without a charge that it completes. */
export interface ReceivedPix {
  readonly userId: number;
  readonly amountCents: number;
  readonly pixKey: string | null;
  readonly endToEnd: string;
  readonly providerTxid: string | null;
  /** When it came in, as the event says. */
  readonly at: Date | null;
}

export type Decision =
  /** Nothing is to be done, or not yet. */
  | {
      readonly kind: 'leave';
      readonly result: 'ignored' | 'already' | 'parked';
      readonly reason?: string;
      readonly transaction?: CandidateRow;
      /** What it contradicts already, while it waits for what it may mean. */
      readonly meanwhile?: Flag;
    }
  | { readonly kind: 'move'; readonly transaction: CandidateRow; readonly move: Move }
  | {
      readonly kind: 'record';
      readonly received: ReceivedPix;
      /** The charge that it names and does not complete: for a person to look at. */
      readonly beside?: { readonly transaction: CandidateRow; readonly reason: string };
    }
  /** The end-to-end id of the payment that completed a charge is known now. */
  | {
      readonly kind: 'identify';
      readonly transaction: CandidateRow;
      readonly endToEnd: string;
      readonly eventId: string;
    }
  | Flag
  /** It speaks of an open transaction and was not understood: for a person to look at, too. */
  | { readonly kind: 'unread'; readonly transaction: CandidateRow; readonly reason: string };

/** It contradicts what is stored: for a person to look at. */
export interface Flag {
  readonly kind: 'flag';
  readonly transaction: CandidateRow;
  readonly reason: string;
}

/** An item that says how something ended, and the event that it stands in. */
export interface Told {
  readonly eventId: string;
  readonly item: ProviderEvent;
  readonly status: Exclude<PixStatus, 'PROCESSING'>;
}

/** Why a transaction failed: the provider's reason, where it gives one. */
export function failureCodeOf({ reason }: Pick<ProviderEvent, 'reason'>): string {
  return reason ?? 'PROVIDER_REJECTED';
}
