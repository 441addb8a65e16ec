/** MikroORM's options, the same for the service and for its command line. */
import { fileURLToPath } from 'node:url';
import { defineConfig, type Options } from '@mikro-orm/postgresql';
import { Migrator } from '@mikro-orm/migrations';
import { entities } from './entities/index.ts';

/** Where the migrations are, a file each. */
export const migrationsFolder = fileURLToPath(new URL('../../migrations', import.meta.url));

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
    },
    ...connection,
  });
}
