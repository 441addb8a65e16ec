/** The service answers while a migration waits for a lock, and while an index is built. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { openDatabase } from '../../../src/db/database.ts';
import { MigrationBlockedError, migrateUp } from '../../../src/db/migrate.ts';
import { startTestApp } from '../../support/app.ts';
import { manualClock } from '../../support/clock.ts';
import { eventually } from '../../support/eventually.ts';
import { givenCustomer } from '../../support/factories.ts';
import { onlyOnServer } from '../../support/open-database.ts';

/** As in `src/db/pool.ts`. */
const lockTimeoutMs = 1_500;

/** What a request takes beside the wait, on a machine that runs other tests. */
const marginMs = 3_000;

const columnFolder = join(import.meta.dirname, 'migrations-column');
const indexFolder = join(import.meta.dirname, 'migrations-index');
const column = ['add-column'];

const app = await startTestApp();
const { token } = await givenCustomer(app);
const clock = manualClock();
const { ownerUrl: databaseUrl, dataDir } = app.database;
// The embedded database has room for one process and one connection: the service's own.
const db =
  databaseUrl === undefined ? app.context.db : await openDatabase({ databaseUrl, dataDir, clock });
after(() => (databaseUrl === undefined ? undefined : db.close()));

interface TimedResponse {
  readonly path: string;
  readonly status: number;
  readonly ms: number;
}

async function request(path: string, body?: object): Promise<TimedResponse> {
  const startedMs = performance.now();
  const { status } = await app.call(path, { token, key: randomUUID(), body });
  return { path, status, ms: performance.now() - startedMs };
}

/** Sends, reads and webhooks, by several callers at once, until they are stopped. */
function startTraffic(): () => Promise<TimedResponse[]> {
  let isRunning = true;
  const responses: TimedResponse[] = [];
  const repeat = async (ask: () => Promise<TimedResponse>): Promise<void> => {
    while (isRunning) responses.push(await ask());
  };
  const send = () => request('/pix/send', { pix_key: 'ana@example.com', amount: 1 });
  const callers = [
    send,
    send,
    () => request('/accounts/statement'),
    () => request('/accounts/balance'),
    () => request('/webhooks/provider', { endToEndId: randomUUID(), status: 'CONFIRMED' }),
  ].map(repeat);
  return async () => {
    isRunning = false;
    await Promise.all(callers);
    return responses;
  };
}

/** A transaction that has read the payments and stays open. */
async function openReader(): Promise<{ end(): Promise<void> }> {
  const reader = await db.em();
  await reader.begin();
  await reader.execute('select count(*) from pix_transactions');
  return { end: () => reader.rollback() };
}

function startMigration(folder: string) {
  const waits: string[] = [];
  const ended = migrateUp(db, { clock, folder, onWait: (reason) => waits.push(reason) });
  ended.catch(() => undefined);
  return { waits, ended };
}

test(
  'requests are answered while a migration waits behind an open reader',
  onlyOnServer,
  async () => {
    const reader = await openReader();
    const stopTraffic = startTraffic();
    const { waits, ended } = startMigration(columnFolder);
    await eventually(() => waits.length === 1, 'the end of the first attempt');
    const responses = await stopTraffic();
    assert.deepEqual(waits, ['another transaction holds a lock that a migration needs']);
    const refused = responses.filter(({ status }) => status !== 200);
    assert.deepEqual(refused, []);
    const slowest = Math.max(...responses.map(({ ms }) => ms));
    assert.ok(slowest < lockTimeoutMs + marginMs, `a request took ${slowest} ms`);

    await reader.end();
    await clock.advance(2_000);
    assert.deepEqual(await ended, column);
    assert.equal(
      (await app.ownerRows('select test_column from pix_transactions')).length > 0,
      true,
    );
    await app.ownerRows('alter table pix_transactions drop column test_column');
    await app.ownerRows('delete from schema_migrations where name = $1', column);
  },
);

test('a lock that is never free ends the start with what to do', onlyOnServer, async () => {
  const reader = await openReader();
  const { waits, ended } = startMigration(columnFolder);
  await eventually(() => waits.length === 1, 'the end of the first attempt');
  await clock.advance(10 * 60_000);
  await assert.rejects(ended, MigrationBlockedError);
  await reader.end();
});

test(
  'an instance waits while another one migrates, and holds up nothing',
  onlyOnServer,
  async () => {
    const other = await db.em();
    await other.begin();
    await other.execute('select pg_advisory_xact_lock(1886350964)');
    const { waits, ended } = startMigration(columnFolder);
    await eventually(() => waits.length === 1, 'the first look');
    assert.deepEqual(waits, ['another instance migrates the database']);
    await clock.advance(500);
    const waiting = await app.ownerRows(
      `select from pg_locks where locktype = 'advisory' and not granted
        and database = (select oid from pg_database where datname = current_database())`,
    );
    assert.deepEqual(waiting, []);
    await other.rollback();
    while (
      (await app.ownerRows('select from schema_migrations where name = $1', column)).length === 0
    ) {
      await clock.advance(500);
    }
    assert.deepEqual(await ended, column);
    assert.equal(waits.length, 1);
  },
);

test('an index is built while payments are written, also after a failed attempt', async () => {
  await app.ownerRows('create index test_index on pix_timeline (phase)');
  await app.ownerRows(
    `update pg_index set indisvalid = false where indexrelid = 'test_index'::regclass`,
  );
  const writer = db.kind === 'postgresql' ? await db.em() : null;
  await writer?.begin();
  await writer?.execute('lock table pix_timeline in row exclusive mode');
  const { waits, ended } = startMigration(indexFolder);
  if (writer) {
    await eventually(isBuilding, 'an index that waits for the writer');
    assert.equal((await request('/pix/send', { pix_key: 'a@example.com', amount: 1 })).status, 200);
    await writer.rollback();
  }
  assert.deepEqual(await ended, ['add-index']);
  assert.deepEqual(waits, []);
  const indexes = await app.ownerRows(
    `select indisvalid, pg_get_indexdef(indexrelid) like '%(note)' as is_new from pg_index
      where indexrelid = 'test_index'::regclass`,
  );
  assert.deepEqual(indexes, [{ indisvalid: true, is_new: true }]);
});

async function isBuilding(): Promise<boolean> {
  const waiting = await app.ownerRows(
    `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'
        and query like '%index concurrently%'`,
  );
  return waiting.length > 0;
}
