/**
 * Stable names for random ids (transactions, end-to-end ids, tokens): the first transaction is
 * `tx1`, the second `tx2`. The trace of a seed is therefore the same in every run.
 */
export class Names {
  readonly #names = new Map<string, string>();
  readonly #counts = new Map<string, number>();

  /** @param sort the kind of the id, such as `tx`. */
  of(sort: string, id: string | null | undefined): string {
    if (id === null || id === undefined) return 'none';
    const known = this.#names.get(id);
    if (known !== undefined) return known;
    const count = (this.#counts.get(sort) ?? 0) + 1;
    this.#counts.set(sort, count);
    const name = `${sort}${count}`;
    this.#names.set(id, name);
    return name;
  }
}
