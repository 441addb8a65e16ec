/**
 * The service with the packages that `npm ci --omit=dev --omit=optional` installs: a copy of the
 * project with the packages that the lockfile marks as neither dev nor optional.
 */
import assert from 'node:assert/strict';
import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { createTestDatabase } from '../support/db.ts';
import { onlyOnServer } from '../support/open-database.ts';
import { root, ServiceProcess, settingsFor } from './service-process.ts';

interface Lockfile {
  readonly packages: Readonly<
    Record<string, { dev?: boolean; optional?: boolean; devOptional?: boolean }>
  >;
}

const folder = mkdtempSync(join(tmpdir(), 'ponte-production-'));
after(() => rmSync(folder, { recursive: true, force: true }));

const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as Lockfile;

const installed = Object.entries(packages)
  .filter(([path, { dev, optional, devOptional }]) => path && !dev && !optional && !devOptional)
  .map(([path]) => path);

for (const path of ['bin', 'contract', 'migrations', 'src', 'package.json', ...installed]) {
  cpSync(join(root, path), join(folder, path), { recursive: true });
}

describe('the service without development and optional packages', () => {
  it('has nothing that only a developer needs', () => {
    const names = installed.map((path) => path.replace(/^.*node_modules\//, ''));
    const others = ['@scalar/fastify-api-reference', 'tsx', 'esbuild', 'ink', 'react'];
    const found = [...others, '@electric-sql/pglite'].filter((name) => names.includes(name));
    assert.deepEqual(found, []);
    assert.ok(installed.length > 50);
  });

  it('starts on PostgreSQL and serves, without the API reference', onlyOnServer, async (t) => {
    const database = await createTestDatabase();
    t.after(() => database.drop());
    const service = new ServiceProcess(settingsFor(database), 'serve', folder);
    t.after(() => service.kill());
    const url = await service.ready();
    const token = await service.logIn();
    const body = { pix_key: 'bruno@example.com', amount: 1 };
    assert.equal((await service.call('/pix/send', { token, key: 'one', body })).status, 200);
    const statuses = ['/health/ready', '/dev', '/docs'].map(
      async (path) => (await fetch(url + path)).status,
    );
    assert.deepEqual(await Promise.all(statuses), [200, 200, 404]);
    service.signal('SIGTERM');
    assert.equal((await service.ended).code, 0);
  });

  it('says what the embedded database needs', async (t) => {
    const environment = { APP_ENV: 'local', DATA_DIR: join(folder, 'data') };
    const service = new ServiceProcess(environment, 'serve', folder);
    t.after(() => service.kill());
    const { code, stderr } = await service.ended;
    assert.equal(
      stderr,
      'ponte: the package @electric-sql/pglite is not installed: set DATABASE_URL, ' +
        "or run 'npm ci' without --omit=optional\n",
    );
    assert.equal(code, 1);
  });
});
