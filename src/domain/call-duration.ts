/** The longest duration of a provider call, for claims, the sweep and operators' commands. */

/** The settings of a provider call. */
export interface CallSettings {
  /** The time-out of one attempt, in milliseconds. */
  readonly timeoutMs: number;
  /** Attempts after the first one. */
  readonly retries: number;
  /** The same for a payment or a return; by default `retries`. */
  readonly paymentRetries?: number;
}

/** The longest back-off between two attempts, in milliseconds. */
export const maxBackoffMs = 1_000;

/** The upper limit of `maxCallMs` for a valid configuration, in milliseconds. */
export const maxAllowedCallMs = 5 * 60_000;

/** The shortest time after which a transaction that no process has moved is stale, in ms. */
const minStaleMs = 2 * 60_000;

/**
 * The longest duration of a provider call: all attempts, the waits between them, and one further
 * time-out for waiting in the queue. It includes waits that the provider requests (`Retry-After`),
 * because an attempt that would end later is not made.
 *
 * @param backoffMs the longest back-off between two attempts, in milliseconds.
 * @returns milliseconds.
 */
export function maxCallMs(settings: CallSettings, backoffMs = maxBackoffMs): number {
  const { timeoutMs, retries, paymentRetries = retries } = settings;
  const most = Math.max(retries, paymentRetries);
  return timeoutMs * (most + 2) + backoffMs * most;
}

/**
 * How long an unfinished transaction may remain unchanged until its process is considered dead:
 * longer than any live process works on one step.
 *
 * @returns milliseconds.
 */
export function staleAfterMs(settings: CallSettings): number {
  return Math.max(minStaleMs, maxCallMs(settings));
}

/**
 * Shortens a wait randomly, to at least half its length, so that callers do not retry together.
 *
 * @param maxMs milliseconds.
 * @param random a number from 0 up to 1.
 * @returns milliseconds.
 */
export function withJitter(maxMs: number, random: () => number): number {
  return maxMs / 2 + (random() * maxMs) / 2;
}
