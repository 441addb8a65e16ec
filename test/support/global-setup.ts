/**
 * Runs once before all test files: creates the database that each file copies, and a folder for the
 * copies. With DATABASE_URL it is a template database on the server, otherwise a folder of the
 * embedded database.
 */
import { createHash, randomBytes } from 'node:crypto';
import { existsSync, globSync, readFileSync, statfsSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readdir, rename, rm, stat } from 'node:fs/promises';
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

/** Enough memory for the databases of a few concurrent test files, and for other programs. */
const memoryNeededBytes = 2 ** 30;

const root = join(import.meta.dirname, '..', '..');

const cache = join(root, 'node_modules', '.cache', 'ponte-test');

/** Templates of the embedded database, each by the digest of what it is made of. */
const templateCache = join(cache, 'templates');

/** What a template is made of: the migrations and the code and packages that run them. */
const templateSources = ['{migrations,src/db,src/security,test/support}/**/*', 'package-lock.json'];

const runPrefix = 'ponte-test-';

/** The age of a folder that no running suite uses any more: longer than any run. */
const abandonedAfterMs = 60 * 60_000;

let folder: string;
const run = randomBytes(6).toString('hex');
const templateDatabase = `ponte_template_${run}`;
const serviceRole = `ponte_service_${run}`;
const readOnlyRole = `ponte_readonly_${run}`;

export async function globalSetup(): Promise<void> {
  // The coverage of modules from the compile cache is less exact.
  if (!process.env['NODE_V8_COVERAGE']) process.env['NODE_COMPILE_CACHE'] = cache;
  process.env['NODE_OPTIONS'] = `${process.env['NODE_OPTIONS'] ?? ''} ${memoryOptions}`.trim();
  const parent = hasMemoryFolder() ? memory : tmpdir();
  await removeAbandoned(parent, runPrefix);
  folder = await mkdtemp(join(parent, runPrefix));
  const templateDir = join(folder, 'template');
  process.env[templateVariable] = templateDir;
  process.env[templateDatabaseVariable] = templateDatabase;
  if (serverUrl) {
    await onServer(serverUrl, `create database ${templateDatabase}`);
    await makeTemplate(templateDir);
    await makeRoles(withDatabase(serverUrl, templateDatabase));
  } else {
    await copyCachedTemplate(templateDir);
  }
}

/** Most objects of a test die young: a large young generation halves the work of the collector. */
const memoryOptions = '--max-semi-space-size=64';

/** Copies the template of an earlier run: to create a database and to migrate it takes seconds. */
async function copyCachedTemplate(templateDir: string): Promise<void> {
  const cached = join(templateCache, computeDigest(templateSources));
  if (!existsSync(cached)) {
    await makeTemplate(templateDir);
    await mkdir(templateCache, { recursive: true });
    await removeAbandoned(templateCache);
    const unfinished = await mkdtemp(join(templateCache, 'unfinished-'));
    await cp(templateDir, unfinished, { recursive: true });
    // Another run may have been faster.
    await rename(unfinished, cached).catch(() => undefined);
    return;
  }
  await cp(cached, templateDir, { recursive: true });
}

/** @returns the digest of files: of their paths and their contents. */
function computeDigest(patterns: readonly string[]): string {
  const hash = createHash('sha256');
  const found = globSync([...patterns], { cwd: root, withFileTypes: true });
  const files = found
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name));
  for (const file of files.toSorted()) hash.update(file).update(readFileSync(file));
  return hash.digest('hex');
}

/** Creates and migrates a database, and generates keys: slow, so all tests share one pair. */
async function makeTemplate(templateDir: string): Promise<void> {
  const db = await openDatabase({
    databaseUrl: serverUrl && withDatabase(serverUrl, templateDatabase),
    dataDir: templateDir,
    clock: systemClock,
  });
  await migrateUp(db);
  if (db.kind === 'embedded') await dropSpareDatabases(db);
  await db.close();
  await loadSigningKeys({ privateKeyPem: undefined, publicKeysPem: [], dataDir: templateDir });
  await loadEncryptionKeys({ configured: [], dataDir: templateDir });
}

/** Creates the service's role with its production rights, and exports its name and password. */
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

/** Removes the folders of interrupted runs, which would fill the memory, and old templates. */
async function removeAbandoned(parent: string, prefix = ''): Promise<void> {
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

/** Whether `/dev/shm` has room: a database has a thousand files, slow to copy on a busy disk. */
function hasMemoryFolder(): boolean {
  try {
    const { bavail, bsize } = statfsSync(memory);
    return bavail * bsize > memoryNeededBytes;
  } catch {
    return false;
  }
}

/** Drops the system's template databases: no test opens them, and they are 2/3 of the files. */
async function dropSpareDatabases(db: Database): Promise<void> {
  const spare = ['template0', 'template1'];
  await db.query({ name: '', text: 'update pg_database set datistemplate = false' }, []);
  for (const name of spare) await db.query({ name: '', text: `drop database ${name}` }, []);
}
