/** The driver's pools: their connections, and how a statement runs on one. */
import pg from 'pg';
import { nextTurn } from '../clock.ts';
import { connectionAddress } from './tls.ts';
import { markUnopened } from './unavailable.ts';

/** A commit is confirmed once it is on disk. */
const durable = '-c synchronous_commit=on';

/** With it, the triggers write app events (`entities/app-event.ts`). */
export const appEventsSetting = 'ponte.app_events=on';

/** How the sessions of a process differ. */
export interface Session {
  /** Whether their changes write app events. */
  readonly appEvents?: boolean;
}

/**
 * The server ends a statement that runs too long. If the server does not respond, the driver gives
 * up a little later.
 */
export function postgresConnection(url: string, { appEvents = false }: Session = {}): Connection {
  return {
    ...connectionAddress(url),
    application_name: 'ponte',
    // JIT is off: PostgreSQL would compile statements on large tables, and none here gains by it.
    // Each step of a payment is on disk before the next, whatever the server's default is.
    options: `-c jit=off ${durable}${appEvents ? ` -c ${appEventsSetting}` : ''}`,
    connectionTimeoutMillis: 5_000,
    statement_timeout: 30_000,
    query_timeout: 35_000,
    keepAlive: true,
    max: 10,
    idleTimeoutMillis: 30_000,
  };
}

/**
 * The one connection of migrations. A statement that waits for a table's lock makes all later ones
 * on that table wait behind it, so its wait is short. It is longer than `deadlock_timeout`, which
 * is a second by default: then PostgreSQL interrupts an autovacuum that holds the lock.
 */
export function migrationConnection(url: string): Connection {
  return { ...postgresConnection(url), max: 1, lock_timeout: 1_500, query_timeout: 0 };
}

/** How the driver reaches a database, and a hook before each use of a connection. */
export interface Connection extends pg.PoolConfig {
  readonly onReserve?: () => Promise<void>;
}

/**
 * The connections of MikroORM's units of work, separate from those of the statements: a unit is
 * mostly an onboarding, which anyone may begin, and holds a connection and a row's lock for several
 * round trips. Contention on one row thus delays no login and no payment.
 */
export function unitConnection(url: string, session: Session = {}): Connection {
  return { ...postgresConnection(url, session), max: 6, lock_timeout: 2_000 };
}

/** A pool for the statements or for MikroORM's units of work. */
export function openPool(config: pg.PoolConfig): pg.Pool {
  const pool = quiet(new BoundedPool({ Client: MarkingClient, ...config, types: textTypes() }));
  releaseLost(pool);
  return pool;
}

/** Each statement keeps one plan, by its indexes, whatever the tables contain. */
export const indexedSettings = [
  'plan_cache_mode=force_generic_plan',
  'jit=off',
  'synchronous_commit=on',
  'enable_seqscan=off',
  'enable_hashjoin=off',
  'enable_mergejoin=off',
] as const;

/**
 * Separate connections for the most frequent statements. Each finds a few rows by an index, and the
 * settings of these connections make the planner use it. By default the planner would choose a
 * sequential scan for an empty table, keep that plan when the table has filled, compile statements
 * that seem expensive, and plan again for each batch size.
 *
 * Such a statement takes a few milliseconds at most. A longer one is stuck and delays the
 * statements behind it, so its time-out is short.
 */
export function indexedPool(pool: pg.Pool, { appEvents = false }: Session = {}): pg.Pool {
  const settings = appEvents ? [...indexedSettings, appEventsSetting] : indexedSettings;
  return quiet(
    new BoundedPool({
      ...pool.options,
      max: 12,
      lock_timeout: 1_000,
      statement_timeout: 5_000,
      // `prepared-query.ts` limits each statement itself.
      query_timeout: 0,
      options: settings.map((setting) => `-c ${setting}`).join(' '),
    }),
  );
}

/** The driver's client, which marks the error of a connection that does not open. */
class MarkingClient extends pg.Client {
  override connect(): Promise<pg.Client>;
  override connect(callback: (error: Error | null) => void): void;
  override connect(callback?: (error: Error | null) => void): Promise<pg.Client> | void {
    if (!callback) return super.connect();
    super.connect((error: Error | null) => callback(error && markUnopened(error)));
  }
}

/** The pool is exhausted: SQLSTATE 53300 (too_many_connections), as a full server says it. */
class PoolExhausted extends Error {
  readonly code = '53300';

  constructor() {
    super('too many statements wait for a connection');
    this.name = 'PoolExhausted';
  }
}

type Connected = Parameters<pg.Pool['connect']>[0];

/** A pool that refuses a statement at once when too many others wait. */
class BoundedPool extends pg.Pool {
  override connect(): Promise<pg.PoolClient>;
  override connect(callback: Connected): void;
  override connect(callback?: Connected): Promise<pg.PoolClient> | void {
    const isExhausted = this.waitingCount >= maxWaiting;
    if (!callback) {
      return isExhausted ? Promise.reject(new PoolExhausted()) : super.connect();
    }
    if (isExhausted) return callback(new PoolExhausted(), undefined, () => undefined);
    if (this.idleCount === 0 || this.waitingCount > 0) return super.connect(callback);
    // At once: the driver would wait for a turn, with a timer in case that no connection is free.
    const { _pendingQueue: waiting, _pulseQueue: pulse } = this as unknown as PoolParts;
    waiting.push({ callback });
    pulse.call(this);
  }
}

/** Private members of the driver's pool. */
interface PoolParts {
  readonly _pendingQueue: { readonly callback: Connected }[];
  _pulseQueue(): void;
}

/** How many statements may wait for a connection: a few tenths of a second at the usual rate. */
const maxWaiting = 500;

/** A lost connection fails the statement on it; an idle one needs no handling. */
function quiet(pool: pg.Pool): pg.Pool {
  pool.on('connect', (client) => client.on('error', () => undefined));
  pool.on('error', () => undefined);
  return pool;
}

/**
 * Runs `work` in a transaction on a connection of the pool. A connection that cannot roll back is
 * closed.
 */
export async function runTransaction<Result>(
  pool: pg.Pool,
  work: (client: pg.PoolClient) => Promise<Result>,
): Promise<Result> {
  const client = await pool.connect();
  try {
    await client.query('begin');
    const result = await work(client);
    const { command } = await client.query('commit');
    // The server rolls back a transaction with a failed statement, and reports no error.
    if (command !== 'COMMIT') throw new Error('a transaction with a failed statement was undone');
    client.release();
    return result;
  } catch (error) {
    const isRolledBack = await client.query('rollback').then(
      () => true,
      () => false,
    );
    client.release(!isRolledBack);
    throw error;
  }
}

/** One connection, as the statements of a transaction see it. */
export type TransactionConnection = Pick<pg.Pool, 'query'>;

/** @returns the connection for statements that are called at once: they run one by one. */
export function runInTurn(client: pg.PoolClient): TransactionConnection {
  let last: Promise<unknown> = Promise.resolve();
  const query = (...call: Parameters<pg.PoolClient['query']>): Promise<unknown> => {
    const response = last.then(() => client.query(...call));
    last = response.catch(() => undefined);
    return response;
  };
  return { query: query as unknown as pg.Pool['query'] };
}

/** Runs a statement once, on a connection. A named statement is prepared there. */
export async function run<Row>(
  connection: Pick<pg.Pool, 'query'>,
  { name, text }: { readonly name: string; readonly text: string },
  parameters: readonly unknown[],
): Promise<Row[]> {
  const result = await connection.query<Cells>({ name, text, values: [...parameters] });
  return withDates(result) as Row[];
}

type Cells = Record<string, unknown>;

const { DATE, INTERVAL, TIMESTAMP, TIMESTAMPTZ } = pg.types.builtins;
const timestamptz: number = TIMESTAMPTZ;
const parseInstant = pg.types.getTypeParser(TIMESTAMPTZ) as (text: string) => unknown;

/** A session in UTC writes nearly ISO 8601: that costs a quarter of the driver's own parser. */
function readInstant(text: string): unknown {
  const isUtc = text[10] === ' ' && text.endsWith('+00');
  return isUtc ? new Date(`${text.slice(0, 10)}T${text.slice(11, -3)}Z`) : parseInstant(text);
}

/**
 * MikroORM parses timestamps from their text, so the pool that it shares does not; no table has
 * arrays of them.
 */
function textTypes(): pg.CustomTypesConfig {
  const types = new pg.TypeOverrides();
  for (const type of [DATE, INTERVAL, TIMESTAMP, TIMESTAMPTZ]) {
    types.setTypeParser(type, (text) => text);
  }
  return types;
}

type ColumnParser = (text: string) => unknown;

/** A column may have a type that the driver's enumeration does not list. */
interface ColumnParsers {
  getTypeParser(type: number, format: 'text'): ColumnParser;
}

const ownTypes: ColumnParsers = textTypes();

/** @returns how a column of a statement's result is read from its text: timestamps as dates. */
export function columnParser(type: number): ColumnParser {
  return type === timestamptz ? readInstant : ownTypes.getTypeParser(type, 'text');
}

/** The rows of a statement have timestamps as dates. */
function withDates(result: pg.QueryResult<Cells>): Cells[] {
  const columns = result.fields.filter(({ dataTypeID }) => dataTypeID === timestamptz);
  if (columns.length === 0) return result.rows;
  for (const row of result.rows) {
    for (const { name } of columns) {
      const text = row[name];
      if (typeof text === 'string') row[name] = readInstant(text);
    }
  }
  return result.rows;
}

/**
 * A transaction on a lost connection cannot roll back, and MikroORM's query builder releases only
 * connections that it could roll back: without this the pool loses a connection and never closes.
 */
function releaseLost(pool: pg.Pool): void {
  const taken = new Set<pg.PoolClient>();
  const known = new WeakSet<pg.PoolClient>();
  pool.on('release', (_error, client) => taken.delete(client));
  pool.on('acquire', (client) => {
    taken.add(client);
    if (known.has(client)) return;
    known.add(client);
    const release = async (): Promise<void> => {
      // A caller that releases the connection does so before the next turn of the event loop.
      await nextTurn();
      if (taken.has(client)) client.release(true);
    };
    client.once('end', () => void release());
  });
}
