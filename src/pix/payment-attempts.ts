/** The attempts at one payment: each leaves only while the payment is this process's to make. */
import type { Context } from '../context.ts';
import { repeatPayment } from '../db/queries/repeat-payment.ts';
import { repeatNotes } from '../domain/pix.ts';
import type { ProviderError } from '../provider/errors.ts';
import type { CallOptions } from '../provider/provider.ts';
import type { PayingRow } from './transactions.ts';

/** Counts the attempts at a payment, and stops those that must not leave. */
export class PaymentAttempts {
  readonly #context: Context;
  readonly #paying: PayingRow;
  #allowed = 0;

  /** @param paying the send, as this process took it to PAYING. */
  constructor(context: Context, paying: PayingRow) {
    this.#context = context;
    this.#paying = paying;
  }

  /** How many attempts have left, counted from 1. */
  get made(): number {
    return Math.max(1, this.#allowed);
  }

  /** @returns the options of the call that makes the payment. */
  optionsOf(options: CallOptions): CallOptions {
    return { ...options, beforeAttempt: (last) => this.#mayLeave(last) };
  }

  /** The first attempt is announced by PAYING itself and costs no round trip. */
  #mayLeave(last: ProviderError | null): boolean | Promise<boolean> {
    if (!this.#fitsIntoClaim()) return false;
    if (this.#allowed > 0) return this.#mayBeRepeated(last);
    this.#allowed = 1;
    return true;
  }

  /** A process that was stopped for minutes must not pay what others have taken over. */
  #fitsIntoClaim(): boolean {
    const { clock, config } = this.#context;
    const endsBy = clock.now().getTime() + config.provider.timeoutMs;
    return endsBy <= this.#paying.claimed_until.getTime();
  }

  async #mayBeRepeated(last: ProviderError | null): Promise<boolean> {
    const { db, clock, log } = this.#context;
    const { id, claimed_until: claimedUntil } = this.#paying;
    const attempt = this.#allowed + 1;
    const note = last?.outcome === 'unknown' ? repeatNotes.unknown : repeatNotes.notSent;
    try {
      const parameters = [id, claimedUntil, clock.now(), attempt, last?.statusClass ?? null, note];
      const noted = await db.query(repeatPayment, parameters);
      if (noted.length === 0) return false;
      this.#allowed = attempt;
      return true;
    } catch (error) {
      log.warn({ error, transactionId: id }, 'a payment is not repeated: the database fails');
      return false;
    }
  }
}
