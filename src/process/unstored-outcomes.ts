/**
 * Outcomes of payments that this process knows, or will know, and the database has not stored. A
 * request stores its outcome with back-off while its claim lasts; after that the outcome is kept
 * here, in memory, and stored when the database is available again or, at the latest, when the
 * service stops. A stop waits for the sends in progress, even if their clients have disconnected.
 * An outcome that is lost with the process stays open: the sweep and the provider's events settle
 * the payment.
 */
import { pause, type Clock } from '../clock.ts';
import { isConstraintViolation } from '../db/unavailable.ts';
import type { Log } from '../telemetry/log.ts';
import type { Metrics } from '../telemetry/metrics.ts';

/** The outcome of one transaction. */
export interface UnstoredOutcome {
  readonly transactionId: string;
  /**
   * Stores it; conditional on the transaction's phase, so that it may run at any time.
   * @returns {@link notYet}: it is kept, although the database is available.
   */
  store(): Promise<unknown>;
}

/** The database has answered, and what the outcome is about may still change. */
export const notYet = Symbol('not yet');

export interface UnstoredOutcomesOptions {
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Pick<Metrics, 'unstoredOutcomes'>;
  /** How many are kept; by default 10,000, some ten megabytes. */
  readonly limit?: number;
}

const firstPauseMs = 1_000;
const maxPauseMs = 10_000;

/** Outcomes that are stored at the same time, so that they share statements. */
const batchSize = 256;

/** A send that this process works on. */
export interface SendInProgress {
  readonly transactionId: string;
  /** The end-to-end id that this process pays it under; null before the look-up. */
  readonly endToEnd: string | null;
}

/** The outcomes of one process. */
export class UnstoredOutcomes {
  readonly #options: UnstoredOutcomesOptions;
  readonly #kept = new Set<UnstoredOutcome>();
  /** By the id of the transaction. */
  readonly #inProgress = new Map<string, { ended: Promise<unknown>; endToEnd: string | null }>();
  #pauseMs = firstPauseMs;
  #cancel: () => void = () => undefined;
  #pass: Promise<void> | null = null;
  #isDrained = false;

  constructor(options: UnstoredOutcomesOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#kept.size;
  }

  /** Does the work of a send, which a stop waits for; a part of that work may be tracked again. */
  async track<T>(transactionId: string, work: () => Promise<T>): Promise<T> {
    if (this.#inProgress.has(transactionId)) return work();
    const started = Promise.withResolvers<T>();
    this.#inProgress.set(transactionId, { ended: started.promise, endToEnd: null });
    try {
      started.resolve(work());
      return await started.promise;
    } finally {
      this.#inProgress.delete(transactionId);
    }
  }

  /** Notes the end-to-end id under which a send in progress is about to be paid. */
  noteEndToEnd(transactionId: string, endToEnd: string): void {
    const send = this.#inProgress.get(transactionId);
    if (send) send.endToEnd = endToEnd;
  }

  /**
   * Waits until no send is in progress.
   * @param withinMs how long, in milliseconds.
   * @returns the sends that are still in progress.
   */
  async sendsEnded(withinMs: number): Promise<readonly SendInProgress[]> {
    const isOver = new AbortController();
    const late = pause(this.#options.clock, withinMs, isOver.signal);
    await Promise.race([this.#allEnded(), late]).finally(() => isOver.abort());
    return [...this.#inProgress].map(([transactionId, { endToEnd }]) => ({
      transactionId,
      endToEnd,
    }));
  }

  /** Also of the sends that begin meanwhile: their clients have hung up. */
  async #allEnded(): Promise<void> {
    while (this.#inProgress.size > 0) {
      await Promise.allSettled([...this.#inProgress.values()].map((send) => send.ended));
    }
  }

  /** Keeps an outcome until it is stored. A full list loses it, which is logged. */
  keep(outcome: UnstoredOutcome): void {
    const { log, limit = 10_000 } = this.#options;
    const { transactionId } = outcome;
    if (this.#isDrained) {
      log.error({ transactionId }, 'an outcome is lost: the service has stopped');
      return;
    }
    if (this.#kept.size >= limit) {
      log.error({ transactionId }, 'an outcome is lost: too many wait for the database');
      return;
    }
    this.#kept.add(outcome);
    this.#count();
    if (this.#kept.size === 1) this.#storeLater();
  }

  /**
   * Stores the kept outcomes, with back-off, and gives up after a time.
   * @param withinMs the time, in milliseconds.
   */
  async drain(withinMs: number): Promise<void> {
    const { clock, log } = this.#options;
    const untilMs = clock.now().getTime() + withinMs;
    this.#cancel();
    await this.#storeAll();
    while (this.#kept.size > 0 && clock.now().getTime() < untilMs) {
      await pause(clock, firstPauseMs);
      await this.#storeAll();
    }
    this.#cancel();
    this.#isDrained = true;
    for (const { transactionId } of this.#kept) {
      log.error({ transactionId }, 'an outcome is lost: the service stops without a database');
    }
  }

  #storeLater(): void {
    this.#cancel = this.#options.clock.after(this.#pauseMs, () => void this.#storeAll());
    this.#pauseMs = Math.min(maxPauseMs, this.#pauseMs * 2);
  }

  /** One pass at a time. */
  #storeAll(): Promise<void> {
    this.#pass ??= this.#storeInBatches().finally(() => {
      this.#pass = null;
      if (this.#kept.size > 0) this.#storeLater();
      else this.#pauseMs = firstPauseMs;
    });
    return this.#pass;
  }

  /** A batch without any answer ends the pass: the database is still unavailable. */
  async #storeInBatches(): Promise<void> {
    const outcomes = [...this.#kept];
    for (let from = 0; from < outcomes.length; from += batchSize) {
      const batch = outcomes.slice(from, from + batchSize);
      const answered = await Promise.all(batch.map((outcome) => this.#store(outcome)));
      this.#count();
      if (!answered.includes(true)) return;
    }
  }

  /** @returns whether the database has answered. */
  async #store(outcome: UnstoredOutcome): Promise<boolean> {
    const { transactionId } = outcome;
    try {
      if ((await outcome.store()) === notYet) return true;
    } catch (error) {
      if (!isConstraintViolation(error)) return false;
      this.#options.log.error({ error, transactionId }, 'the database refuses an outcome');
    }
    this.#kept.delete(outcome);
    return true;
  }

  #count(): void {
    this.#options.metrics.unstoredOutcomes.set(this.#kept.size);
  }
}

export interface StoringOptions {
  readonly clock: Clock;
  /** When it stops trying. */
  readonly until: Date;
  /** Ends the waits. */
  readonly stopping: AbortSignal;
}

const firstRetryMs = 50;
const maxRetryMs = 1_000;

/**
 * Stores with back-off.
 * @throws the last error when the time is over, the service stops or the database refuses the row.
 */
export async function storeWithRetries<T>(
  { clock, until, stopping }: StoringOptions,
  store: () => Promise<T>,
): Promise<T> {
  for (let retryMs = firstRetryMs; ; retryMs = Math.min(maxRetryMs, retryMs * 2)) {
    try {
      return await store();
    } catch (error) {
      const isLate = clock.now().getTime() + retryMs > until.getTime();
      if (isLate || stopping.aborted || isConstraintViolation(error)) throw error;
    }
    await pause(clock, retryMs, stopping);
  }
}
