/** Caches the throttle windows that are used up, so that refusing costs no statement. */

/** Limits the memory of the cache; an evicted window is read from the database again. */
const maxWindows = 10_000;

/** The cache of one process; it evicts the oldest window. */
export class UsedUpWindows {
  readonly #ends = new Map<string, number>();

  /** @returns when the window of a key ends, in ms; null when it is not in the cache. */
  findEnd(key: string, nowMs: number): number | null {
    const endMs = this.#ends.get(key);
    if (endMs === undefined) return null;
    if (endMs > nowMs) return endMs;
    this.#ends.delete(key);
    return null;
  }

  /** Adds a window that is used up until `endMs`, in ms. */
  add(key: string, endMs: number): void {
    this.#ends.delete(key);
    this.#ends.set(key, endMs);
    if (this.#ends.size <= maxWindows) return;
    const [oldest] = this.#ends.keys();
    if (oldest !== undefined) this.#ends.delete(oldest);
  }
}
