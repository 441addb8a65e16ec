/** The databases of a run: created at its start and dropped at its end. */
import pg from 'pg';
import { systemClock } from '../../src/clock.ts';
import { openDatabase } from '../../src/db/database.ts';
import { migrateUp } from '../../src/db/migrate.ts';
import { onServer, withDatabase } from '../support/db.ts';

export interface BenchDatabase {
  readonly url: string;
  readonly client: pg.Client;
  drop(): Promise<void>;
}

/**
 * Creates `ponte_bench_<name>`, after dropping one left by an earlier run.
 * @param schema the statements that create its tables; by default those of the service.
 */
export async function createBenchDatabase(
  serverUrl: string,
  name: string,
  schema?: string,
): Promise<BenchDatabase> {
  const database = `ponte_bench_${name}`;
  const drop = async (): Promise<void> => {
    await onServer(serverUrl, `drop database if exists ${database} with (force)`);
  };
  await drop();
  await onServer(serverUrl, `create database ${database}`);
  const url = withDatabase(serverUrl, database);
  await (schema === undefined ? migrate(url) : onServer(url, schema));
  const client = new pg.Client({ connectionString: url });
  // An error of the connection also fails the running statement.
  client.on('error', () => undefined);
  await client.connect();
  return {
    url,
    client,
    async drop() {
      await client.end();
      await drop();
    },
  };
}

async function migrate(databaseUrl: string): Promise<void> {
  const db = await openDatabase({ databaseUrl, dataDir: '', clock: systemClock });
  try {
    await migrateUp(db);
  } finally {
    await db.close();
  }
}
