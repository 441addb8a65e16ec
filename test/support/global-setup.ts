/**
 * Runs once before all test files: makes the database that each of them copies. With DATABASE_URL
 * that is a template database on the server, without it a folder of the embedded database.
 */
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../../src/clock.ts';
import { openDatabase } from '../../src/db/database.ts';
import { migrateUp } from '../../src/db/migrate.ts';
import { loadEncryptionKey, loadSigningKeys } from '../../src/security/signing-keys.ts';
import {
  onServer,
  serverUrl,
  templateDatabaseVariable,
  templateVariable,
  withDatabase,
} from './db.ts';

let templateDir: string;
const templateDatabase = `ponte_template_${randomBytes(6).toString('hex')}`;

export async function globalSetup(): Promise<void> {
  templateDir = await mkdtemp(join(tmpdir(), 'ponte-test-template-'));
  process.env[templateVariable] = templateDir;
  process.env[templateDatabaseVariable] = templateDatabase;
  if (serverUrl) await onServer(serverUrl, `create database ${templateDatabase}`);
  const db = await openDatabase({
    databaseUrl: serverUrl && withDatabase(serverUrl, templateDatabase),
    dataDir: templateDir,
    clock: systemClock,
  });
  await migrateUp(db);
  await db.close();
  // Keys take long to make: one pair serves all tests.
  await loadSigningKeys({ privateKeyPem: undefined, publicKeysPem: [], dataDir: templateDir });
  await loadEncryptionKey({ configured: undefined, dataDir: templateDir });
}

export async function globalTeardown(): Promise<void> {
  if (serverUrl) await onServer(serverUrl, `drop database if exists ${templateDatabase}`);
  await rm(templateDir, { recursive: true, force: true });
}
