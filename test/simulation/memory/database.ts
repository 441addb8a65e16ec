/**
 * A model of PostgreSQL in memory: it carries out the statements of the service as they are written
 * (their repositories), on tables that are made from the catalog of a migrated database. One
 * statement runs at a time and is committed when it ends. What the model does not know it refuses.
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
import { bodyOf, statementIn } from './tree.ts';
import { type Column, fromParameter, driverOf, toText } from './types.ts';

/** What all tables held at one moment. */
export interface Snapshot {
  readonly rows: ReadonlyMap<string, readonly Version[]>;
  readonly sequences: ReadonlyMap<string, number>;
}

/** What tables hold, each value as the server writes it, and where the sequences stand. */
export interface Contents {
  readonly tables: Catalog['contents'];
  readonly sequences: Readonly<Record<string, number>>;
}

type Row = Record<string, unknown>;

/** A statement, ready to be run. */
interface Prepared {
  readonly statement: Statement;
  readonly rows: (frame: Frame) => readonly Tuple[];
  readonly answer: (tuples: readonly Tuple[]) => Row[];
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

  /** Opens one that holds what a catalog tells. */
  static async open(
    catalog: Catalog,
    notified: (channel: string, payload: string) => void,
  ): Promise<MemoryDatabase> {
    await loadModule();
    return new MemoryDatabase(buildSchema(catalog, compiler), notified);
  }

  /** @throws Error as the driver does when PostgreSQL refuses; nothing is changed then. */
  run(text: string, parameters: readonly unknown[]): Row[] {
    const { statement, rows, answer } = this.#prepare(text);
    const values = parameters.map((value, place) =>
      fromParameter(statement.parameters[place] ?? 'text', value),
    );
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
      // As PostgreSQL does: the last one first, so that what it reads is computed for it.
      for (const modify of statement.modifying.toReversed()) modify(frame);
      session.check();
      for (const table of this.#schema.tables.values()) table.rows.commit();
      for (const [channel, payload] of session.notifications) this.#notified(channel, payload);
      return answer(tuples);
    } catch (error) {
      for (const table of this.#schema.tables.values()) table.rows.rollBack();
      throw error;
    }
  }

  /** What a snapshot holds, by table, each value as the server writes it. */
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

  /** What all tables hold now: a commit that one can go back to. */
  snapshot(): Snapshot {
    const { tables, sequences } = this.#schema;
    return {
      rows: new Map([...tables].map(([name, { rows }]) => [name, rows.snapshot()])),
      sequences: new Map(sequences),
    };
  }

  /** Goes back to a snapshot: whatever was committed since is lost. */
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
    const prepared = { statement, rows, answer: rowsOf(columns) };
    this.#prepared.set(text, prepared);
    return prepared;
  }
}

interface Compiled extends Pick<Prepared, 'rows'> {
  readonly columns: readonly Column[];
}

function compileStatement(node: Tree.Node, scope: Scope): Compiled {
  const modification = compileModification(node, scope);
  if (modification) {
    return { columns: modification.columns, rows: (frame) => modification.run(frame).rows };
  }
  return compileQuery(bodyOf(node, 'SelectStmt'), scope);
}

/** What makes the rows that the driver would give. */
function rowsOf(columns: readonly Column[]): (tuples: readonly Tuple[]) => Row[] {
  const readers = columns.map(({ name, type }, place) => [name, place, driverOf(type)] as const);
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
