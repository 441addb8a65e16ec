/**
 * The effects of an asynchronous failover: the new server lacks the newest commits of the old one.
 * Acknowledged data may be lost, and a payment whose record is lost may be made again with another
 * end-to-end id. All invariants hold for the data that the new server has.
 */
import type { Payment } from '../bank/ledger.ts';
import type { FinalRow } from './stored-rows.ts';

/** A stored transaction. */
export interface StoredRow {
  readonly id: string;
  readonly user_id: number;
  readonly idempotency_key: string;
  readonly phase: string;
  readonly status: string;
  readonly end_to_end: string | null;
  /** How many repeats after an unknown result are recorded. */
  readonly repeats: number;
}

/** The columns that identify a send. */
interface SendRow {
  readonly userId: number;
  readonly idempotencyKey: string | null;
}

/** A transaction that a failover has changed or removed. */
export interface ChangedRow {
  readonly before: StoredRow;
  /** The row after the failover; null: it is lost. */
  readonly after: StoredRow | null;
}

export class LostCommits {
  /** The step of the failover; null: there was none. */
  failedOverAt: number | null = null;
  /** The end-to-end ids that no stored send in PAYING, or later, has any more, and their sends. */
  readonly #payments = new Map<string, string>();
  /** The end-to-end ids of sends whose repeat, or whose first attempt, is not recorded any more. */
  readonly #doubts = new Set<string>();
  /** The end-to-end ids of stored sends whose outcome is lost. */
  readonly #outcomes = new Set<string>();
  /** The end-to-end ids of sends that were made around the failover. */
  readonly #around = new Set<string>();

  /** Adds the stored sends made around the failover; call it before the checks at rest. */
  learn(sends: readonly Pick<FinalRow, 'end_to_end' | 'is_around_loss'>[]): void {
    for (const { end_to_end: endToEnd, is_around_loss: isAround } of sends) {
      if (isAround && endToEnd !== null) this.#around.add(endToEnd);
    }
  }

  /** @returns the transactions that the failover has changed. */
  failedOver(
    atStep: number,
    before: readonly StoredRow[],
    after: readonly StoredRow[],
  ): ChangedRow[] {
    this.failedOverAt = atStep;
    // Open sends were made around the loss, whatever time the clock of their process showed.
    for (const { end_to_end: endToEnd, status } of after) {
      if (endToEnd !== null && status === 'PROCESSING') this.#around.add(endToEnd);
    }
    const kept = new Map(after.map((row) => [row.id, row]));
    const changed = before
      .map((row) => ({ before: row, after: kept.get(row.id) ?? null }))
      .filter((pair) => !isSame(pair));
    for (const { before: row, after: now } of changed) {
      if (row.end_to_end === null) continue;
      if (now && now.repeats < row.repeats) this.#doubts.add(row.end_to_end);
      if (now?.end_to_end === row.end_to_end) this.#outcomes.add(row.end_to_end);
      else {
        const { user_id: userId, idempotency_key: idempotencyKey } = row;
        this.#payments.set(row.end_to_end, toSendKey({ userId, idempotencyKey }));
      }
    }
    return changed;
  }

  /**
   * PAYING is stored again: by a process that still held the send, or for another send with the
   * same look-up, of which the lost payment stays lost.
   */
  beganPaying(endToEnd: string, send: SendRow): void {
    if (this.#payments.get(endToEnd) !== toSendKey(send)) return;
    this.#payments.delete(endToEnd);
    // The responses to the attempts before the failover were stored in the row that is lost.
    this.#outcomes.add(endToEnd);
  }

  /**
   * A payment was sent that no transaction records. The same look-up may pay the transaction again
   * with the same end-to-end id, because the transaction does not record the first attempt.
   */
  leftUnrecorded(endToEnd: string): void {
    this.#doubts.add(endToEnd);
  }

  /** Whether no transaction records that this payment, or a repeat of it, may have left. */
  hasLostRecord({ endToEnd }: Pick<Payment, 'endToEnd'>): boolean {
    return this.#payments.has(endToEnd) || this.#doubts.has(endToEnd);
  }

  /** Whether attempts at this payment may be lost: the failure of one does not prove another. */
  mayHaveLostAttempts(endToEnd: string): boolean {
    return this.#around.has(endToEnd) || this.hasLostRecord({ endToEnd });
  }

  hasLostOutcome(endToEnd: string): boolean {
    return this.#outcomes.has(endToEnd);
  }
}

function toSendKey({ userId, idempotencyKey: key }: SendRow): string {
  return `${userId}/${key}`;
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
