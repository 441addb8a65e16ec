/** A table: its columns, and the checks of its constraints and triggers. */
import { refusal } from './errors.ts';
import { Rows, type Tuple, type Version } from './rows.ts';
import type { Session } from './session.ts';
import type { Column, Type, Value } from './types.ts';

export interface TableColumn extends Column {
  readonly type: Type;
  readonly isRequired: boolean;
  /** Converts a value to the precision of the column's type. */
  readonly fit: (value: Value) => Value;
  readonly byDefault: (session: Session) => Value;
}

type Test = (values: Tuple) => Value;

export interface Check {
  readonly name: string;
  readonly test: Test;
}

export interface Unique {
  readonly name: string;
  /** The index of its key in the keys of a version. */
  readonly place: number;
  /** The key of a row, or null when the index does not contain it. */
  readonly toKey: (values: Tuple) => string | null;
  /** The keys and the conjuncts of the condition, as canonical texts. */
  readonly keys: ReadonlySet<string>;
  readonly predicate: ReadonlySet<string>;
}

export interface ForeignKey {
  readonly name: string;
  readonly child: Table;
  readonly places: readonly number[];
  readonly parent: Table;
  readonly parentPlaces: readonly number[];
  readonly onDelete: 'refuse' | 'cascade';
  readonly refusal: 'restrict_violation' | 'foreign_key_violation';
}

/** An action at the end of a statement that inserted or updated a row. */
export interface AfterTrigger {
  readonly on: ReadonlySet<'insert' | 'update'>;
  readonly fire: (session: Session, before: Tuple | null, after: Tuple) => void;
}

export interface Trigger {
  readonly on: ReadonlySet<'update' | 'delete'>;
  /** @throws the error of the trigger's function, when its condition is true. */
  readonly fire: (before: Tuple, after: Tuple | null) => void;
}

export class Table {
  readonly name: string;
  readonly columns: readonly TableColumn[];
  readonly rows = new Rows();
  checks: readonly Check[] = [];
  uniques: readonly Unique[] = [];
  triggers: readonly Trigger[] = [];
  afterTriggers: readonly AfterTrigger[] = [];
  /** The foreign keys of this table; `children` are those of other tables that reference it. */
  readonly parents: ForeignKey[] = [];
  readonly children: ForeignKey[] = [];

  constructor(name: string, columns: readonly TableColumn[]) {
    this.name = name;
    this.columns = columns;
  }

  /** @throws when a row violates a constraint on this row alone. */
  admit(values: Tuple): void {
    const table = this.name;
    for (const [place, { name: column, isRequired }] of this.columns.entries()) {
      if (!isRequired || values[place] !== null) continue;
      const where = `column "${column}" of relation "${table}"`;
      const text = `null value in ${where} violates not-null constraint`;
      throw refusal('not_null_violation', text, { table, column });
    }
    for (const { name: constraint, test } of this.checks) {
      if (test(values) !== false) continue;
      const text = `new row for relation "${table}" violates check constraint "${constraint}"`;
      throw refusal('check_violation', text, { table, constraint });
    }
  }

  /** The existing row that conflicts with another one in one of some unique indexes. */
  conflict(values: Tuple, uniques: readonly Unique[]): readonly [Version, Unique] | null {
    for (const unique of uniques) {
      const key = unique.toKey(values);
      if (key === null) continue;
      for (const version of this.rows.versions) {
        if (version.deletedBy !== Infinity) continue;
        if (keyIn(version, unique) === key) return [version, unique];
      }
    }
    return null;
  }

  insert(values: Tuple, doing: Doing): Version {
    const version = this.#put(values, doing);
    this.#fireAfter('insert', null, values, doing);
    return version;
  }

  #put(values: Tuple, { session, command }: Doing): Version {
    const found = this.conflict(values, this.uniques);
    if (found) {
      const [, { name: constraint }] = found;
      const text = `duplicate key value violates unique constraint "${constraint}"`;
      throw refusal('unique_violation', text, { table: this.name, constraint });
    }
    const version = this.rows.insert(values, command);
    for (const key of this.parents) session.later(() => requireParent(key, version));
    return version;
  }

  update(version: Version, values: Tuple, doing: Doing): Version {
    this.#fire('update', version.values, values);
    this.admit(values);
    this.rows.delete(version, doing.command);
    const updated = this.#put(values, doing);
    this.#fireAfter('update', version.values, values, doing);
    for (const key of this.children) {
      const isSame = key.parentPlaces.every((one) => version.values[one] === values[one]);
      if (!isSame) doing.session.later(() => releaseChildren(key, version.values, doing));
    }
    return updated;
  }

  delete(version: Version, doing: Doing): void {
    this.#fire('delete', version.values, null);
    this.rows.delete(version, doing.command);
    for (const key of this.children) {
      doing.session.later(() => releaseChildren(key, version.values, doing));
    }
  }

  #fireAfter(
    event: 'insert' | 'update',
    before: Tuple | null,
    ...[after, { session }]: [Tuple, Doing]
  ): void {
    for (const { on, fire } of this.afterTriggers) {
      if (on.has(event)) session.later(() => fire(session, before, after));
    }
  }

  #fire(event: 'update' | 'delete', before: Tuple, after: Tuple | null): void {
    for (const { on, fire } of this.triggers) if (on.has(event)) fire(before, after);
  }
}

function keyIn({ keys, values }: Version, { place, toKey }: Unique): string | null {
  const known = keys[place];
  if (known !== undefined) return known;
  const key = toKey(values);
  keys[place] = key;
  return key;
}

/** The command that changes rows. */
export interface Doing {
  readonly session: Session;
  readonly command: number;
}

/** Checks at the end of the statement that the referenced row exists. */
function requireParent({ name, child, places, parent, parentPlaces }: ForeignKey, row: Version) {
  if (row.deletedBy !== Infinity) return;
  const wanted = places.map((place) => row.values[place]);
  if (wanted.includes(null) || hasRow(parent, parentPlaces, wanted)) return;
  throw refusal(
    'foreign_key_violation',
    `insert or update on table "${child.name}" violates foreign key constraint "${name}"`,
    { table: child.name, constraint: name },
  );
}

function hasRow(table: Table, places: readonly number[], wanted: readonly Value[]): boolean {
  return table.rows.versions.some(
    ({ values, deletedBy }) =>
      deletedBy === Infinity && places.every((place, index) => values[place] === wanted[index]),
  );
}

/** At the end of a statement: deletes the rows that reference a missing row, or refuses. */
function releaseChildren(key: ForeignKey, gone: Tuple, { session }: Doing): void {
  const { child, places, parent, parentPlaces, name } = key;
  const wanted = parentPlaces.map((place) => gone[place]);
  if (wanted.includes(null) || hasRow(parent, parentPlaces, wanted)) return;
  const left = child.rows.versions.filter(
    ({ values, deletedBy }) =>
      deletedBy === Infinity && places.every((place, index) => values[place] === wanted[index]),
  );
  if (left.length === 0) return;
  if (key.onDelete === 'refuse') {
    throw refusal(
      key.refusal,
      `update or delete on table "${parent.name}" violates foreign key constraint "${name}"`,
      { table: child.name, constraint: name },
    );
  }
  const command = session.nextCommand();
  for (const version of left) child.delete(version, { session, command });
}
