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
}

/** The rows of a table, and the changes of the running statement. */
export class Rows {
  #versions: Version[] = [];
  #isShared = false;
  #made: Version[] = [];
  #deleted: Version[] = [];

  /** All versions, including dead ones; the list may grow at its end during a read. */
  get versions(): readonly Version[] {
    return this.#versions;
  }

  get isChanged(): boolean {
    return this.#made.length > 0 || this.#deleted.length > 0;
  }

  insert(values: Tuple, command: number): Version {
    if (this.#isShared) {
      this.#versions = [...this.#versions];
      this.#isShared = false;
    }
    const version = { values, madeBy: command, deletedBy: Infinity, keys: [] };
    this.#versions.push(version);
    this.#made.push(version);
    return version;
  }

  delete(version: Version, command: number): void {
    version.deletedBy = command;
    this.#deleted.push(version);
  }

  /** Keeps the changes of the statement. */
  commit(): void {
    for (const version of this.#made) version.madeBy = 0;
    if (this.#deleted.length > 0) {
      this.#versions = this.#versions.filter(({ deletedBy }) => deletedBy === Infinity);
      this.#isShared = false;
      for (const version of this.#deleted) version.deletedBy = Infinity;
    }
    this.#made = [];
    this.#deleted = [];
  }

  /** Undoes the changes of the failed statement. */
  rollBack(): void {
    if (this.#made.length > 0) {
      this.#versions = this.#versions.filter(({ madeBy }) => madeBy === 0);
      this.#isShared = false;
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
    this.#versions = versions as Version[];
    this.#isShared = true;
  }
}
