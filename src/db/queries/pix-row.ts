import type { PixOperation, PixOutcome, PixPhase, PixStatus } from '../../domain/pix.ts';

/** A stored transaction, as far as the work on it needs it: columns add to the cost of a send. */
export interface PixTransactionRow {
  readonly id: string;
  readonly user_id: number;
  readonly operation: PixOperation;
  readonly idempotency_key: string | null;
  readonly status: PixStatus;
  readonly phase: PixPhase;
  readonly outcome: PixOutcome | null;
  readonly amount: string;
  readonly end_to_end: string | null;
  readonly transaction_identification: string | null;
  readonly qr_code: string | null;
  readonly copy_paste: string | null;
}

/** The columns of a row. */
export const pixColumns = `
  id, user_id, operation, idempotency_key, status, phase, outcome, amount, end_to_end,
  transaction_identification, qr_code, copy_paste`;

/** One that has an idempotency key: whose it is, and who works on it. */
export interface ClaimedRow extends PixTransactionRow {
  readonly fingerprint: Buffer | null;
  readonly claimed_until: Date | null;
}

/** The columns of one that has an idempotency key. */
export const claimedColumns = `${pixColumns}, fingerprint, claimed_until`;

/** @returns columns of a table that stands beside others. */
export function columnsOf(table: string, columns: string): string {
  return columns.replaceAll(/\w+/g, (column) => `${table}.${column}`);
}

/**
 * A condition that finds the transaction `t` of each call by its id, always through the index. For
 * `t.id = call.id` a plan that is made while the table is small reads the whole table, and would
 * still do so when the table has grown: plans are kept.
 * @param call the table expression of the calls.
 */
export function isIdOf(call: string): string {
  return `t.id = any(array[${call}.id])`;
}
