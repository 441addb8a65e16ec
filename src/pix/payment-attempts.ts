/** The attempts at one payment: each further one is stored before it is made. */
import type { Context } from '../context/context.ts';
import { repeatNotes } from '../domain/pix.ts';
import type { ProviderError } from '../provider/errors.ts';
import type { CallOptions } from '../provider/provider.ts';
import { toAttemptResponse } from '../ledger/judge-response.ts';
import { recordRetry, type PayingSend } from '../ledger/payment-repository.ts';

/** Counts the attempts at a payment. An attempt is made only while this process may still pay. */
export class PaymentAttempts {
  readonly #context: Context;
  readonly #paying: PayingSend;
  #allowed = 0;

  constructor(context: Context, paying: PayingSend) {
    this.#context = context;
    this.#paying = paying;
  }

  /** The number of attempts that were made, with those before. */
  get made(): number {
    return this.#paying.attemptsBefore + Math.max(1, this.#allowed);
  }

  /** @returns the options of the call that makes the payment. */
  limit(options: CallOptions): CallOptions {
    return { ...options, beforeAttempt: (last) => this.#mayAttempt(last) };
  }

  /** The first attempt is announced by PAYING itself and costs no round trip. */
  #mayAttempt(last: ProviderError | null): boolean | Promise<boolean> {
    if (!this.#fitsIntoClaim()) return false;
    if (this.#allowed > 0) return this.#mayRepeat(last);
    this.#allowed = 1;
    return true;
  }

  /** A process that was stopped for minutes must not pay what another one has taken over. */
  #fitsIntoClaim(): boolean {
    const { clock, config } = this.#context;
    const endsBy = clock.now().getTime() + config.provider.timeoutMs;
    return endsBy <= this.#paying.claimedUntil.getTime();
  }

  async #mayRepeat(last: ProviderError | null): Promise<boolean> {
    const attempt = this.#allowed + 1;
    const note = last?.outcome === 'unknown' ? repeatNotes.unknown : repeatNotes.notSent;
    try {
      const mayRepeat = await recordRetry(this.#context, this.#paying, {
        attempt: this.#paying.attemptsBefore + attempt,
        last: last && toAttemptResponse(last),
        note,
      });
      if (!mayRepeat) return false;
      this.#allowed = attempt;
      this.#context.paymentTurns.take();
      return true;
    } catch (error) {
      const facts = { error, transactionId: this.#paying.id };
      this.#context.log.warn(facts, 'a payment is not repeated: the database fails');
      return false;
    }
  }
}
