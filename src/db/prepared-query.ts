/**
 * How a statement of the indexed pool is sent to a server, for many calls or for one: its whole
 * message in one text and one write, its columns described once for each connection, its rows read
 * without intermediate objects, its time limited by one timer for each connection. A batch of eight
 * costs 22 % less CPU in this process than with the driver's own query (67 -> 52 µs), which writes
 * four buffers and describes the columns each time.
 *
 * It is a `Submittable` of the driver, which still prepares the statement, and reads the server's
 * messages.
 */
import type pg from 'pg';
import type { BatchedStatement, Prepared } from './batcher.ts';
import { restartable } from '../clock.ts';
import { columnParser } from './pool.ts';

interface Column {
  readonly name: string;
  readonly parse: (text: string) => unknown;
}

/** The members of the driver's connection that are used here and missing in its types. */
interface Wire {
  readonly stream: {
    cork(): void;
    uncork(): void;
    write(text: string, encoding: 'latin1'): boolean;
  };
  readonly parsedStatements: Readonly<Record<string, string>>;
  parse(statement: { readonly name: string; readonly text: string }): void;
}

/** How long a query may take. It is longer than the time-out of the server, which may be silent. */
const maxQueryMs = 8_000;

/** What is kept of a connection, which runs one query at a time. */
class Line {
  /** The columns of its statements, as the server has described them. */
  readonly columns = new Map<string, readonly Column[]>();
  readonly #startTimer: () => void;
  #query: PreparedQuery | null = null;

  constructor(limitMs: number) {
    this.#startTimer = restartable(limitMs, () => {
      this.#query?.handleError(new Error('Query read timeout'));
    });
  }

  begin(query: PreparedQuery): void {
    this.#query = query;
    this.#startTimer();
  }
}

const lines = new WeakMap<Wire, Line>();

function lineOf(wire: Wire, limitMs: number): Line {
  let line = lines.get(wire);
  if (line === undefined) lines.set(wire, (line = new Line(limitMs)));
  return line;
}

/**
 * Runs statements on the connections of a pool.
 * @param limitMs how long each may take, in ms of real time.
 */
export function preparedRunner(
  pool: pg.Pool,
  limitMs: number = maxQueryMs,
): <Row>(statement: Prepared, values: readonly unknown[]) => Promise<Row[]> {
  return <Row>(statement: Prepared, values: readonly unknown[]) =>
    new Promise<Row[]>((resolve, reject) => {
      const query = new PreparedQuery(statement, values, { limitMs });
      pool.connect((failure, client, release) => {
        if (failure || !client) return reject(failure ?? new Error('there is no connection'));
        send(client, query, (error, rows) => {
          release(error);
          if (error) reject(error);
          else resolve(rows as Row[]);
        });
      });
    });
}

/**
 * Prepares both forms of a statement on a connection: the batched one is run without calls, so that
 * it reads and writes no row; the one for one call is only planned.
 */
export async function prepareStatement(
  client: pg.PoolClient,
  { alone, ...statement }: BatchedStatement,
): Promise<void> {
  const { names } = statement;
  const run = (query: PreparedQuery): Promise<void> =>
    new Promise((resolve, reject) => {
      send(client, query, (error) => (error ? reject(error) : resolve()));
    });
  if (alone) {
    const nothing = names.map(() => null);
    await run(new PreparedQuery(alone, nothing, { isOnlyPlanned: true }));
  }
  const withoutCalls = names.map(() => []);
  await run(new PreparedQuery(statement, withoutCalls));
}

type Done = (error: Error | null, rows: readonly unknown[]) => void;

function send(client: pg.PoolClient, query: PreparedQuery, done: Done): void {
  query.callback = (error) => done(error, query.rows);
  client.query(query as unknown as pg.Submittable);
}

class PreparedQuery {
  readonly name: string;
  readonly text: string;
  readonly rows: Record<string, unknown>[] = [];
  callback: ((error: Error | null) => void) | null = null;
  readonly #bind: string;
  readonly #isOnlyPlanned: boolean;
  readonly #limitMs: number;
  #line: Line | null = null;
  #columns: readonly Column[] = [];
  #failure: Error | null = null;

  constructor(
    { name, text }: Prepared,
    values: readonly unknown[],
    { isOnlyPlanned = false, limitMs = maxQueryMs } = {},
  ) {
    this.name = name;
    this.text = text;
    this.#bind = encodeBind(name, values);
    this.#isOnlyPlanned = isOnlyPlanned;
    this.#limitMs = limitMs;
  }

  submit(wire: Wire): void {
    const line = lineOf(wire, this.#limitMs);
    const columns = line.columns.get(this.name);
    this.#line = line;
    this.#columns = columns ?? [];
    const message = this.#bind + this.#findEnd(columns !== undefined);
    line.begin(this);
    if (wire.parsedStatements[this.name] !== undefined) {
      wire.stream.write(message, 'latin1');
      return;
    }
    wire.stream.cork();
    wire.parse(this);
    wire.stream.write(message, 'latin1');
    wire.stream.uncork();
  }

  #findEnd(isDescribed: boolean): string {
    if (this.#isOnlyPlanned) return describe;
    return isDescribed ? execute : describeAndExecute;
  }

  handleRowDescription({ fields }: { readonly fields: readonly pg.FieldDef[] }): void {
    this.#columns = fields.map(({ name, dataTypeID: type }) => ({
      name,
      parse: columnParser(type),
    }));
    this.#line?.columns.set(this.name, this.#columns);
  }

  handleDataRow({ fields: texts }: { readonly fields: readonly (string | null)[] }): void {
    try {
      const row: Record<string, unknown> = {};
      // An iterator would make an array for each cell.
      for (let place = 0; place < texts.length; place += 1) {
        const text = texts[place] ?? null;
        const column = this.#columns[place];
        if (column) row[column.name] = text === null ? null : column.parse(text);
      }
      this.rows.push(row);
    } catch (error) {
      this.#failure = error as Error;
    }
  }

  handleCommandComplete(): void {
    // Required by the driver; the number of affected rows is not used.
  }

  handleEmptyQuery(): void {
    // Required by the driver; no statement is empty.
  }

  /** Ends the query once: the driver may report the end of its connection, too. */
  handleError(error: Error | null): void {
    const { callback } = this;
    this.callback = null;
    callback?.(error);
  }

  handleReadyForQuery(): void {
    this.handleError(this.#failure);
  }
}

/** What follows a Bind, for the unnamed portal: Describe and Execute, before Sync. */
const describePortal = 'D\0\0\0\x06P\0';
const executePortal = 'E\0\0\0\x09\0\0\0\0\0';
const sync = 'S\0\0\0\x04';
const describe = describePortal + sync;
const execute = executePortal + sync;
const describeAndExecute = describePortal + executePortal + sync;

/**
 * Bind (PostgreSQL, "Message Formats"), with a character for each byte. All values and all results
 * are texts.
 */
function encodeBind(name: string, values: readonly unknown[]): string {
  // The unnamed portal; the statement; no formats.
  let bind = `\0${name}\0\0\0${int16(values.length)}`;
  for (const value of values) {
    const text = valueText(value);
    if (text === null) {
      bind += lengthOfNull;
    } else {
      const bytes = utf8(text);
      bind += int32(bytes.length) + bytes;
    }
  }
  bind += '\0\0';
  return `B${int32(4 + bind.length)}${bind}`;
}

const lengthOfNull = '\xff\xff\xff\xff';

function int16(value: number): string {
  return String.fromCharCode(value >> 8, value & 255);
}

function int32(value: number): string {
  return int16(value >>> 16) + int16(value & 65_535);
}

/** A text in UTF-8, with a character for each byte: ASCII is the same. */
function utf8(text: string): string {
  return Buffer.byteLength(text) === text.length ? text : Buffer.from(text).toString('latin1');
}

/** The text of a parameter; null: NULL. */
function valueText(value: unknown): string | null {
  if (value === null || value === undefined) return null;
  if (typeof value === 'string') return value;
  if (Array.isArray(value)) return arrayText(value);
  if (Buffer.isBuffer(value)) return `\\x${value.toString('hex')}`;
  if (value instanceof Date) return value.toISOString();
  // A number or a boolean has the same text in JSON.
  return JSON.stringify(value);
}

/** The literal of an array (PostgreSQL, "Array Input and Output Syntax"). */
function arrayText(values: readonly unknown[]): string {
  return `{${values.map(element).join(',')}}`;
}

function element(value: unknown): string {
  if (value === null || value === undefined) return 'NULL';
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  return Array.isArray(value) ? arrayText(value) : quoted(valueText(value) ?? '');
}

function quoted(text: string): string {
  const isPlain = !text.includes('"') && !text.includes('\\');
  return isPlain ? `"${text}"` : `"${text.replaceAll(/["\\]/g, String.raw`\$&`)}"`;
}
