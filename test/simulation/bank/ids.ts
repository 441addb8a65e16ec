/** The ids that a bank issues: consecutive numbers, so that a seed repeats them. */
export class Ids {
  #made = 0;

  /** @returns a unique number. */
  next(): number {
    this.#made += 1;
    return this.#made;
  }

  /** @returns a new end-to-end id of the institution. */
  endToEnd(ispb: string, nowMs: number): string {
    const minute = new Date(nowMs).toISOString().replaceAll(/\D/g, '').slice(0, 12);
    return `E${ispb}${minute}${String(this.next()).padStart(11, '0')}`;
  }
}
