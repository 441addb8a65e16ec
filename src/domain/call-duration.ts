/** How long a provider call may take: claims, the sweep and operators' decisions rely on it. */

/** The settings of a provider call. */
export interface CallSettings {
  /** Of one attempt, in milliseconds. */
  readonly timeoutMs: number;
  /** Attempts after the first one. */
  readonly retries: number;
}

/** The longest back-off between two attempts, in milliseconds. */
export const longestBackoffMs = 1_000;

/** The longest duration of a call that a configuration may allow, in milliseconds. */
export const longestAllowedCallMs = 5 * 60_000;

/** The shortest time after which a transaction that no process has moved is stale, in ms. */
const shortestStaleMs = 2 * 60_000;

/**
 * The longest duration of a provider call: all its attempts, the waits between them, and one
 * time-out more for waiting in the queue. A wait that the provider asks for (`Retry-After`) is part
 * of it, because an attempt that would end later is not made.
 *
 * @param backoffMs the longest wait between two attempts that the service takes by itself.
 * @returns milliseconds.
 */
export function longestCallMs(
  { timeoutMs, retries }: CallSettings,
  backoffMs = longestBackoffMs,
): number {
  return timeoutMs * (retries + 2) + backoffMs * retries;
}

/**
 * How long a transaction may stand untouched in a phase before its end until its process counts as
 * dead: longer than any living process works on one step.
 *
 * @returns milliseconds.
 */
export function staleAfterMs(settings: CallSettings): number {
  return Math.max(shortestStaleMs, longestCallMs(settings));
}

/**
 * Spreads a wait between half and all of its length, so that callers do not come back in step.
 *
 * @param longestMs milliseconds.
 * @param random a number from 0 up to 1.
 * @returns milliseconds.
 */
export function withJitter(longestMs: number, random: () => number): number {
  return longestMs / 2 + (random() * longestMs) / 2;
}
