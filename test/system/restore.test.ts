/**
 * The restore of a backup, as the handbook has it: payments that were made after the backup are
 * gone from the database. Their repeats do not pay twice, and the statement brings them back.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { globSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { createTestDatabase } from '../support/db.ts';
import { freePort } from '../support/free-port.ts';
import { onlyOnServer } from '../support/open-database.ts';
import { assertEachOnce, PayingApp, ponte, sendsIn } from './paying-app.ts';
import { startSandbox } from './sandbox-process.ts';
import { settingsFor, type Environment } from './service-process.ts';

const execute = promisify(execFile);

/** The programs of the newest installed PostgreSQL, which dumps from every older one. */
const [programs = ''] = globSync('/usr/lib/postgresql/*/bin/pg_dump')
  .toSorted((one, other) => Number(readVersion(other)) - Number(readVersion(one)))
  .map(dirname);

function readVersion(path: string): string {
  return /postgresql\/(\d+)/.exec(path)?.[1] ?? '0';
}

const onlyWithDump = programs === '' ? { skip: 'needs pg_dump in /usr/lib/postgresql' } : {};

/** Short, so that the pause after a loss is short: every call has ended after seven seconds. */
const provider = {
  PROVIDER_STUB: 'false',
  PROVIDER_TIMEOUT_MS: '1000',
  PROVIDER_STATEMENT_FINAL: 'true',
};
const maxCallMs = 7_000;

test('a restore', { ...onlyOnServer, ...onlyWithDump }, async (t) => {
  const database = await createTestDatabase({ isOwn: true });
  t.after(() => database.drop());
  const port = await freePort();
  const bank = await startSandbox(t, `http://127.0.0.1:${port}/api/v1/webhooks/provider`);
  const environment: Environment = {
    ...settingsFor(database),
    ...provider,
    PROVIDER_BASE_URL: bank,
    PORT: String(port),
  };
  const app = new PayingApp(t, environment);
  await app.start();

  await app.pay('before-1', 'before-2');
  const since = new Date().toISOString();
  const dump = join(database.dataDir, 'backup');
  await Promise.all([
    execute(join(programs, 'pg_dump'), ['-Fc', '-f', dump, database.ownerUrl ?? '']),
    app.pay(...Array.from({ length: 8 }, (_, nth) => `meanwhile-${nth}`)),
  ]);
  await app.pay('after-1', 'after-2', 'after-3');
  const paid = new Map(app.paid);
  assert.equal(paid.size, 13);

  await app.stop();
  const restore = ['--clean', '--if-exists', '-1', '-d', database.ownerUrl ?? '', dump];
  await execute(join(programs, 'pg_restore'), restore);
  const kept = await sendsIn(database.ownerUrl ?? '');
  assert.ok(kept.length < paid.size, 'the restore forgets payments');
  await ponte(environment, 'pix', 'pause', '--since', since, '--reason', 'restore', '--yes');
  await app.start();

  await t.test('while sends are paused, nothing is sent', async () => {
    const { status, headers } = await app.send('after-1');
    assert.deepEqual([status, headers.get('pix-outcome')], [503, 'unknown']);
  });

  await pause(maxCallMs);
  await ponte(environment, 'pix', 'resume', '--reason', 'restored', '--yes');

  await t.test('the repeat of every payment finds the one that was made', async () => {
    await app.pay(...paid.keys());
    assert.deepEqual(Object.fromEntries(app.paid), Object.fromEntries(paid));
  });

  await t.test('a new payment is made', () => app.pay('new-1'));

  await t.test('the payments of the bank are the stored ones, each once', async () => {
    await assertEachOnce({ bank, environment, url: database.ownerUrl ?? '', count: paid.size + 1 });
  });
});
