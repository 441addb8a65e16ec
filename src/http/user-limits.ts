/**
 * How much of the service one logged-in user may take: requests of an operation in a minute, and
 * requests at the same time. Each process counts for itself, in memory: a limit costs no round trip
 * to the database, and with n instances a user has up to n times as much.
 */
import type { Clock } from '../clock.ts';
import { AppError } from '../errors.ts';

export interface UserLimitsOptions {
  readonly clock: Clock;
  /** Requests of one operation by one user in a minute; 0 lifts it. */
  readonly perMinute: number;
}

const windowMs = 60_000;

/** Several devices that wait for the ends of several payments. */
const mostAtOnce = 32;

/** The limits of one process. */
export class UserLimits {
  readonly #options: UserLimitsOptions;
  #windowEndsAt = 0;
  #counts = new Map<string, number>();
  readonly #underWay = new Map<number, number>();

  constructor(options: UserLimitsOptions) {
    this.#options = options;
  }

  /**
   * Counts a request of an operation.
   * @throws AppError THROTTLED with the seconds to wait, when it is one too many in this minute.
   */
  count(operation: string, userId: number): void {
    const { clock, perMinute } = this.#options;
    if (perMinute === 0) return;
    const now = clock.now().getTime();
    // A wall clock that has gone back does not make the window longer.
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
   * Takes one of the user's places.
   * @returns what gives it back.
   * @throws AppError THROTTLED when too many requests of the user are under way.
   */
  enter(userId: number): () => void {
    const requests = this.#underWay.get(userId) ?? 0;
    if (requests >= mostAtOnce) throw throttled(1);
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
