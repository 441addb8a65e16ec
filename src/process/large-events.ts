/**
 * Places for events with very many items. Their items are settled in sets, each of which fills a
 * grouped statement, so a process settles a few such events at once: a small event waits for one
 * set of each at most. Others go back to the queue for some seconds and keep no place of a job.
 */

/** A longer payload holds hundreds of items. */
export const largePayloadBytes = 16_384;

/** With 3,300 items in each of them, the reads of others take as long as without. */
const maxAtOnce = 8;

/** When an event that finds no place is tried again. */
export const placeAgainMs = 5_000;

/** The places of one process. */
export class LargeEvents {
  #underWay = 0;

  /** @returns a function that gives the place back; null when none is free. */
  reserve(): (() => void) | null {
    if (this.#underWay >= maxAtOnce) return null;
    this.#underWay += 1;
    return () => void (this.#underWay -= 1);
  }
}
