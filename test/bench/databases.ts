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

/** Tables that precede those of the service. */
export interface OwnSchema {
  readonly name: string;
  /** The statements that create it. */
  readonly text: string;
}

/** Creates and migrates `ponte_bench_<name>`, after dropping one left by an earlier run. */
export async function createBenchDatabase(
  serverUrl: string,
  name: string,
  { schema }: { readonly schema?: OwnSchema | undefined } = {},
): Promise<BenchDatabase> {
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
  if (schema) await createSchema(url, schema);
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

/** Creates tables that precede those of the service in every later connection, for all roles. */
export async function createSchema(url: string, { name, text }: OwnSchema): Promise<void> {
  const database = new URL(url).pathname.slice(1);
  await onServer(url, text);
  await onServer(
    url,
    `grant usage on schema ${name} to public;
     grant all on all tables in schema ${name} to public;
     alter database ${database} set search_path = ${name}, public`,
  );
}
