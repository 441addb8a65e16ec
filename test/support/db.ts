/**
 * A database for a test file: a copy of the migrated template that `global-setup.ts` makes. The
 * same tests run on the embedded database and, with DATABASE_URL, on a PostgreSQL server.
 */
import { randomBytes } from 'node:crypto';
import { cp, mkdtemp, readdir, rm } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import pg from 'pg';
import { SharedDatabase, type Shareable } from './lent-database.ts';
import { isSuite } from './suite.ts';

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

/**
 * A migrated, empty database. The files of a suite share one, if none of them has it at the time.
 * @param isOwn for a test that opens it in another process, or that reads its files.
 */
export async function createTestDatabase({ isOwn = false } = {}): Promise<TestDatabase> {
  spareOptimising();
  return (isSuite() && !isOwn && (await shared.take())) || copyTemplate();
}

const shared = new SharedDatabase(serverUrl ? shareOnServer : shareEmbedded);

async function shareEmbedded(): Promise<Shareable<TestDatabase>> {
  const { lendEmbedded } = await import('./lent-embedded.ts');
  const database = await copyTemplate();
  const embedded = await lendEmbedded(database.dataDir);
  return {
    made: { ...database, drop: async () => shared.giveBack() },
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
    made: { ...database, drop: async () => shared.giveBack() },
    isOpen: () => false,
    sql: (statements) => onServer(url, statements),
    async free() {
      await restoreFiles(database.dataDir);
      await onServer(url, endSessions);
    },
    destroy: () => database.drop(),
  };
}

/** Waits until they have ended. */
const endSessions = `
select pg_terminate_backend(pid, 10000) from pg_stat_activity
 where datname = current_database() and pid <> pg_backend_pid()`;

/** Restores a data folder as it was copied, but for the embedded database that is lent. */
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
    // Without parameters, there may be several statements.
    const results = parameters.length > 0 ? client.query(sql, [...parameters]) : client.query(sql);
    return ([await results].flat().at(-1)?.rows ?? []) as Row[];
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
