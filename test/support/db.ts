/**
 * A database for a test file: a copy of the migrated template that `global-setup.ts` creates. The
 * same tests run on the embedded database and, with DATABASE_URL, on a PostgreSQL server.
 */
import { randomBytes } from 'node:crypto';
import { cp, mkdtemp, readdir, rm } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import pg from 'pg';
import { SharedDatabases, type Shareable } from './lent-database.ts';
import { isSuite } from './suite.ts';

/** The server that the suite runs on, or undefined for the embedded database. */
export const serverUrl = process.env['DATABASE_URL'] || undefined;

/** The environment variable with the folder of the template. */
export const templateVariable = 'PONTE_TEST_TEMPLATE';

/** The environment variable with the name of the template database on a server. */
export const templateDatabaseVariable = 'PONTE_TEST_TEMPLATE_DATABASE';

/** The environment variable with `name:password` of the service's role, which owns no tables. */
export const serviceVariable = 'PONTE_TEST_SERVICE';

export interface TestDatabase {
  /** The address on a server, with the service's role. Undefined: the embedded database. */
  readonly databaseUrl: string | undefined;
  /** The same address as the owner of the schema, for the work of administrators and migrations. */
  readonly ownerUrl: string | undefined;
  readonly dataDir: string;
  drop(): Promise<void>;
}

/**
 * Returns a migrated, empty database. The files of a suite use the same ones, one after the other.
 * @param isOwn always creates one: the test opens it in another process, or reads its files.
 */
export async function createTestDatabase({ isOwn = false } = {}): Promise<TestDatabase> {
  spareOptimising();
  if (!isSuite() || isOwn) return copyTemplate();
  const { made, giveBack } = await shared.take();
  return { ...made, drop: async () => giveBack() };
}

const shared = new SharedDatabases(serverUrl ? shareOnServer : shareEmbedded);

async function shareEmbedded(): Promise<Shareable<TestDatabase>> {
  const { lendEmbedded } = await import('./lent-embedded.ts');
  const database = await copyTemplate();
  const embedded = await lendEmbedded(database.dataDir);
  return {
    made: database,
    isOpen: () => embedded.isOpen(),
    sql: (statements) => embedded.sql(statements),
    free: () => restoreFiles(database.dataDir),
    async destroy() {
      await embedded.close();
      await database.drop();
    },
  };
}

async function shareOnServer(): Promise<Shareable<TestDatabase>> {
  const database = await copyTemplate();
  const url = database.ownerUrl ?? '';
  return {
    made: database,
    isOpen: () => false,
    sql: (statements) => onServer(url, statements),
    async free() {
      await restoreFiles(database.dataDir);
      await onServer(url, endSessions);
    },
    destroy: () => database.drop(),
  };
}

/** Terminates all other sessions, and waits up to 10 s for the end of each. */
const endSessions = `
select pg_terminate_backend(pid, 10000) from pg_stat_activity
 where datname = current_database() and pid <> pg_backend_pid()`;

/** Restores a data folder from the template, except the embedded database, which stays open. */
async function restoreFiles(dataDir: string): Promise<void> {
  const isLent = (name: string): boolean => !serverUrl && name === 'postgres';
  const names = (await readdir(dataDir)).filter((name) => !isLent(name));
  for (const name of names) await removed(join(dataDir, name));
  const template = templateFolder();
  const filter = (source: string): boolean => !isLent(relative(template, source));
  await cp(template, dataDir, { recursive: true, filter });
}

async function copyTemplate(): Promise<TestDatabase> {
  const template = templateFolder();
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

  const source = process.env[templateDatabaseVariable] ?? '';
  const name = `${source}_${randomBytes(6).toString('hex')}`;
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

function templateFolder(): string {
  const template = process.env[templateVariable];
  if (!template) throw new Error('run the tests with `npm test`: it prepares the database');
  return template;
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

/** Runs SQL on the server; @returns the rows of the last statement. */
export async function onServer<Row>(
  url: string,
  sql: string,
  parameters: readonly unknown[] = [],
): Promise<Row[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    // The protocol allows several statements only in a query without parameters.
    const results = parameters.length > 0 ? client.query(sql, [...parameters]) : client.query(sql);
    return ([await results].flat().at(-1)?.rows ?? []) as Row[];
  } finally {
    await client.end();
  }
}

/**
 * Turns off the optimising compiler for WebAssembly, which the embedded database consists of: in
 * the few seconds of a test file it costs more time than it saves.
 */
function spareOptimising(): void {
  for (const flag of ['--no-wasm-tier-up', '--no-wasm-dynamic-tiering']) setFlagsFromString(flag);
}

function removed(folder: string): Promise<void> {
  return rm(folder, { recursive: true, force: true });
}
