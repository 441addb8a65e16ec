/**
 * The retry budget: how many attempts may follow a first one, over all calls of this process. While
 * the provider works, every call may be retried. While it fails, retries would multiply the load
 * that it already cannot bear: then about one call in five is retried.
 */
import type { Clock } from '../../clock.ts';
import type { ProviderLane } from './call-policy.ts';

/** What the budget holds at most: a burst of retries after quiet minutes. */
const mostRetries = 200;

/** What each first attempt adds. */
const retriesPerCall = 0.2;

/** What each second adds, so that a service with few calls may retry all of them. */
const retriesPerSecond = 10;

/** What only payments and logins may take: other traffic cannot use up their retries. */
const reservedRetries = 100;

const mayTakeReserved: ReadonlySet<ProviderLane> = new Set(['money', 'login']);

/** The budget of one process. */
export class RetryBudget {
  readonly #clock: Clock;
  #retries = mostRetries;
  #refilledAt: number;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#refilledAt = clock.now().getTime();
  }

  /** Notes the first attempt of a call. */
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
    this.#retries = Math.min(mostRetries, this.#retries + retries);
  }
}
