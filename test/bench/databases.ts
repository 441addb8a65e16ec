/** The databases of a run, made anew and dropped at the end. */
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

/** Makes and migrates `ponte_bench_<name>`; one that an earlier run has left is dropped. */
export async function createBenchDatabase(serverUrl: string, name: string): Promise<BenchDatabase> {
  const database = `ponte_bench_${name}`;
  const drop = async (): Promise<void> => {
    await onServer(serverUrl, `drop database if exists ${database} with (force)`);
  };
  await drop();
  await onServer(serverUrl, `create database ${database}`);
  const url = withDatabase(serverUrl, database);
  const db = await openDatabase({ databaseUrl: url, dataDir: '', clock: systemClock });
  try {
    await migrateUp(db);
  } finally {
    await db.close();
  }
  const client = new pg.Client({ connectionString: url });
  // What breaks the connection fails the statement that is under way.
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
