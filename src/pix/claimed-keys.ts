/** Remembers the idempotency keys of sends that this process has claimed or replayed. */

/** Bounds the memory: a key has at most 128 characters. A forgotten key costs a claim. */
const mostKeys = 4_096;

/**
 * The latest keys of one process, in two generations. They are only a hint: the send of a known key
 * is probably in the database, so it is read before the claim.
 */
export class ClaimedKeys {
  #recent = new Set<string>();
  #earlier = new Set<string>();

  has(userId: number, key: string): boolean {
    const name = nameOf(userId, key);
    return this.#recent.has(name) || this.#earlier.has(name);
  }

  add(userId: number, key: string): void {
    if (this.#recent.size >= mostKeys / 2) {
      this.#earlier = this.#recent;
      this.#recent = new Set();
    }
    this.#recent.add(nameOf(userId, key));
  }
}

function nameOf(userId: number, key: string): string {
  return `${userId}:${key}`;
}
