import type { PixOperation, PixOutcome, PixPhase, PixStatus } from '../../domain/pix.ts';

/** A stored transaction. */
export interface PixTransactionRow {
  readonly id: string;
  readonly user_id: number;
  readonly operation: PixOperation;
  readonly idempotency_key: string | null;
  readonly fingerprint: Buffer | null;
  readonly status: PixStatus;
  readonly phase: PixPhase;
  readonly outcome: PixOutcome | null;
  readonly failure_code: string | null;
  readonly amount: string;
  readonly pix_key: string | null;
  readonly end_to_end: string | null;
  readonly transaction_identification: string | null;
  readonly provider_txid: string | null;
  readonly qr_code: string | null;
  readonly copy_paste: string | null;
  readonly claimed_until: Date | null;
  readonly created_at: Date;
  readonly updated_at: Date;
}

/** The columns of a row. */
export const pixColumns = `
  id, user_id, operation, idempotency_key, fingerprint, status, phase, outcome, failure_code,
  amount, pix_key, end_to_end, transaction_identification, provider_txid, qr_code, copy_paste,
  claimed_until, created_at, updated_at`;

/** The same, of a table that stands beside others. */
export function pixColumnsOf(table: string): string {
  return pixColumns.replaceAll(/\w+/g, (column) => `${table}.${column}`);
}
