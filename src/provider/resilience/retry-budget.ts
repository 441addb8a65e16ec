/**
 * The retry budget of a process, over all calls. While the provider works, every call may be
 * retried. While it fails, retries would multiply its load, so only about one call in five is.
 */
import type { Clock } from '../../clock.ts';
import type { ProviderLane } from './call-policy.ts';

/** The largest budget: a burst of retries after quiet minutes. */
const maxRetries = 200;

/** The retries that each call adds. */
const retriesPerCall = 0.2;

/** The retries that each second adds, so that a service with few calls may retry all of them. */
const retriesPerSecond = 10;

/** The retries that are reserved for payments and logins. */
const reservedRetries = 100;

const mayTakeReserved: ReadonlySet<ProviderLane> = new Set(['money', 'login']);

/** The budget of one process. */
export class RetryBudget {
  readonly #clock: Clock;
  #retries = maxRetries;
  #refilledAt: number;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#refilledAt = clock.now().getTime();
  }

  /** Records a call. */
  called(): void {
    this.#add(retriesPerCall);
  }

  /**
   * Takes one retry from the budget.
   * @returns false when none is left for this lane.
   */
  take(lane: ProviderLane): boolean {
    this.#refill();
    const left = mayTakeReserved.has(lane) ? this.#retries : this.#retries - reservedRetries;
    if (left < 1) return false;
    this.#retries -= 1;
    return true;
  }

  #refill(): void {
    const now = this.#clock.now().getTime();
    this.#add((Math.max(0, now - this.#refilledAt) / 1_000) * retriesPerSecond);
    this.#refilledAt = now;
  }

  #add(retries: number): void {
    this.#retries = Math.min(maxRetries, this.#retries + retries);
  }
}
