/** `ponte migrate`: the schema, forward, back and looked at. */
import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { openDatabase } from '../../../src/db/database.ts';
import type { MigrateStatus } from '../../../src/operator/migrate.ts';
import { manualClock } from '../../support/clock.ts';
import { typePonte, type Ended, type Typed } from '../../support/command-line.ts';
import { production } from '../../support/config.ts';
import { createTestDatabase } from '../../support/db.ts';

const database = await createTestDatabase();
after(() => database.drop());
const { ownerUrl: databaseUrl, dataDir } = database;

const environment = {
  APP_ENV: 'test',
  DATA_DIR: dataDir,
  ...(databaseUrl !== undefined && { DATABASE_URL: databaseUrl }),
};

const type = (argv: readonly string[], typed: Partial<Typed> = {}): Promise<Ended> =>
  typePonte(['migrate', ...argv], { environment, ...typed });

async function readStatus(): Promise<MigrateStatus & { readonly code: number }> {
  const { code, stdout } = await type(['status', '--json']);
  return { code, ...(JSON.parse(stdout) as MigrateStatus) };
}

/** Runs a statement on the database while nothing else has it. */
async function run(text: string): Promise<void> {
  const db = await openDatabase({ databaseUrl, dataDir, clock: manualClock() });
  await db.query({ name: '', text }, []);
  await db.close();
}

describe('ponte migrate', () => {
  it('status lists what is applied, and when', async () => {
    const { code, pending, migrations } = await readStatus();
    assert.deepEqual({ code, pending }, { code: 0, pending: 0 });
    assert.ok(migrations.length >= 2);
    for (const { state, appliedAt } of migrations) {
      assert.equal(state, 'applied');
      assert.match(appliedAt ?? '', /^\d{4}-\d\d-\d\dT/);
    }
    const { stdout } = await type(['status']);
    assert.match(stdout, /^MIGRATION +STATE +APPLIED\nMigration\d+_initial +applied +\d{4}-/);
  });

  it('down asks, and loses nothing without a yes', async () => {
    const silent = await type(['down']);
    assert.equal(silent.code, 2);
    assert.match(silent.stderr, /Reverting .* deletes .*\n.*confirm it with --yes/);
    const declined = await type(['down'], { typing: [[/Revert Migration\S+\?/, 'n\r']] });
    assert.equal(declined.code, 1);
    assert.equal((await readStatus()).pending, 0);
  });

  it('down takes one step back, up takes it again, and other commands wait for it', async () => {
    const before = await readStatus();
    const newest = before.migrations.at(-1)?.name;
    const down = await type(['down', '--yes', '--json']);
    assert.deepEqual(JSON.parse(down.stdout), { reverted: newest });
    const { code, pending, migrations } = await readStatus();
    assert.deepEqual({ code, pending }, { code: 1, pending: 1 });
    assert.deepEqual(migrations.at(-1), { name: newest, state: 'pending', appliedAt: null });
    const status = await type(['status']);
    assert.equal(status.stderr, 'Some migrations are pending: run `ponte migrate up`.\n');
    const list = await typePonte(['user', 'list'], { environment });
    assert.equal(list.code, 1);
    assert.match(list.stderr, /^ponte: a migration is not applied .*run `ponte migrate up`\n$/);
    const up = await type(['up']);
    assert.equal(up.stdout, `applied ${newest}\n`);
    assert.equal((await type(['up'])).stdout, 'The schema is up to date.\n');
  });

  it("names a newer version's migration, and does not take it back", async () => {
    await run(`insert into schema_migrations (name) values ('Migration99991231000000_later')`);
    const { migrations } = await readStatus();
    assert.equal(migrations.at(-1)?.state, 'unknown');
    const { code, stderr } = await type(['down', '--yes']);
    assert.equal(code, 1);
    assert.match(stderr, /Migration99991231000000_later belongs to another version/);
    await run(`delete from schema_migrations where name like '%_later'`);
  });

  it('grants refuses one role for two of the three: it would lose its own rights', async () => {
    for (const [option, taken] of [
      ['--service', 'ponte_migrator'],
      ['--readonly', 'ponte_service'],
      ['--migrator', 'ponte_readonly'],
    ] as const) {
      const { code, stdout, stderr } = await type(['grants', option, taken]);
      assert.deepEqual([code, stdout], [2, ''], option);
      assert.match(stderr, /name three different roles/);
    }
    assert.match((await type(['grants'])).stdout, /^-- Roles of Ponte's database/);
  });

  it('down is refused in production without --yes: exit 2', async () => {
    const { code, stderr } = await type(['down'], {
      typing: [],
      environment: production,
    });
    assert.equal(code, 2);
    assert.match(stderr, /in production this command needs --yes/);
  });
});
