/**
 * MikroORM: for units of work that read, decide and write, and for migrations. Its options are the
 * same for the service and for its command line.
 */
import { defineConfig, MikroORM, type EntityManager, type Options } from '@mikro-orm/postgresql';
import { Migrator } from '@mikro-orm/migrations';
// The version that MikroORM itself requires: its connections are passed as a part of it.
import { Kysely, PostgresDialect } from 'kysely';
import type pg from 'pg';
import { BoundDriver } from './bound-driver.ts';
import { entities } from './entities/index.ts';
import { migrationsFolder } from './migrations-folder.ts';
import type { TransactionConnection } from './pool.ts';

/**
 * @param connection how the database is reached: driver options, pool, name.
 * @returns the options to start MikroORM with.
 */
export function ormOptions(connection: Partial<Options>): Options {
  return defineConfig({
    entities,
    extensions: [Migrator],
    forceUtcTimezone: true,
    migrations: {
      path: migrationsFolder,
      pathTs: migrationsFolder,
      tableName: 'schema_migrations',
      snapshotName: 'schema',
      // A start must not write into the source tree; `migration:create` refreshes the snapshot.
      snapshotOnMigrate: false,
      emit: 'ts',
      // No transaction around all migrations, so that each holds its locks only for a short time.
      allOrNothing: false,
    },
    ...connection,
  });
}

export interface OrmOptions {
  /** The connections that it uses; closing MikroORM ends the pool once it was used. */
  readonly pool: pg.Pool;
  /** Awaited before each use of a connection. */
  readonly onReserve?: (() => Promise<void>) | undefined;
  /** Called for each round trip to the database. */
  readonly onQuery: () => void;
}

/** Opens MikroORM on existing connections. */
export async function openOrm({ pool, onReserve, onQuery }: OrmOptions): Promise<MikroORM> {
  const dialect = new PostgresDialect({
    pool,
    ...(onReserve && { onReserveConnection: onReserve }),
  });
  const orm = await MikroORM.init({
    ...ormOptions({ dbName: 'ponte', driver: BoundDriver, driverOptions: () => dialect }),
    // Opening it sends no statement to the server.
    ensureDatabase: false,
    // The logger prints nothing: MikroORM calls it for each round trip.
    debug: ['query'],
    logger: onQuery,
    colors: false,
  });
  await orm.connect();
  return orm;
}

/**
 * @param connection has begun the transaction, and ends it.
 * @returns an entity manager whose reads and writes are a part of the transaction.
 */
export function unitOfTransaction(orm: MikroORM, connection: TransactionConnection): EntityManager {
  const client = { query: connection.query, release: () => undefined };
  const pool = { connect: async () => client, end: async () => undefined, options: {} };
  const dialect = new PostgresDialect({ pool });
  const em = orm.em.fork();
  em.setTransactionContext(new Kysely({ dialect }));
  return em;
}
