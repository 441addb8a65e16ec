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

/** The retries that a lane leaves for the others: most for payments and logins, some for users. */
const leftForOthers: Readonly<Record<ProviderLane, number>> = {
  money: 0,
  login: 0,
  reads: 100,
  onboarding: 100,
  background: 100,
  cep: 150,
};

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
    if (this.#retries - leftForOthers[lane] < 1) return false;
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
