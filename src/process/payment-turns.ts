/**
 * The turns of payments and returns: each attempt opens a connection to the bank, and this process
 * opens no more of them within a second than the bank takes.
 */
import { type Clock, pause } from '../clock.ts';

/** The longest wait for a turn, in milliseconds; customers wait for the answer meanwhile. */
const maxWaitMs = 5_000;

const windowMs = 1_000;

/** The turns of one process. */
export class PaymentTurns {
  readonly #clock: Clock;
  /** The times of the last turns, in milliseconds, as many as a second has. */
  readonly #turns: number[];
  /** The place of the oldest. */
  #next = 0;
  /** The last time that the clock has shown, in milliseconds. */
  #seen = 0;

  /** @param perSecond the largest number of turns within a second; 0: no limit. */
  constructor(clock: Clock, perSecond: number) {
    this.#clock = clock;
    this.#turns = Array<number>(perSecond).fill(0);
  }

  /**
   * Waits for the turn of an order, before anything announces its payment.
   *
   * @param stopping ends the wait.
   * @returns false without a turn: too many orders wait, or the process stops.
   */
  async wait(stopping: AbortSignal): Promise<boolean> {
    const now = this.#clock.now().getTime();
    const waitMs = this.#nextTurn(now) - now;
    if (waitMs > maxWaitMs) return false;
    this.take();
    if (waitMs === 0) return true;
    await pause(this.#clock, waitMs, stopping);
    return !stopping.aborted;
  }

  /** @returns whether a turn was free: then it is taken. */
  takeFree(): boolean {
    const now = this.#clock.now().getTime();
    if (this.#nextTurn(now) > now) return false;
    this.take();
    return true;
  }

  /** Takes the turn of a repeat, which waits for none: those that come later wait longer. */
  take(): void {
    if (this.#turns.length === 0) return;
    this.#turns[this.#next] = this.#nextTurn(this.#clock.now().getTime());
    this.#next = (this.#next + 1) % this.#turns.length;
  }

  /** The time of the next turn, in milliseconds: a second after the oldest of the last ones. */
  #nextTurn(now: number): number {
    // When the clock was set back, the times lie ahead and say nothing.
    if (now < this.#seen) this.#turns.fill(0);
    this.#seen = now;
    return Math.max(now, (this.#turns[this.#next] ?? 0) + windowMs);
  }
}
