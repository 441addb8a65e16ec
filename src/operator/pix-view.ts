/** A transaction as operators see it: ids, states and times, and nothing of the people in it. */
import type { InspectedPixRow } from '../db/queries/inspect-pix.ts';
import type { PixOperation, PixOutcome, PixPhase, PixStatus } from '../domain/pix.ts';

/** Times are ISO 8601 texts, the amount is reais as a decimal text. */
export interface PixView {
  readonly id: string;
  readonly userId: number;
  readonly operation: PixOperation;
  readonly status: PixStatus;
  readonly phase: PixPhase;
  readonly outcome: PixOutcome | null;
  readonly failureCode: string | null;
  readonly amount: string;
  readonly endToEnd: string | null;
  /** The app's Idempotency-Key, which the provider knows as `clientRequestId`. */
  readonly clientRequestId: string | null;
  readonly transactionIdentification: string | null;
  readonly providerTxid: string | null;
  /** Until when a process works on it. */
  readonly claimedUntil: string | null;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly settledAt: string | null;
}

/** Makes the view of a row. */
export function viewOfPix(row: InspectedPixRow): PixView {
  return {
    id: row.id,
    userId: row.user_id,
    operation: row.operation,
    status: row.status,
    phase: row.phase,
    outcome: row.outcome,
    failureCode: row.failure_code,
    amount: row.amount,
    endToEnd: row.end_to_end,
    clientRequestId: row.idempotency_key,
    transactionIdentification: row.transaction_identification,
    providerTxid: row.provider_txid,
    claimedUntil: row.claimed_until?.toISOString() ?? null,
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
    settledAt: row.settled_at?.toISOString() ?? null,
  };
}
