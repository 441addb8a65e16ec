/**
 * A model of PostgreSQL in memory: it executes the statements of the repositories unchanged, on
 * tables built from the catalog of a migrated database. One statement runs at a time and is
 * committed when it ends. The model refuses SQL that it does not implement.
 */
import { loadModule } from 'libpg-query';
import type * as Tree from 'libpg-query';
import type { Catalog } from './catalog.ts';
import { compile } from './expressions.ts';
import { compileModification } from './modify.ts';
import { compileQuery } from './query.ts';
import type { Tuple, Version } from './rows.ts';
import { Scope, Statement, type Compiler, type Frame } from './scope.ts';
import { buildSchema, statistics, type Schema } from './schema.ts';
import { Session } from './session.ts';
import { unwrapNode, statementIn } from './tree.ts';
import { type Column, fromParameter, findDriver, toText, type Value } from './types.ts';

/** The contents of all tables at one time. */
export interface Snapshot {
  readonly rows: ReadonlyMap<string, readonly Version[]>;
  readonly sequences: ReadonlyMap<string, number>;
}

/** The contents of tables, each value as the server writes it, and the state of the sequences. */
export interface Contents {
  readonly tables: Catalog['contents'];
  readonly sequences: Readonly<Record<string, number>>;
}

type Row = Record<string, unknown>;

/** A prepared statement. */
interface Prepared {
  readonly statement: Statement;
  readonly rows: (frame: Frame) => readonly Tuple[];
  readonly respond: (tuples: readonly Tuple[]) => Row[];
  /** The last run, if the statement is a pure read. */
  last: PastRun | null;
}

/** A run of a pure read: its result holds until a parameter or a table is another. */
interface PastRun {
  readonly parameters: readonly Value[];
  /** The numbers of its tables' contents, in the order of the statement's tables. */
  readonly contents: readonly number[];
  readonly tuples: readonly Tuple[];
}

const compiler: Compiler = {
  expression: compile,
  query: compileQuery,
  modification: compileModification,
};

export class MemoryDatabase {
  readonly #schema: Schema;
  readonly #prepared = new Map<string, Prepared>();
  readonly #notified: (channel: string, payload: string) => void;

  private constructor(schema: Schema, notified: (channel: string, payload: string) => void) {
    this.#schema = schema;
    this.#notified = notified;
  }

  /** Opens a database with the contents of a catalog. */
  static async open(
    catalog: Catalog,
    notified: (channel: string, payload: string) => void,
  ): Promise<MemoryDatabase> {
    await loadModule();
    return new MemoryDatabase(buildSchema(catalog, compiler), notified);
  }

  /** @throws Error like that of the driver when PostgreSQL refuses; then there is no change. */
  run(text: string, parameters: readonly unknown[]): Row[] {
    const prepared = this.#prepare(text);
    const { statement, rows, respond } = prepared;
    const values = parameters.map((value, place) =>
      fromParameter(statement.parameters[place] ?? 'text', value),
    );
    const known = findResult(prepared, values);
    if (known) return respond(known);
    const session = new Session(this);
    const frame: Frame = {
      session,
      command: session.nextCommand(),
      parameters: values,
      tuples: [],
      versions: [],
      kept: [],
    };
    try {
      const tuples = rows(frame);
      // In reverse order, as in PostgreSQL. A part that reads another part executes it first.
      for (const modify of statement.modifying.toReversed()) modify(frame);
      session.check();
      for (const table of this.#schema.tables.values()) table.rows.commit();
      for (const [channel, payload] of session.notifications) this.#notified(channel, payload);
      if (statement.isPureRead) {
        prepared.last = { parameters: values, contents: numberContents(statement), tuples };
      }
      return respond(tuples);
    } catch (error) {
      for (const table of this.#schema.tables.values()) table.rows.rollBack();
      throw error;
    }
  }

  /** The contents of a snapshot by table, each value as the server writes it. */
  contents({ rows, sequences }: Snapshot): Contents {
    const tables = [...this.#schema.tables.values()].filter(({ name }) => name !== statistics);
    const written = tables.map(({ name, columns }) => [
      name,
      (rows.get(name) ?? []).map(({ values }) =>
        Object.fromEntries(
          columns.map((column, place) => {
            const value = values[place] ?? null;
            return [column.name, value === null ? null : toText(column.type, value)];
          }),
        ),
      ),
    ]);
    return {
      tables: Object.fromEntries(written) as Contents['tables'],
      sequences: Object.fromEntries(sequences),
    };
  }

  nextValue(sequence: string): number {
    const value = this.#schema.sequences.get(sequence) ?? 1;
    this.#schema.sequences.set(sequence, value + 1);
    return value;
  }

  /** The current contents of all tables, for a later restore. */
  snapshot(): Snapshot {
    const { tables, sequences } = this.#schema;
    return {
      rows: new Map([...tables].map(([name, { rows }]) => [name, rows.snapshot()])),
      sequences: new Map(sequences),
    };
  }

  /** Restores a snapshot: later commits are lost. */
  restore({ rows, sequences }: Snapshot): void {
    for (const [name, versions] of rows) this.#schema.tables.get(name)?.rows.restore(versions);
    for (const [name, next] of sequences) this.#schema.sequences.set(name, next);
  }

  #prepare(text: string): Prepared {
    const known = this.#prepared.get(text);
    if (known) return known;
    const statement = new Statement(compiler, this.#schema);
    const scope = new Scope(statement, null);
    const node = statementIn(text);
    const { columns, rows } = compileStatement(node, scope);
    const prepared = { statement, rows, respond: makeRows(columns), last: null };
    this.#prepared.set(text, prepared);
    return prepared;
  }
}

function numberContents({ tables }: Statement): number[] {
  return Array.from(tables, ({ rows }) => rows.contents);
}

/** @returns the result of the last run, if it had these parameters and tables; null: it had not. */
function findResult(
  { statement, last }: Prepared,
  parameters: readonly Value[],
): readonly Tuple[] | null {
  if (!last || !areSame(last.parameters, parameters)) return null;
  return areSame(last.contents, numberContents(statement)) ? last.tuples : null;
}

function areSame(some: readonly Value[], others: readonly Value[]): boolean {
  return some.length === others.length && some.every((one, place) => isSame(one, others[place]));
}

/** Whether two values are certainly equal. */
function isSame(one: Value, other: Value): boolean {
  return Array.isArray(one) && Array.isArray(other) ? areSame(one, other) : one === other;
}

interface Compiled extends Pick<Prepared, 'rows'> {
  readonly columns: readonly Column[];
}

function compileStatement(node: Tree.Node, scope: Scope): Compiled {
  const modification = compileModification(node, scope);
  if (modification) {
    return { columns: modification.columns, rows: (frame) => modification.run(frame).rows };
  }
  return compileQuery(unwrapNode(node, 'SelectStmt'), scope);
}

/** Converts tuples to the rows that the driver would return. */
function makeRows(columns: readonly Column[]): (tuples: readonly Tuple[]) => Row[] {
  const readers = columns.map(({ name, type }, place) => [name, place, findDriver(type)] as const);
  return (tuples) =>
    tuples.map((tuple) => {
      const row: Row = {};
      for (const [name, place, read] of readers) {
        const value = tuple[place] ?? null;
        row[name] = value === null || read === null ? value : read(value);
      }
      return row;
    });
}
