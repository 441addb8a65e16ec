/**
 * Stable names for what has a random id (transactions, end-to-end ids, tokens): the first one that
 * comes up is `tx1`, the second `tx2`. So two runs of one seed read the same.
 */
export class Names {
  readonly #names = new Map<string, string>();
  readonly #counts = new Map<string, number>();

  /** @param sort what the id is of, such as `tx`. */
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
