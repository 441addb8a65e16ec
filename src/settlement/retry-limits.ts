/** The limits of the loops of settlement that repeat an attempt immediately. */

/**
 * Attempts to store an event or to find it by its hash. If a concurrent delivery commits the same
 * bytes during the first attempt, that attempt does neither, and the second finds the event.
 */
export const mostStores = 2;

/**
 * Attempts to settle an event that others settle at the same time: two workers have it after a
 * lease has expired, or an operator replays it. After the last attempt the event's job tries again
 * a second later.
 */
export const mostOvertakenAttempts = 3;

/**
 * Attempts at an event that begins to wait for an id. The second attempt finds a transaction that
 * was stored before the waits; a transaction that is stored later wakes the event's job.
 */
export const mostAttemptsToWait = 2;

/**
 * Decisions about an item whose transaction changes at the same time. If another process has
 * settled it, the second decision finds its final status.
 */
export const mostDecisions = 3;
