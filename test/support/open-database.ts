/** A migrated database without the service, for tests of the database itself. */
import { openDatabase, type Database } from '../../src/db/database.ts';
import { manualClock, type ManualClock } from './clock.ts';
import { createTestDatabase, serverUrl, type TestDatabase } from './db.ts';
import { afterFile } from './suite.ts';

export interface OpenDatabase {
  readonly db: Database;
  readonly clock: ManualClock;
  readonly database: TestDatabase;
  /** Runs a statement, to set up and inspect the database. */
  rows<Row = Record<string, unknown>>(sql: string, parameters?: readonly unknown[]): Promise<Row[]>;
}

/**
 * Opens a database for a test file as the owner of its schema, and closes and drops it after the
 * file's tests. Tests of the service itself use `startTestApp`, which has the service's role.
 */
export async function openTestDatabase(): Promise<OpenDatabase> {
  const made = await createTestDatabase();
  const database = { ...made, databaseUrl: made.ownerUrl };
  const clock = manualClock();
  const { databaseUrl, dataDir } = database;
  const db = await openDatabase({ databaseUrl, dataDir, clock });
  afterFile(async () => {
    await db.close();
    await database.drop();
  });
  return {
    db,
    clock,
    database,
    rows: (sql, parameters = []) => db.query({ name: '', text: sql }, parameters),
  };
}

/** Skips tests on the embedded database that need a PostgreSQL server. */
export const onlyOnServer = serverUrl
  ? {}
  : { skip: 'needs a PostgreSQL server: run with DATABASE_URL' };

/** Skips tests of the embedded database on a server. */
export const onlyEmbedded = serverUrl
  ? { skip: 'is about the embedded database: run without DATABASE_URL' }
  : {};
