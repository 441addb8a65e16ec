/** The rows of a database: restores them, and reads them for a comparison. */
import type { Row } from '../../api/db/rows.ts';

/** The rows of each table that has some, as JSON. */
export type Contents = Readonly<Record<string, readonly Row[]>>;

type Ask = <Found>(sql: string, values?: readonly unknown[]) => Promise<Found[]>;

/** Serial numbers of rows that were stored after a state was restored begin here. */
const firstSerial = 1_000_000;

const uuids = /[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}/g;

export class Stored {
  readonly #ask: Ask;
  readonly #tables: readonly string[];
  readonly #sequences: readonly string[];
  readonly #emptied: string;
  readonly #read: string;

  private constructor(ask: Ask, tables: readonly string[], sequences: readonly string[]) {
    this.#ask = ask;
    this.#tables = tables;
    this.#sequences = sequences;
    this.#emptied = tables.map((name) => `delete from ${name};`).join(' ');
    const read = tables.map((name) => `'${name}', (select jsonb_agg(x) from ${name} x)`);
    this.#read = `select jsonb_strip_nulls(jsonb_build_object(${read.join(', ')})) as contents`;
  }

  static async open(ask: Ask): Promise<Stored> {
    const names = (sql: string): Promise<string[]> =>
      ask<{ name: string }>(sql).then((rows) => rows.map(({ name }) => name));
    const tables = await names(
      `select relname as name from pg_class
        where relkind = 'r' and relnamespace = 'public'::regnamespace
          and relname not like 'schema_migrations%' order by oid`,
    );
    const sequences = await names(
      `select sequencename as name from pg_sequences
        where schemaname = 'public' and sequencename not like 'schema_migrations%'`,
    );
    return new Stored(ask, tables, sequences);
  }

  /** Replaces the rows of all tables. @param serial the serial number of the next row. */
  async restore(contents: Contents, serial = firstSerial): Promise<void> {
    const restarted = this.#sequences.map((name) => {
      return `perform setval('${name}', ${serial}, false);`;
    });
    const inserted = this.#tables
      .filter((name) => contents[name])
      .map((name) => {
        const rows = JSON.stringify(contents[name]).replaceAll("'", "''");
        const from = `jsonb_populate_recordset(null::${name}, '${rows}')`;
        return `insert into ${name} select * from ${from};`;
      });
    await this.#ask(`do $restored$ begin
      set local session_replication_role = replica;
      ${this.#emptied} ${restarted.join(' ')} ${inserted.join(' ')}
      end $restored$`);
  }

  async read(): Promise<Contents> {
    const [row] = await this.#ask<{ contents: Contents }>(this.#read);
    return row?.contents ?? {};
  }
}

/** The rows of each table, in no order, and the answers of operations, as texts. */
export type Comparable = Readonly<Record<string, readonly string[]>>;

/** What is stored after operations, and how they have answered. */
export interface Outcome {
  readonly contents: Contents;
  readonly rows: Comparable;
}

/** @param known the ids that were stored before: each run makes others. */
export function makeOutcome(
  contents: Contents,
  answers: readonly unknown[],
  known: ReadonlySet<string>,
): Outcome {
  const text = (value: unknown): string =>
    JSON.stringify(value ?? null, (_, part: unknown) => asKnown(part, known));
  const tables = Object.entries(contents).map(([name, rows]) => [name, rows.map(text).toSorted()]);
  return { contents, rows: { ...Object.fromEntries(tables), answers: answers.map(text) } };
}

/** The ids of a state. */
export function idsIn(contents: Contents): Set<string> {
  return new Set(JSON.stringify(contents).match(uuids));
}

/** An id that a run has made differs in each run. */
function asKnown(part: unknown, known: ReadonlySet<string>): unknown {
  if (typeof part === 'number' && part >= firstSerial && part < 2 * firstSerial) return '#';
  if (part instanceof Error) return describeError(part);
  if (isOfRows(part)) return part.toSorted((one, other) => (order(one) < order(other) ? -1 : 1));
  if (typeof part !== 'string') return part;
  if (/^1\d{6}$/.test(part)) return '#';
  return part.replaceAll(uuids, (id) => (known.has(id) || id.startsWith('00000000') ? id : '#'));
}

/** Rows that a statement returns in no order. */
function isOfRows(part: unknown): part is readonly object[] {
  return Array.isArray(part) && part.length > 1 && part.every((one) => one instanceof Object);
}

function order(row: object): string {
  return JSON.stringify(row);
}

function describeError(error: Error): string {
  const code = 'code' in error ? String(error.code) : error.message;
  return `${error.name}: ${code}`;
}
