/** The database as the rest of the service sees it: statements, units of work, notifications. */
import { MikroORM, type EntityManager, type Options } from '@mikro-orm/postgresql';
import pg from 'pg';
import { nextTurn, type Clock } from '../clock.ts';
import type { EmbeddedDatabase } from './embedded.ts';
import { GroupedCalls, type Grouping, type Ways } from './grouping.ts';
import { Notifications } from './notifications.ts';
import { ormOptions } from './orm.ts';

/** One SQL statement. Named ones are prepared once per connection. */
export interface Statement {
  readonly name: string;
  readonly text: string;
  /** Present where it is written for many calls at once: concurrent ones share a round trip. */
  readonly grouping?: Grouping;
  /** It finds its rows by an index, and is planned so however small the tables are at first. */
  readonly indexed?: true;
}

export interface Database {
  readonly kind: 'embedded' | 'postgresql';
  readonly orm: MikroORM;
  /** A fresh entity manager: one unit of work, never shared between requests. */
  em(): EntityManager;
  /** Runs one statement with bind parameters in one round trip, committed when it answers. */
  query<Row>(statement: Statement, parameters: readonly unknown[]): Promise<Row[]>;
  /** What the pool is doing at this moment; `waiting` are statements without a connection. */
  connections(): { readonly busy: number; readonly idle: number; readonly waiting: number };
  /**
   * Calls `listener` with the payload of every notification on a channel, and with an empty one
   * when notifications may have been missed.
   * @returns what takes the listener back.
   */
  listen(channel: string, listener: (payload: string) => void): Promise<() => Promise<void>>;
  /** Empties tables of what was deleted, where nothing else does: the embedded database. */
  vacuum(): Promise<void>;
  close(): Promise<void>;
}

export interface DatabaseOptions {
  /** A PostgreSQL address; without one the embedded database is opened. */
  readonly databaseUrl: string | undefined;
  readonly dataDir: string;
  readonly clock: Clock;
  /** Called for each round trip to the database. */
  readonly onQuery?: () => void;
}

/** Opens the database that the configuration names; the schema is left as it is. */
export function openDatabase(options: DatabaseOptions): Promise<Database> {
  return options.databaseUrl === undefined
    ? openEmbeddedDatabase(options)
    : openPostgres(options, options.databaseUrl);
}

async function openEmbeddedDatabase(options: DatabaseOptions): Promise<Database> {
  // Its code and its database are megabytes that a service on PostgreSQL does without.
  const { openEmbedded } = await import('./embedded.ts');
  const embedded = await openEmbedded(options.dataDir);
  try {
    const base = await openOrm(embedded.connection, options);
    return embeddedDatabase(base, embedded);
  } catch (error) {
    await embedded.close();
    throw error;
  }
}

function embeddedDatabase(base: Base, embedded: EmbeddedDatabase): Database {
  const query: Query = async (statement, parameters) => {
    await nextTurn();
    return base.query(statement, parameters);
  };
  return {
    ...base,
    kind: 'embedded',
    query: grouping(query, { together: query, alone: query }),
    // Everything goes through the pool of one: the session mixes up the answers when a statement
    // comes past it in the middle of another's transaction.
    async listen(channel, listener) {
      const stop = embedded.postgres.onNotification((told, payload) => {
        if (told === channel) listener(payload);
      });
      try {
        await base.query({ name: '', text: `listen ${channel}` }, []);
      } catch (error) {
        stop();
        throw error;
      }
      return async () => stop();
    },
    async vacuum() {
      await base.query({ name: '', text: 'vacuum' }, []);
    },
    async close() {
      await base.orm.close(true);
      await embedded.close();
    },
  };
}

async function openPostgres(options: DatabaseOptions, url: string): Promise<Database> {
  const base = await openOrm(postgresConnection(url), options);
  const notifications = new Notifications(url, options.clock);
  const indexed = indexedPool(base.pool);
  const on = <Row>(
    pool: pg.Pool,
    statement: Statement,
    parameters: readonly unknown[],
  ): Promise<Row[]> => {
    options.onQuery?.();
    return run<Row>(pool, statement, parameters);
  };
  return {
    ...base,
    kind: 'postgresql',
    query: grouping(
      (statement, parameters) => on(statement.indexed ? indexed : base.pool, statement, parameters),
      {
        together: (statement, columns) => on(indexed, statement, columns),
        alone: (statement, columns) => on(base.pool, statement, columns),
      },
    ),
    connections: () => addedUp([base.pool, indexed]),
    listen: (channel, listener) => notifications.listen(channel, listener),
    vacuum: () => Promise.resolve(),
    async close() {
      await notifications.close();
      if (!indexed.ended) await indexed.end();
      await base.orm.close(true);
    },
  };
}

type Query = Database['query'];

/** Lets the calls of a statement that is written for it share round trips. */
function grouping(query: Query, ways: Ways): Query {
  const groups = new GroupedCalls(ways);
  return <Row>(statement: Statement, parameters: readonly unknown[]): Promise<Row[]> => {
    const { name, text, grouping: rule } = statement;
    if (!rule) return query<Row>(statement, parameters);
    return groups.query({ name, text, grouping: rule }, parameters) as Promise<Row[]>;
  };
}

/** Each statement keeps the plan that its text asks for, whatever the tables hold. */
export const indexedSettings = [
  'plan_cache_mode=force_generic_plan',
  'jit=off',
  'enable_seqscan=off',
  'enable_hashjoin=off',
  'enable_mergejoin=off',
] as const;

/**
 * Connections of their own for the statements that are asked most: each finds a few rows by an
 * index. PostgreSQL would plan them by the tables as they happen to be: read whole while they are
 * empty, and so long after they have filled, compiled when they look dear, and anew for each size
 * of a group. None takes more than some milliseconds: one that does is stuck, and holds up those
 * behind it.
 */
function indexedPool(pool: pg.Pool): pg.Pool {
  const indexed = new pg.Pool({
    ...pool.options,
    max: 12,
    lock_timeout: 1_000,
    statement_timeout: 5_000,
    query_timeout: 8_000,
    options: indexedSettings.map((setting) => `-c ${setting}`).join(' '),
  });
  // A connection that breaks fails the statement on it; nobody else has to know.
  indexed.on('connect', (client) => client.on('error', () => undefined));
  indexed.on('error', () => undefined);
  return indexed;
}

function addedUp(pools: readonly pg.Pool[]): ReturnType<Database['connections']> {
  const sum = (count: (pool: pg.Pool) => number): number =>
    pools.reduce((total, pool) => total + count(pool), 0);
  return {
    busy: sum((pool) => pool.totalCount - pool.idleCount),
    idle: sum((pool) => pool.idleCount),
    waiting: sum((pool) => pool.waitingCount),
  };
}

/**
 * The whole address goes to the driver: MikroORM's own `clientUrl` drops its query, and with it
 * `sslmode`. A statement that runs away is ended by the server; a server that has fallen silent is
 * given up a little later.
 */
function postgresConnection(url: string): Partial<Options> {
  return {
    dbName: decodeURIComponent(new URL(url).pathname.slice(1)) || 'postgres',
    driverOptions: {
      connectionString: url,
      application_name: 'ponte',
      // No statement here is worth compiling, and on large tables PostgreSQL would think so.
      options: '-c jit=off',
      connectionTimeoutMillis: 5_000,
      statement_timeout: 30_000,
      query_timeout: 35_000,
      keepAlive: true,
    },
    pool: { min: 0, max: 10, idleTimeoutMillis: 30_000 },
  };
}

type Base = Pick<Database, 'orm' | 'em' | 'query' | 'connections'> & { readonly pool: pg.Pool };

async function openOrm(connection: Partial<Options>, options: DatabaseOptions): Promise<Base> {
  const onQuery = options.onQuery ?? (() => undefined);
  const orm = await MikroORM.init({
    ...ormOptions(connection),
    // The logger is never printed: it is where MikroORM tells of each round trip.
    debug: ['query'],
    logger: onQuery,
    colors: false,
  });
  const pool = await nativePool(orm);
  giveBackLost(pool);
  return {
    orm,
    pool,
    em: () => orm.em.fork(),
    connections: () => addedUp([pool]),
    query<Row>(statement: Statement, parameters: readonly unknown[]): Promise<Row[]> {
      onQuery();
      return run<Row>(pool, statement, parameters);
    },
  };
}

async function run<Row>(
  pool: pg.Pool,
  { name, text }: Statement,
  parameters: readonly unknown[],
): Promise<Row[]> {
  const result = await pool.query<Cells>({ name, text, values: [...parameters] });
  return withDates(result) as Row[];
}

type Cells = Record<string, unknown>;

const { TIMESTAMPTZ } = pg.types.builtins;
const timestamptz: number = TIMESTAMPTZ;
const readInstant = pg.types.getTypeParser(TIMESTAMPTZ) as (text: string) => unknown;

/** MikroORM has the driver leave points in time as text; a statement's rows carry them as dates. */
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
 * A transaction whose connection breaks cannot roll back, and MikroORM's query builder gives back
 * only what it could: without this the pool has one place less, and never closes.
 */
function giveBackLost(pool: pg.Pool): void {
  const taken = new Set<pg.PoolClient>();
  const known = new WeakSet<pg.PoolClient>();
  pool.on('release', (_error, client) => taken.delete(client));
  pool.on('acquire', (client) => {
    taken.add(client);
    if (known.has(client)) return;
    known.add(client);
    const giveBack = async (): Promise<void> => {
      // Whoever gives it back by himself does so before the next turn of the event loop.
      await nextTurn();
      if (taken.has(client)) client.release(true);
    };
    client.once('end', () => void giveBack());
  });
}

async function nativePool(orm: MikroORM): Promise<pg.Pool> {
  await orm.connect();
  return orm.em.getConnection().getNativeClient();
}
