/** Remembers the idempotency keys of sends that this process has claimed or replayed. */

/** Bounds the memory: a key has at most 128 characters. A forgotten key costs a claim. */
const maxKeys = 4_096;

/**
 * The latest keys of one process, in two generations. They are only a hint: the send of a known key
 * is probably in the database, so it is read before the claim.
 */
export class ClaimedKeys {
  #recent = new Map<string, Date>();
  #earlier = new Map<string, Date>();

  /** @returns when this process has seen the send of a key, or null. */
  seenAt(userId: number, key: string): Date | null {
    const name = claimName(userId, key);
    return this.#recent.get(name) ?? this.#earlier.get(name) ?? null;
  }

  add(userId: number, key: string, seenAt: Date): void {
    if (this.#recent.size >= maxKeys / 2) {
      this.#earlier = this.#recent;
      this.#recent = new Map();
    }
    this.#recent.set(claimName(userId, key), seenAt);
  }
}

function claimName(userId: number, key: string): string {
  return `${userId}:${key}`;
}
