/**
 * Tables as lists of row versions. A version is never changed: an update adds another one. Within a
 * statement each version has the commands that made and deleted it, so that a command sees the
 * state before it (PostgreSQL, "Transaction Isolation").
 */
import type { Value } from './types.ts';

/** A tuple: the values of a row, in the order of the columns. */
export type Tuple = readonly Value[];

/** One version of a row. */
export interface Version {
  readonly values: Tuple;
  /** The command of the running statement that created it; 0: it is older than the statement. */
  madeBy: number;
  /** The command of the running statement that deleted it; Infinity: it is not deleted. */
  deletedBy: number;
  /** The keys of the row in the unique indexes of its table, computed on demand. */
  readonly keys: (string | null)[];
  /** Grows with each version: the order of the versions of a table. */
  readonly serial: number;
}

/** The versions of a table by the value of one column, each list in the order of the table. */
type Index = Map<Value, Version[]>;

let versionsMade = 0;
let contentsMade = 0;

/** The rows of a table, and the changes of the running statement. */
export class Rows {
  #versions: Version[] = [];
  #isShared = false;
  /** By the place of the column, made at the first look-up. */
  readonly #indexes = new Map<number, Index>();
  #made: Version[] = [];
  #deleted: Version[] = [];
  #contents = 0;

  /** The number of the committed contents: contents that differ have different numbers. */
  get contents(): number {
    return this.#contents;
  }

  /** All versions, including dead ones; the list may grow at its end during a read. */
  get versions(): readonly Version[] {
    return this.#versions;
  }

  get isChanged(): boolean {
    return this.#made.length > 0 || this.#deleted.length > 0;
  }

  /** The versions, including dead ones, that have one of some values in a column. */
  having(place: number, wanted: readonly Value[]): readonly Version[] {
    const index = this.#indexes.get(place) ?? this.#indexOn(place);
    if (wanted.length === 1) return index.get(wanted[0]) ?? [];
    const found = [...new Set(wanted)].flatMap((value) => index.get(value) ?? []);
    return found.toSorted((one, other) => one.serial - other.serial);
  }

  #indexOn(place: number): Index {
    const index = Map.groupBy(this.#versions, ({ values }) => values[place]);
    this.#indexes.set(place, index);
    return index;
  }

  #removeFromIndexes(gone: readonly Version[]): void {
    for (const [place, index] of this.#indexes) {
      for (const version of gone) {
        const value = version.values[place];
        const others = index.get(value)?.filter((one) => one !== version);
        index.set(value, others ?? []);
      }
    }
  }

  insert(values: Tuple, command: number): Version {
    if (this.#isShared) {
      this.#versions = [...this.#versions];
      this.#isShared = false;
    }
    versionsMade += 1;
    const version: Version = {
      values,
      madeBy: command,
      deletedBy: Infinity,
      keys: [],
      serial: versionsMade,
    };
    this.#versions.push(version);
    for (const [place, index] of this.#indexes) {
      const same = index.get(values[place]);
      if (same) same.push(version);
      else index.set(values[place], [version]);
    }
    this.#made.push(version);
    return version;
  }

  delete(version: Version, command: number): void {
    version.deletedBy = command;
    this.#deleted.push(version);
  }

  /** Keeps the changes of the statement. */
  commit(): void {
    if (!this.isChanged) return;
    this.#renumber();
    for (const version of this.#made) version.madeBy = 0;
    if (this.#deleted.length > 0) {
      this.#versions = this.#versions.filter(({ deletedBy }) => deletedBy === Infinity);
      this.#isShared = false;
      this.#removeFromIndexes(this.#deleted);
      for (const version of this.#deleted) version.deletedBy = Infinity;
    }
    this.#made = [];
    this.#deleted = [];
  }

  /** Undoes the changes of the failed statement. */
  rollBack(): void {
    if (!this.isChanged) return;
    if (this.#made.length > 0) {
      this.#versions = this.#versions.filter(({ madeBy }) => madeBy === 0);
      this.#isShared = false;
      this.#removeFromIndexes(this.#made);
    }
    for (const version of this.#deleted) version.deletedBy = Infinity;
    this.#made = [];
    this.#deleted = [];
  }

  /** The current versions; they are copied before the next change. */
  snapshot(): readonly Version[] {
    this.#isShared = true;
    return this.#versions;
  }

  restore(versions: readonly Version[]): void {
    if (versions !== this.#versions) this.#indexes.clear();
    this.#versions = versions as Version[];
    this.#isShared = true;
    this.#renumber();
  }

  #renumber(): void {
    contentsMade += 1;
    this.#contents = contentsMade;
  }
}
