/**
 * Turns: of the work under one key, such as the logins of one e-mail, one runs at a time in this
 * process. Those who are preferred go first; otherwise first come, first served.
 */
import { pause, type Clock } from '../clock.ts';

export interface Waiting {
  /** Goes before those who are not preferred. */
  readonly isPreferred: boolean;
  /** The longest wait. */
  readonly maxMs: number;
  /** Ends the wait early. */
  readonly signal?: AbortSignal | undefined;
}

/** Ends the turn; a second call does nothing. */
export type EndTurn = () => void;

interface Waiter {
  readonly isPreferred: boolean;
  begin(): void;
}

/** The turns of one process. */
export class Turns {
  readonly #clock: Clock;
  /** Those who wait for the turn of each key that is taken. */
  readonly #taken = new Map<string, Waiter[]>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Whether a turn of the key is taken. */
  isTaken(key: string): boolean {
    return this.#taken.has(key);
  }

  /** @returns the function that ends the turn; null when the wait has ended without a turn. */
  async take(key: string, { isPreferred, maxMs, signal }: Waiting): Promise<EndTurn | null> {
    const waiters = this.#taken.get(key);
    if (!waiters) {
      this.#taken.set(key, []);
      return this.#endOnce(key);
    }
    const turn = new AbortController();
    const waiter: Waiter = { isPreferred, begin: () => turn.abort() };
    waiters.push(waiter);
    const ends = signal ? AbortSignal.any([turn.signal, signal]) : turn.signal;
    await pause(this.#clock, maxMs, ends);
    if (turn.signal.aborted) return this.#endOnce(key);
    waiters.splice(waiters.indexOf(waiter), 1);
    return null;
  }

  #endOnce(key: string): EndTurn {
    let hasEnded = false;
    return () => {
      if (!hasEnded) this.#next(key);
      hasEnded = true;
    };
  }

  #next(key: string): void {
    const waiters = this.#taken.get(key) ?? [];
    const next = waiters.find(({ isPreferred }) => isPreferred) ?? waiters[0];
    if (!next) {
      this.#taken.delete(key);
      return;
    }
    waiters.splice(waiters.indexOf(next), 1);
    next.begin();
  }
}
