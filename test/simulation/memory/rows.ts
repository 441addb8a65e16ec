/**
 * Tables as lists of row versions. A version is never changed: an update adds another one. Within a
 * statement each version tells which command has made it and which has deleted it, so that a
 * command sees what was there before it (PostgreSQL, "Transaction Isolation").
 */
import type { Value } from './types.ts';

/** A tuple: the values of a row, in the order of the columns. */
export type Tuple = readonly Value[];

/** One version of a row. */
export interface Version {
  readonly values: Tuple;
  /** The command of the running statement that has made it; 0: it was there before. */
  madeBy: number;
  /** The command of the running statement that has deleted it; Infinity: none has. */
  deletedBy: number;
  /** Its keys in the unique indexes of its table, as far as they have been wanted. */
  readonly keys: (string | null)[];
}

/** The rows of a table, and what the running statement has changed. */
export class Rows {
  #versions: Version[] = [];
  #isShared = false;
  #made: Version[] = [];
  #deleted: Version[] = [];

  /** All versions, dead ones too; it may grow while it is read, but only at its end. */
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

  /** The statement has ended well. */
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

  /** The statement has failed: all is as it was before it. */
  rollBack(): void {
    if (this.#made.length > 0) {
      this.#versions = this.#versions.filter(({ madeBy }) => madeBy === 0);
      this.#isShared = false;
    }
    for (const version of this.#deleted) version.deletedBy = Infinity;
    this.#made = [];
    this.#deleted = [];
  }

  /** What it holds; nothing is copied until it changes. */
  snapshot(): readonly Version[] {
    this.#isShared = true;
    return this.#versions;
  }

  restore(versions: readonly Version[]): void {
    this.#versions = versions as Version[];
    this.#isShared = true;
  }
}
