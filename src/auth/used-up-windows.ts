/** The windows that are used up, kept in the process: refusing then costs no statement. */

/** A flood of subjects must not fill the memory; what is dropped is read from the database. */
const windowsAtMost = 10_000;

/** Remembers when windows end; it forgets the oldest when there are many. */
export class UsedUpWindows {
  readonly #ends = new Map<string, number>();

  /** @returns when the window of a key ends, in ms, or null when it is not known to be used up. */
  endOf(key: string, nowMs: number): number | null {
    const endMs = this.#ends.get(key);
    if (endMs === undefined) return null;
    if (endMs > nowMs) return endMs;
    this.#ends.delete(key);
    return null;
  }

  /** Notes a window that is used up until `endMs`, in ms. */
  note(key: string, endMs: number): void {
    this.#ends.delete(key);
    this.#ends.set(key, endMs);
    if (this.#ends.size <= windowsAtMost) return;
    const [oldest] = this.#ends.keys();
    if (oldest !== undefined) this.#ends.delete(oldest);
  }
}
