/**
 * Limits each logged-in user: requests of an operation per minute, and concurrent requests. Each
 * process counts in memory, which saves a round trip to the database; with n instances a user has
 * up to n times the limit.
 */
import type { Clock } from '../clock.ts';
import { AppError } from '../errors.ts';

export interface UserLimitsOptions {
  readonly clock: Clock;
  /** Requests of one operation by one user in a minute; 0 sets no limit. */
  readonly perMinute: number;
}

const windowMs = 60_000;

/** Enough for several devices that each wait for several payments. */
const maxConcurrent = 32;

/** The limits of one process. */
export class UserThrottle {
  readonly #options: UserLimitsOptions;
  #windowEndsAt = 0;
  #counts = new Map<string, number>();
  readonly #underWay = new Map<number, number>();

  constructor(options: UserLimitsOptions) {
    this.#options = options;
  }

  /**
   * Counts a request of an operation.
   * @throws AppError THROTTLED with `Retry-After` when the limit of this minute is exceeded.
   */
  count(operation: string, userId: number): void {
    const { clock, perMinute } = this.#options;
    if (perMinute === 0) return;
    const now = clock.now().getTime();
    // A clock that is set back must not extend the window.
    if (now >= this.#windowEndsAt || now < this.#windowEndsAt - windowMs) {
      this.#windowEndsAt = now + windowMs;
      this.#counts = new Map();
    }
    const key = `${operation}:${userId}`;
    const requests = (this.#counts.get(key) ?? 0) + 1;
    if (requests > perMinute) throw throttled((this.#windowEndsAt - now) / 1_000);
    this.#counts.set(key, requests);
  }

  /**
   * Counts a concurrent request.
   * @returns a function to call when the request has ended.
   * @throws AppError THROTTLED when too many requests of the user are in progress.
   */
  enter(userId: number): () => void {
    const requests = this.#underWay.get(userId) ?? 0;
    if (requests >= maxConcurrent) throw throttled(1);
    this.#underWay.set(userId, requests + 1);
    return () => {
      const left = (this.#underWay.get(userId) ?? 1) - 1;
      if (left > 0) this.#underWay.set(userId, left);
      else this.#underWay.delete(userId);
    };
  }
}

function throttled(seconds: number): AppError {
  const headers = { 'Retry-After': String(Math.max(1, Math.ceil(seconds))) };
  return new AppError('THROTTLED', { headers });
}
