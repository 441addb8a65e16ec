/**
 * What an asynchronous failover excuses: the new server lacks the newest commits of the old one.
 * What was acknowledged by them may be gone, and a payment whose record is gone may be made again
 * under another end-to-end id. Everything that the new server has must hold as ever.
 */
import type { Payment } from '../bank/ledger.ts';

/** A transaction as it stood in a store. */
export interface StoredRow {
  readonly id: string;
  readonly user_id: number;
  readonly idempotency_key: string;
  readonly phase: string;
  readonly status: string;
  readonly end_to_end: string | null;
  /** How many further attempts are noted after one that ended unknown. */
  readonly repeats: number;
}

/** A transaction that a failover has taken back or away. */
export interface ChangedRow {
  readonly before: StoredRow;
  /** As it stands now; null: it is gone. */
  readonly after: StoredRow | null;
}

export class LostCommits {
  /** The step of the failover; null: there was none. */
  failedOverAt: number | null = null;
  /** The end-to-end ids of sends that no longer stand in PAYING, or beyond, with this id. */
  readonly #payments = new Set<string>();
  /** The end-to-end ids of sends of which it is lost that they were repeated in doubt, or left. */
  readonly #doubts = new Set<string>();
  /** The end-to-end ids of sends that do, and whose outcome is lost. */
  readonly #outcomes = new Set<string>();

  /** @returns the transactions that the failover has changed. */
  failedOver(
    atStep: number,
    before: readonly StoredRow[],
    after: readonly StoredRow[],
  ): ChangedRow[] {
    this.failedOverAt = atStep;
    const kept = new Map(after.map((row) => [row.id, row]));
    const changed = before
      .map((row) => ({ before: row, after: kept.get(row.id) ?? null }))
      .filter((pair) => !isSame(pair));
    for (const { before: row, after: now } of changed) {
      if (row.end_to_end === null) continue;
      if (now && now.repeats < row.repeats) this.#doubts.add(row.end_to_end);
      const lost = now?.end_to_end === row.end_to_end ? this.#outcomes : this.#payments;
      lost.add(row.end_to_end);
    }
    return changed;
  }

  /** A process that still had the send in hand has stored PAYING once more. */
  beganPaying(endToEnd: string): void {
    this.#payments.delete(endToEnd);
  }

  /**
   * A payment has left of which no transaction says so. The transaction may be paid again by the
   * same look-up, and have the same end-to-end id then: it says nothing of the first attempt.
   */
  leftUnrecorded(endToEnd: string): void {
    this.#doubts.add(endToEnd);
  }

  /** Whether no transaction says that this payment may have left, or that another attempt may. */
  hasForgotten({ endToEnd }: Pick<Payment, 'endToEnd'>): boolean {
    return this.#payments.has(endToEnd) || this.#doubts.has(endToEnd);
  }

  hasForgottenOutcome(endToEnd: string): boolean {
    return this.#outcomes.has(endToEnd);
  }
}

function isSame({ before, after }: ChangedRow): boolean {
  return (
    after !== null &&
    before.phase === after.phase &&
    before.status === after.status &&
    before.end_to_end === after.end_to_end &&
    before.repeats === after.repeats
  );
}
