/**
 * Places for events with very many items. Each item takes statements and turns of the event loop,
 * so a process settles a few such events at once. Others go back to the queue for some seconds:
 * they keep no place of a job, and small events pass them.
 */

/** A longer payload holds hundreds of items. */
export const largePayloadBytes = 16_384;

/** With 3,300 items in each of them, the reads of others take as long as without. */
const mostAtOnce = 8;

/** When an event that finds no place is tried again. */
export const placeAgainMs = 5_000;

/** The places of one process. */
export class LargeEvents {
  #underWay = 0;

  /** @returns what gives the place back; null when none is free. */
  enter(): (() => void) | null {
    if (this.#underWay >= mostAtOnce) return null;
    this.#underWay += 1;
    return () => void (this.#underWay -= 1);
  }
}
