/** Remembers the keys that users have paid: their sends need no look-up of the bucket. */

/** Bounds the memory: a key has at most 77 characters. A forgotten key costs a read. */
const maxKeys = 4_096;

/** The latest paid keys of one process, in two generations. They are only a hint. */
export class PaidKeys {
  #recent = new Set<string>();
  #earlier = new Set<string>();

  has(userId: number, pixKey: string): boolean {
    const name = `${userId}:${pixKey}`;
    return this.#recent.has(name) || this.#earlier.has(name);
  }

  add(userId: number, pixKey: string): void {
    if (this.#recent.size >= maxKeys / 2) {
      this.#earlier = this.#recent;
      this.#recent = new Set();
    }
    this.#recent.add(`${userId}:${pixKey}`);
  }
}
