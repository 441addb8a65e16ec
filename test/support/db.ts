/**
 * A database for a test file: a copy of the migrated template that `global-setup.ts` makes. The
 * same tests run on the embedded database and, with DATABASE_URL, on a PostgreSQL server.
 */
import { randomBytes } from 'node:crypto';
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import pg from 'pg';

/** The server that the suite runs on, or undefined for the embedded database. */
export const serverUrl = process.env['DATABASE_URL'] || undefined;

/** Names the template's folder to the test files' processes. */
export const templateVariable = 'PONTE_TEST_TEMPLATE';

/** On a server: the template database, named by the set-up. */
export const templateDatabaseVariable = 'PONTE_TEST_TEMPLATE_DATABASE';

/** On a server: name and password of the service's role, which owns nothing. */
export const serviceVariable = 'PONTE_TEST_SERVICE';

export interface TestDatabase {
  /** As the service's role on a server. Undefined: the embedded database in `dataDir`. */
  readonly databaseUrl: string | undefined;
  /** The same as the owner of the schema, for what an administrator or a migration does. */
  readonly ownerUrl: string | undefined;
  readonly dataDir: string;
  drop(): Promise<void>;
}

/** Copies the template. */
export async function createTestDatabase(): Promise<TestDatabase> {
  spareOptimising();
  const template = process.env[templateVariable];
  if (!template) throw new Error('run the tests with `npm test`: it prepares the database');
  const dataDir = await mkdtemp(join(dirname(template), 'database-'));
  await cp(template, dataDir, { recursive: true });
  if (!serverUrl) {
    return {
      databaseUrl: undefined,
      ownerUrl: undefined,
      dataDir,
      drop: () => removed(dataDir),
    };
  }

  const name = `ponte_test_${randomBytes(6).toString('hex')}`;
  const source = process.env[templateDatabaseVariable];
  await onServer(serverUrl, `create database ${name} template ${source}`);
  const ownerUrl = withDatabase(serverUrl, name);
  return {
    databaseUrl: asService(ownerUrl),
    ownerUrl,
    dataDir,
    async drop() {
      await onServer(serverUrl, `drop database if exists ${name} with (force)`);
      await removed(dataDir);
    },
  };
}

/** @returns the address of another database on the same server. */
export function withDatabase(url: string, name: string): string {
  const changed = new URL(url);
  changed.pathname = `/${name}`;
  return changed.href;
}

/** @returns the same address with the service's role. */
export function asService(url: string): string {
  const [username = '', password = ''] = (process.env[serviceVariable] ?? '').split(':');
  return Object.assign(new URL(url), { username, password }).href;
}

/** Runs SQL on the server; one statement gives its rows. */
export async function onServer<Row>(
  url: string,
  sql: string,
  parameters: readonly unknown[] = [],
): Promise<Row[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Row & pg.QueryResultRow>(sql, [...parameters])).rows;
  } finally {
    await client.end();
  }
}

/**
 * Leaves the embedded database, which is WebAssembly, as it is compiled at first: optimising it
 * takes longer than what the few seconds of a test file gain by it.
 */
function spareOptimising(): void {
  for (const flag of ['--no-wasm-tier-up', '--no-wasm-dynamic-tiering']) setFlagsFromString(flag);
}

function removed(folder: string): Promise<void> {
  return rm(folder, { recursive: true, force: true });
}
