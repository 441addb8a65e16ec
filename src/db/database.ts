/** The database as the rest of the service sees it: statements, units of work, notifications. */
import type { EntityManager, MikroORM } from '@mikro-orm/postgresql';
import type pg from 'pg';
import { nextTurn, pause, type Clock } from '../clock.ts';
import type { EmbeddedDatabase } from './embedded.ts';
import {
  QueryBatcher,
  type BatchedStatement,
  type BatchRunners,
  type CallParameters,
} from './batcher.ts';
import { Notifications } from './notifications.ts';
import type { OrmOptions } from './orm.ts';
import { span, type Tracing } from '../telemetry/tracing.ts';
import {
  appEventsSetting,
  indexedPool,
  migrationConnection,
  openPool,
  postgresConnection,
  run,
  runInTurn,
  runTransaction,
  unitConnection,
  type Connection,
} from './pool.ts';
import { preparedRunner } from './prepared-query.ts';
import { bind, baseName, type Statement } from './statement.ts';
import { WarmConnections } from './warm-connections.ts';

export type { Statement } from './statement.ts';

/**
 * Runs one statement in one round trip; its result is committed, unless it is a part of a
 * transaction. The parameters of a statement without names are an array.
 */
export type Query = <Row, Parameters = readonly unknown[]>(
  statement: Statement<Row, Parameters>,
  parameters: NoInfer<Parameters>,
) => Promise<Row[]>;

export interface Database {
  readonly kind: 'embedded' | 'postgresql';
  /**
   * MikroORM, loaded at the first call, which blocks the event loop for some 0.2 s. A server calls
   * it when it has started, so that no customer waits; a migration at the start calls it earlier,
   * and a worker or a command when it first needs an entity.
   */
  orm(): Promise<MikroORM>;
  /** A fresh entity manager, never shared between requests; in a transaction that of its unit. */
  em(): Promise<EntityManager>;
  /**
   * Runs `work` with a MikroORM for migrations, on a connection of its own that waits at most 1.5 s
   * for a lock. The embedded database has one connection, so `work` gets the MikroORM of `orm`.
   */
  migrating<Result>(work: (orm: MikroORM) => Promise<Result>): Promise<Result>;
  readonly query: Query;
  /**
   * Runs `work` in one transaction, on one connection, which `work` has to itself: it must wait for
   * nothing else. Its argument is this database in the transaction: statements, batched or not, and
   * entities are the same there, and share one commit. It commits when `work` resolves, and rolls
   * back when it rejects. A transaction within it is a part of it.
   */
  transaction<Result>(work: (transaction: Database) => Promise<Result>): Promise<Result>;
  /** Whether this is a transaction: what is read and written here may be rolled back. */
  readonly isTransaction: boolean;
  /** The connections at this moment; `waiting` are statements without a connection. */
  connections(): { readonly busy: number; readonly idle: number; readonly waiting: number };
  /**
   * Calls `listener` with the payload of every notification on a channel. It is called with an
   * empty payload when notifications stop arriving and when they arrive again: some may have been
   * missed. While the server cannot be reached, it resolves, too.
   * @returns a function that removes the listener.
   * @throws Error when the database is closed.
   */
  listen(channel: string, listener: (payload: string) => void): Promise<() => Promise<void>>;
  /** Whether notifications arrive. While they do not, a listener has to poll. */
  notificationsUp(): boolean;
  /**
   * Keeps a few connections open, with these statements prepared, so that no customer waits for a
   * new one. A server calls it when it has started. It resolves when the first ones are ready,
   * never rejects, and does nothing on the embedded database, which has one session.
   */
  keepWarm(statements: readonly Statement[]): Promise<void>;
  /** Vacuums the embedded database; a server does so itself. */
  vacuum(): Promise<void>;
  close(): Promise<void>;
}

export interface DatabaseOptions {
  /** A PostgreSQL address; without one the embedded database is opened. */
  readonly databaseUrl: string | undefined;
  readonly dataDir: string;
  readonly clock: Clock;
  /** Whether changes write events for the app's backend; by default not. */
  readonly appEvents?: boolean;
  /** Records each batch; by default nothing does. */
  readonly tracing?: Tracing | null;
  /** Called for each round trip to the database. */
  readonly onQuery?: () => void;
  /** Called when notifications stop arriving, and when they arrive again. */
  readonly onNotifications?: (areUp: boolean) => void;
}

/** Opens the database, without changing its schema. A server gets no statement yet. */
export async function openDatabase(options: DatabaseOptions): Promise<Database> {
  return options.databaseUrl === undefined
    ? openEmbeddedDatabase(options)
    : openPostgres(options, options.databaseUrl);
}

async function openEmbeddedDatabase(options: DatabaseOptions): Promise<Database> {
  // Imported only here: a service on PostgreSQL does not need its megabytes of code.
  const { openEmbedded } = await import('./embedded.ts');
  const embedded = await openEmbedded(options.dataDir);
  const base = openBase(embedded.connection, options);
  const [name = '', value = ''] = appEventsSetting.split('=');
  const setting = options.appEvents ? value : 'off';
  await base.query({ name: '', text: 'select set_config($1, $2, false)' }, [name, setting]);
  return embeddedDatabase(base, embedded);
}

function embeddedDatabase(base: Base, embedded: EmbeddedDatabase): Database {
  const runYielding: Run = async (statement, values) => {
    await nextTurn();
    return base.run(statement, values);
  };
  return withTransactions(base.units, {
    ...base,
    kind: 'embedded',
    migrating: async (work) => work(await base.orm()),
    query: batched(runYielding, { batched: runYielding, single: runYielding }),
    // LISTEN runs through the pool: a statement that bypasses it during a transaction makes the
    // session mix up the results.
    async listen(channel, listener) {
      const stop = embedded.postgres.onNotification((notified, payload) => {
        if (notified === channel) listener(payload);
      });
      try {
        await base.query({ name: '', text: `listen ${channel}` }, []);
      } catch (error) {
        stop();
        throw error;
      }
      return async () => stop();
    },
    notificationsUp: () => true,
    keepWarm: () => Promise.resolve(),
    async vacuum() {
      await base.query({ name: '', text: 'vacuum' }, []);
    },
    async close() {
      await base.close();
      await embedded.close();
    },
  });
}

/** How long closing waits, in ms: longer than any statement that is still in flight then. */
const maxCloseMs = 5_000;

function openPostgres(options: DatabaseOptions, url: string): Database {
  const base = openBase(
    postgresConnection(url, options),
    options,
    openPool(unitConnection(url, options)),
  );
  const { clock, onNotifications: onChange } = options;
  const notifications = new Notifications({ url, clock, ...(onChange && { onChange }) });
  const indexed = indexedPool(base.pool, options);
  const runPrepared = preparedRunner(indexed);
  const warm: WarmConnections[] = [];
  const runIndexed: Run = (statement, values) => {
    options.onQuery?.();
    return runPrepared(statement, values);
  };
  return withTransactions(base.units, {
    ...base,
    kind: 'postgresql',
    async migrating(work) {
      const own = openBase(migrationConnection(url), options);
      try {
        return await work(await own.orm());
      } finally {
        await own.close();
      }
    },
    query: batched(
      (statement, values) => (statement.indexed ? runIndexed : base.run)(statement, values),
      {
        batched(statement, values) {
          const { tracing = null } = options;
          if (tracing === null) return runIndexed(statement, values);
          return span(tracing, batchFacts(statement, values), () => runIndexed(statement, values));
        },
        single: base.run,
      },
    ),
    connections: () => sumConnections([base.pool, base.units.pool, indexed]),
    listen: (channel, listener) => notifications.listen(channel, listener),
    notificationsUp: () => notifications.areUp,
    async keepWarm(statements) {
      const batchedOnes = statements.filter(isBatched);
      const kept = (pool: pg.Pool, count: number, prepared: readonly BatchedStatement[]) =>
        new WarmConnections({ pool, count, statements: prepared, clock });
      warm.push(
        kept(indexed, 3, batchedOnes),
        kept(base.pool, 2, []),
        kept(base.units.pool, 2, []),
      );
      await Promise.all(warm.map((one) => one.start()));
    },
    vacuum: () => Promise.resolve(),
    async close() {
      for (const one of warm) one.stop();
      await notifications.close();
      const isClosed = new AbortController();
      const closed = Promise.all([indexed.ending || indexed.end(), base.close()]);
      // Abandon a statement that a silent server does not answer: no caller waits for it any more.
      const late = pause(clock, maxCloseMs, isClosed.signal);
      await Promise.race([closed, late]).finally(() => isClosed.abort());
    },
  });
}

/** Runs a statement with the values of `$1`, `$2`, …. */
export type Run = <Row>(
  statement: Pick<Statement, 'name' | 'text' | 'names' | 'indexed'>,
  values: readonly unknown[],
) => Promise<Row[]>;

/** Binds the parameters of statements, and batches the calls of those that take arrays. */
export function batched(runSingle: Run, runners: BatchRunners): Query {
  const batcher = new QueryBatcher(runners);
  return <Row, Parameters>(
    statement: Statement<Row, Parameters>,
    parameters: Parameters,
  ): Promise<Row[]> => {
    if (!isBatched(statement)) return runSingle<Row>(statement, bind(statement, parameters));
    const call = parameters as CallParameters;
    return batcher.query(statement, call) as unknown as Promise<Row[]>;
  };
}

function isBatched(
  statement: Pick<Statement, 'name' | 'text' | 'names' | 'batching'>,
): statement is BatchedStatement {
  return statement.batching !== undefined;
}

/** A batch serves many requests, so that its span begins a trace of its own. */
function batchFacts({ name }: Pick<Statement, 'name'>, [first]: readonly unknown[]) {
  const operation = baseName(name);
  const attributes = {
    'db.system.name': 'postgresql',
    'db.operation.name': operation,
    'db.operation.batch.size': Array.isArray(first) ? first.length : 1,
  };
  return { name: operation, kind: 'client', attributes } as const;
}

/** Adds what is the same for both kinds of database. */
function withTransactions(
  units: Units,
  own: Omit<Database, 'transaction' | 'isTransaction'>,
): Database {
  const database: Database = {
    ...own,
    isTransaction: false,
    transaction: (work) => transactionOn(units, database, work),
  };
  return database;
}

/** The connections of transactions. */
interface Units {
  readonly pool: pg.Pool;
  readonly onReserve?: () => Promise<void>;
  readonly onQuery: () => void;
}

/** See {@link Database.transaction}. */
async function transactionOn<Result>(
  { pool, onReserve, onQuery }: Units,
  database: Database,
  work: (transaction: Database) => Promise<Result>,
): Promise<Result> {
  await onReserve?.();
  return runTransaction(pool, async (client) => {
    const connection = runInTurn(client);
    let unit = null as Promise<EntityManager> | null;
    const openUnit = async (): Promise<EntityManager> => {
      const [orm, { unitOfTransaction }] = await Promise.all([database.orm(), import('./orm.ts')]);
      return unitOfTransaction(orm, connection);
    };
    const transaction: Database = {
      ...database,
      isTransaction: true,
      query(statement, parameters) {
        onQuery();
        return run(connection, statement.alone ?? statement, bind(statement, parameters));
      },
      em: () => (unit ??= openUnit()),
      transaction: (inner) => inner(transaction),
    };
    const result = await work(transaction);
    await (await unit)?.flush();
    return result;
  });
}

function sumConnections(pools: readonly pg.Pool[]): ReturnType<Database['connections']> {
  const sum = (count: (pool: pg.Pool) => number): number =>
    pools.reduce((total, pool) => total + count(pool), 0);
  return {
    busy: sum((pool) => pool.totalCount - pool.idleCount),
    idle: sum((pool) => pool.idleCount),
    waiting: sum((pool) => pool.waitingCount),
  };
}

type Base = Pick<Database, 'orm' | 'em' | 'query' | 'connections' | 'close'> & {
  readonly pool: pg.Pool;
  readonly units: Units;
  readonly run: Run;
};

/**
 * The common part of both kinds of database.
 * @param ownUnits MikroORM's own pool; if absent, MikroORM shares the pool of the statements.
 */
function openBase(
  { onReserve, ...config }: Connection,
  options: DatabaseOptions,
  ownUnits?: pg.Pool,
): Base {
  const onQuery = options.onQuery ?? (() => undefined);
  const pool = openPool(config);
  const unitsPool = ownUnits ?? pool;
  let opened: Promise<MikroORM> | null = null;
  const orm = (): Promise<MikroORM> => {
    opened ??= openOrm({ pool: unitsPool, onReserve, onQuery }).catch((error: unknown) => {
      // For example, too many open files: the next call may succeed.
      opened = null;
      throw error;
    });
    return opened;
  };
  const runHere: Run = (statement, values) => {
    onQuery();
    return run(pool, statement, values);
  };
  return {
    pool,
    units: { pool: unitsPool, onQuery, ...(onReserve && { onReserve }) },
    orm,
    em: async () => (await orm()).em.fork(),
    connections: () => sumConnections([pool]),
    run: runHere,
    query: (statement, parameters) => runHere(statement, bind(statement, parameters)),
    async close() {
      const loaded = await opened?.catch(() => null);
      await loaded?.close(true);
      // MikroORM ends the pool that it has used; the remaining ones are ended here.
      for (const one of new Set([unitsPool, pool])) if (!one.ending) await one.end();
    },
  };
}

async function openOrm(options: OrmOptions): Promise<MikroORM> {
  const module = await import('./orm.ts');
  return module.openOrm(options);
}
