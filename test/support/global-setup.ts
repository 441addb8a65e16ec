/**
 * Runs once before all test files: makes the database that each of them copies, and a folder for
 * their copies. With DATABASE_URL the database is a template on the server, without it a folder of
 * the embedded database.
 */
import { randomBytes } from 'node:crypto';
import { statfsSync } from 'node:fs';
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../../src/clock.ts';
import { openDatabase, type Database } from '../../src/db/database.ts';
import { migrateUp } from '../../src/db/migrate.ts';
import { grantsSql } from '../../src/operator/grants.ts';
import { loadEncryptionKeys, loadSigningKeys } from '../../src/security/signing-keys.ts';
import {
  onServer,
  serverUrl,
  serviceVariable,
  templateDatabaseVariable,
  templateVariable,
  withDatabase,
} from './db.ts';

const memory = '/dev/shm';

/** Enough for the databases of a few test files at once, with room for other programs. */
const memoryNeededBytes = 2 ** 30;

const compileCache = join(import.meta.dirname, '..', '..', 'node_modules', '.cache', 'ponte-test');

const prefix = 'ponte-test-';

/** Longer than any run takes. */
const abandonedAfterMs = 60 * 60_000;

let folder: string;
const run = randomBytes(6).toString('hex');
const templateDatabase = `ponte_template_${run}`;
const serviceRole = `ponte_service_${run}`;
const readOnlyRole = `ponte_readonly_${run}`;

export async function globalSetup(): Promise<void> {
  // Modules that come from the cache are covered less exactly.
  if (!process.env['NODE_V8_COVERAGE']) process.env['NODE_COMPILE_CACHE'] = compileCache;
  const parent = hasMemoryFolder() ? memory : tmpdir();
  await removeAbandoned(parent);
  folder = await mkdtemp(join(parent, prefix));
  const templateDir = join(folder, 'template');
  process.env[templateVariable] = templateDir;
  process.env[templateDatabaseVariable] = templateDatabase;
  if (serverUrl) await onServer(serverUrl, `create database ${templateDatabase}`);
  const db = await openDatabase({
    databaseUrl: serverUrl && withDatabase(serverUrl, templateDatabase),
    dataDir: templateDir,
    clock: systemClock,
  });
  await migrateUp(db);
  if (serverUrl) await makeRoles(withDatabase(serverUrl, templateDatabase));
  if (db.kind === 'embedded') await dropSpareDatabases(db);
  await db.close();
  // Keys take long to make: one pair serves all tests.
  await loadSigningKeys({ privateKeyPem: undefined, publicKeysPem: [], dataDir: templateDir });
  await loadEncryptionKeys({ configured: [], dataDir: templateDir });
}

/** The service runs with the rights that it has in production; its role is named in the set-up. */
async function makeRoles(templateUrl: string): Promise<void> {
  const secret = randomBytes(12).toString('hex');
  const { username } = new URL(templateUrl);
  const migrator = decodeURIComponent(username) || 'postgres';
  const sql = grantsSql({ migrator, service: serviceRole, readOnly: readOnlyRole });
  await onServer(templateUrl, `${sql}; alter role ${serviceRole} password '${secret}'`);
  process.env[serviceVariable] = `${serviceRole}:${secret}`;
}

export async function globalTeardown(): Promise<void> {
  if (serverUrl) {
    const copies = await onServer<{ name: string }>(
      serverUrl,
      `select datname as name from pg_database where starts_with(datname, '${templateDatabase}')`,
    );
    for (const { name } of copies) {
      await onServer(serverUrl, `drop database if exists ${name} with (force)`);
    }
    await onServer(serverUrl, `drop role if exists ${serviceRole}, ${readOnlyRole}`);
  }
  await rm(folder, { recursive: true, force: true });
}

/** A run that was interrupted has left its folder, and memory is not to fill up with them. */
async function removeAbandoned(parent: string): Promise<void> {
  const names = (await readdir(parent)).filter((name) => name.startsWith(prefix));
  for (const path of names.map((name) => join(parent, name))) {
    try {
      const { mtimeMs } = await stat(path);
      if (Date.now() - mtimeMs > abandonedAfterMs) await rm(path, { recursive: true });
    } catch {
      // Another run has removed it, or it belongs to another user.
    }
  }
}

/** A database is a thousand files: a busy disk takes a second for what memory does at once. */
function hasMemoryFolder(): boolean {
  try {
    const { bavail, bsize } = statfsSync(memory);
    return bavail * bsize > memoryNeededBytes;
  } catch {
    return false;
  }
}

/** Two thirds of the files are databases of the embedded server that no test opens. */
async function dropSpareDatabases(db: Database): Promise<void> {
  const spare = ['template0', 'template1'];
  await db.query({ name: '', text: 'update pg_database set datistemplate = false' }, []);
  for (const name of spare) await db.query({ name: '', text: `drop database ${name}` }, []);
}
