/** The rows of the service, as the checks read them at rest. */
import type { PixType, PixPhase, PixStatus } from '../../../src/domain/pix.ts';

export interface FinalRow {
  readonly id: string;
  readonly user_id: number;
  readonly operation: PixType;
  readonly idempotency_key: string | null;
  readonly status: PixStatus;
  readonly phase: PixPhase;
  readonly amount: string;
  readonly end_to_end: string | null;
  /** The transaction that a refund refunds. */
  readonly original_id: string | null;
  /** Whether it was FAILED before it became COMPLETED. */
  readonly is_corrected: boolean;
  readonly created_at: Date;
  /** Whether attempts at its payment may be lost: it was made around a loss of commits. */
  readonly is_around_loss: boolean;
  readonly transaction_identification: string | null;
  readonly phases: readonly PixPhase[];
  /** The hashes of the events that have moved it. */
  readonly events: readonly string[];
}

export interface EventRow {
  readonly id: string;
  readonly status: string;
  readonly received_at: Date;
  readonly hash: string;
  readonly has_payload: boolean;
}

export interface TimelineRow {
  readonly transaction_id: string;
  readonly phase: string;
  readonly event_id: string | null;
  readonly note: string | null;
}
