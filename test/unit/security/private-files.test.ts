/** At each start the data folder is closed to other users, with what the service made in it. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { keepPrivate } from '../../../src/security/private-files.ts';
import { startTestApp } from '../../support/app.ts';
import { createTestDatabase } from '../../support/db.ts';
import { onlyEmbedded } from '../../support/open-database.ts';

function folderFor(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'ponte-private-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

function readMode(path: string): string {
  return (lstatSync(path).mode & 0o777).toString(8);
}

/** What others may read, write or enter below a folder, the folder itself among it. */
function openPaths(folder: string): string[] {
  const inside = readdirSync(folder, { recursive: true }).map((name) => join(folder, String(name)));
  return [folder, ...inside].filter((path) => (lstatSync(path).mode & 0o077) !== 0);
}

describe('the data folder', () => {
  it('that an earlier version has left open is closed at the start', onlyEmbedded, async () => {
    const database = await createTestDatabase({ isOwn: true });
    mkdirSync(database.dataDir, { recursive: true });
    chmodSync(database.dataDir, 0o777);
    writeFileSync(join(database.dataDir, 'encryption.key'), Buffer.alloc(32, 7).toString('base64'));
    chmodSync(join(database.dataDir, 'encryption.key'), 0o644);
    const draft = join(database.dataDir, `jwt-private.pem.${randomUUID()}`);
    writeFileSync(draft, 'half', { mode: 0o644 });
    await startTestApp({ database });
    assert.ok(existsSync(join(database.dataDir, 'postgres', 'PG_VERSION')));
    assert.deepEqual(openPaths(database.dataDir), []);
  });

  it('that holds other files keeps its mode, and only files of the service are closed', (t) => {
    const folder = folderFor(t);
    chmodSync(folder, 0o755);
    for (const name of ['simulated-bank.jsonl', 'notes.txt']) writeFileSync(join(folder, name), '');
    mkdirSync(join(folder, 'postgres', 'base'), { recursive: true, mode: 0o755 });
    writeFileSync(join(folder, 'postgres', 'base', '1'), '', { mode: 0o644 });
    assert.deepEqual(keepPrivate(folder), []);
    const found = [folder, join(folder, 'notes.txt'), join(folder, 'simulated-bank.jsonl')];
    assert.deepEqual(found.map(readMode), ['755', '644', '600']);
    assert.deepEqual(openPaths(join(folder, 'postgres')), []);
  });

  it('is left alone where it is missing, empty or behind a link', (t) => {
    const folder = folderFor(t);
    const elsewhere = join(folder, 'elsewhere');
    mkdirSync(elsewhere, { mode: 0o755 });
    assert.deepEqual(keepPrivate(join(folder, 'missing')), []);
    assert.deepEqual(keepPrivate(elsewhere), []);
    mkdirSync(join(folder, 'data'));
    symlinkSync(elsewhere, join(folder, 'data', 'postgres'));
    assert.deepEqual(keepPrivate(join(folder, 'data')), []);
    assert.equal(readMode(elsewhere), '755');
  });
});
