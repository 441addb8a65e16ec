/** Connections that are kept open and prepared, so that no customer waits for a new one. */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import type pg from 'pg';
import { hotStatements } from '../../../src/app/hot-statements.ts';
import { openDatabase, type Database } from '../../../src/db/database.ts';
import { openPool } from '../../../src/db/pool.ts';
import { sql, statement } from '../../../src/db/statement.ts';
import { WarmConnections } from '../../../src/db/warm-connections.ts';
import { manualClock, type ManualClock } from '../../support/clock.ts';
import { startDatabaseProxy } from '../../support/database-proxy.ts';
import { eventually } from '../../support/eventually.ts';
import { onlyOnServer, openTestDatabase } from '../../support/open-database.ts';

const { database, rows } = await openTestDatabase();
const roundMs = 10_000;

/** The time keeps a second connection from taking the statement of a first one. */
const prepared = statement({
  name: 'test-prepared',
  parameters: {},
  indexed: true,
  text: () => sql<{ pid: number; names: string[] }>`
    select pg_backend_pid() as pid, pg_sleep(0.2),
           (select array_agg(name order by name) from pg_prepared_statements
             where name <> 'test-prepared') as names`,
});

const hotNames = hotStatements
  .flatMap(({ name, alone }) => [name, ...(alone ? [alone.name] : [])])
  .toSorted((one, other) => (one < other ? -1 : 1));

async function givenWarm(t: TestContext): Promise<{ db: Database; clock: ManualClock }> {
  const clock = manualClock();
  const db = await openDatabase({ databaseUrl: database.databaseUrl, dataDir: '', clock });
  t.after(() => db.close());
  await db.keepWarm(hotStatements);
  return { db, clock };
}

async function three(db: Database) {
  const found = await Promise.all([1, 2, 3].map(() => db.query(prepared, {})));
  return found.flat().toSorted((one, other) => one.pid - other.pid);
}

test(
  'a few connections are open, and have the hot statements prepared',
  onlyOnServer,
  async (t) => {
    const { db } = await givenWarm(t);
    assert.deepEqual(db.connections(), { busy: 0, idle: 7, waiting: 0 });
    for (const { names } of await three(db)) assert.deepEqual(names, hotNames);
    assert.deepEqual(db.connections(), { busy: 0, idle: 7, waiting: 0 });
  },
);

test('lost connections are replaced by prepared ones', onlyOnServer, async (t) => {
  const { db, clock } = await givenWarm(t);
  const before = await three(db);
  const lost = before.map(({ pid }) => pid);
  await rows('select pg_terminate_backend(pid) from unnest($1::int[]) as pid', [lost]);
  await eventually(() => db.connections().idle === 4, 'the losses');
  await clock.advance(roundMs);
  await eventually(() => db.connections().idle === 7, 'the new connections');
  const after = await three(db);
  for (const { pid, names } of after) {
    assert.deepEqual(names, hotNames);
    assert.ok(!lost.includes(pid));
  }
});

test('a database that is closed opens no connection again', onlyOnServer, async () => {
  const clock = manualClock();
  const db = await openDatabase({ databaseUrl: database.databaseUrl, dataDir: '', clock });
  await db.keepWarm(hotStatements);
  await db.close();
  await clock.advance(roundMs);
  assert.deepEqual(db.connections(), { busy: 0, idle: 0, waiting: 0 });
});

interface Kept {
  readonly pool: pg.Pool;
  readonly clock: ManualClock;
  readonly warm: WarmConnections;
}

/** Two warm connections of a pool that soon closes an idle one. */
async function givenPool(t: TestContext, config: pg.PoolConfig, deadlineMs = 3_000): Promise<Kept> {
  const pool = openPool({ connectionString: database.databaseUrl, max: 6, ...config });
  const clock = manualClock();
  const warm = new WarmConnections({ pool, count: 2, statements: [], clock, deadlineMs });
  t.after(async () => {
    warm.stop();
    await pool.end();
  });
  await warm.start();
  return { pool, clock, warm };
}

async function pids(pool: pg.Pool): Promise<number[]> {
  const ask = () => pool.query<{ pid: number }>('select pg_backend_pid() as pid, pg_sleep(0.05)');
  const found = await Promise.all([ask(), ask()]);
  return found.map(({ rows: [row] }) => row?.pid ?? 0).toSorted((one, other) => one - other);
}

test('the pool closes only what is not kept', onlyOnServer, async (t) => {
  const { pool, clock } = await givenPool(t, { idleTimeoutMillis: 2_000 });
  await Promise.all(Array.from({ length: 6 }, () => pool.query('select pg_sleep(0.05)')));
  assert.equal(pool.totalCount, 6);
  const used = await pids(pool);
  await eventually(async () => {
    await clock.advance(roundMs);
    return pool.totalCount === 2;
  }, 'the end of the others');
  await eventually(() => pool.idleCount === 2, 'the end of the round');
  assert.deepEqual(await pids(pool), used);
});

test('a connection that falls silent is replaced', onlyOnServer, async (t) => {
  const proxy = await startDatabaseProxy(String(database.databaseUrl));
  t.after(() => proxy.cut());
  const { pool, clock } = await givenPool(t, { connectionString: proxy.url }, 200);
  const silent = await pids(pool);
  proxy.hold();
  await clock.advance(roundMs);
  await eventually(() => pool.totalCount === 0, 'the end of the silent ones');
  await proxy.mend();
  await clock.advance(roundMs);
  await eventually(() => pool.idleCount === 2, 'the new connections');
  for (const pid of await pids(pool)) assert.ok(!silent.includes(pid));
});

test('a connection to a server that has become read-only is replaced', onlyOnServer, async (t) => {
  const { pool, clock } = await givenPool(t, {});
  const readOnly = await pids(pool);
  const both = await Promise.all([pool.connect(), pool.connect()]);
  for (const client of both) {
    await client.query('set default_transaction_read_only = on');
    client.release();
  }
  await clock.advance(roundMs);
  await eventually(() => pool.totalCount === 0, 'their end');
  await clock.advance(roundMs);
  await eventually(() => pool.idleCount === 2, 'the new connections');
  for (const pid of await pids(pool)) assert.ok(!readOnly.includes(pid));
});

test('a round leaves a busy pool alone', onlyOnServer, async (t) => {
  const { pool, clock } = await givenPool(t, { max: 3 });
  const busy = await Promise.all([pool.connect(), pool.connect()]);
  await clock.advance(roundMs);
  assert.deepEqual([pool.totalCount, pool.waitingCount], [2, 0]);
  for (const client of busy) client.release();
});
