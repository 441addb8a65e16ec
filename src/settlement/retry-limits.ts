/** How often settlement repeats at once what was in vain. Each limit ends a loop. */

/**
 * How often an event is stored, or found by its hash. The first attempt does neither where a
 * concurrent delivery commits the same bytes meanwhile; the second finds that event.
 */
export const mostStores = 2;

/**
 * Attempts to settle an event that others settle meanwhile: two workers have it where a lease has
 * run out, or an operator replays it. After them the event's job tries again a second later.
 */
export const mostOvertakenAttempts = 3;

/**
 * Attempts at an event that begins to wait for an id. A transaction that was stored before the
 * waits were is found by the second attempt; one that is stored later wakes the event's job.
 */
export const mostAttemptsToWait = 2;

/**
 * Decisions on an item whose transaction changes meanwhile. Another process has then settled it,
 * and settled is final: the second decision finds that.
 */
export const mostDecisions = 3;
