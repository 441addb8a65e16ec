/** The database as the rest of the service sees it: statements, units of work, notifications. */
import { MikroORM, type EntityManager, type Options } from '@mikro-orm/postgresql';
import pg from 'pg';
import type { Clock } from '../clock.ts';
import { openEmbedded, yieldToEventLoop, type EmbeddedDatabase } from './embedded.ts';
import { Notifications } from './notifications.ts';
import { ormOptions } from './orm.ts';

/** One SQL statement. Named ones are prepared once per connection. */
export interface Statement {
  readonly name: string;
  readonly text: string;
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
  return {
    ...base,
    kind: 'embedded',
    async query(statement, parameters) {
      await yieldToEventLoop();
      return base.query(statement, parameters);
    },
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
  return {
    ...base,
    kind: 'postgresql',
    listen: (channel, listener) => notifications.listen(channel, listener),
    vacuum: () => Promise.resolve(),
    async close() {
      await notifications.close();
      await base.orm.close(true);
    },
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
      connectionTimeoutMillis: 5_000,
      statement_timeout: 30_000,
      query_timeout: 35_000,
      keepAlive: true,
    },
    pool: { min: 0, max: 10, idleTimeoutMillis: 30_000 },
  };
}

type Base = Pick<Database, 'orm' | 'em' | 'query' | 'connections'>;

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
    em: () => orm.em.fork(),
    connections: () => ({
      busy: pool.totalCount - pool.idleCount,
      idle: pool.idleCount,
      waiting: pool.waitingCount,
    }),
    async query<Row>(statement: Statement, parameters: readonly unknown[]): Promise<Row[]> {
      onQuery();
      const result = await pool.query<Cells>({
        name: statement.name,
        text: statement.text,
        values: [...parameters],
      });
      return withDates(result) as Row[];
    },
  };
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
      await yieldToEventLoop();
      if (taken.has(client)) client.release(true);
    };
    client.once('end', () => void giveBack());
  });
}

async function nativePool(orm: MikroORM): Promise<pg.Pool> {
  await orm.connect();
  return orm.em.getConnection().getNativeClient();
}
