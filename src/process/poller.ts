/**
 * Reads a queue in the database: when it is notified, when the next entry is due, and at least once
 * in a poll interval, which finds what a lost notification reported. It never reads it twice at the
 * same time.
 */
import type { Clock } from '../clock.ts';

export interface PollerOptions {
  readonly clock: Clock;
  /** The longest sleep, in milliseconds. */
  readonly pollMs: number;
  /**
   * Reads the queue once.
   * It does not fail.
   * @returns when it is to be read again at the latest, in milliseconds since 1970.
   */
  readonly poll: () => Promise<number>;
}

/** Reads one queue of one process. */
export class Poller {
  readonly #options: PollerOptions;
  #isRunning = false;
  #hasStopped = false;
  #round: Promise<void> | null = null;
  #roundRequested = false;
  #cancelSleep: () => void = () => undefined;

  constructor(options: PollerOptions) {
    this.#options = options;
  }

  get isRunning(): boolean {
    return this.#isRunning;
  }

  /** Reads the queue for the first time, unless it was stopped before. */
  async start(): Promise<void> {
    if (this.#hasStopped) return;
    this.#isRunning = true;
    this.wake();
    await this.#round;
  }

  /** Reads the queue now, or once more after the read that is in progress. */
  wake(): void {
    if (!this.#isRunning) return;
    if (this.#round) {
      this.#roundRequested = true;
      return;
    }
    this.#cancelSleep();
    this.#round = this.#poll().finally(() => {
      this.#round = null;
      const again = this.#roundRequested;
      this.#roundRequested = false;
      if (again) this.wake();
    });
  }

  /** Reads no more, and waits for the read that is in progress. It may be called twice. */
  async stop(): Promise<void> {
    this.#hasStopped = true;
    this.#isRunning = false;
    this.#cancelSleep();
    await this.#round;
  }

  async #poll(): Promise<void> {
    this.#sleepUntil(await this.#options.poll());
  }

  /** To a time, not for a duration: the time of the poll itself must not make the next one late. */
  #sleepUntil(dueMs: number): void {
    this.#cancelSleep();
    if (!this.#isRunning) return;
    const { clock, pollMs } = this.#options;
    // A poll interval at most, whatever the wall clock has said.
    const delayMs = Math.min(pollMs, Math.max(0, dueMs - clock.now().getTime()));
    this.#cancelSleep = clock.after(delayMs, () => this.wake());
  }
}
