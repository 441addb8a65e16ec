/** The database as the service sees it: values as they come back, and connections that break. */
import assert from 'node:assert/strict';
import { randomBytes, randomUUID } from 'node:crypto';
import { test, type TestContext } from 'node:test';
import pg from 'pg';
import { openDatabase, type Database } from '../../../src/db/database.ts';
import { isDatabaseUnavailable } from '../../../src/db/unavailable.ts';
import { findWebhookEvent } from '../../../src/settlement/event-repository.ts';
import { manualClock } from '../../support/clock.ts';
import { startDatabaseProxy } from '../../support/database-proxy.ts';
import { createTestDatabase } from '../../support/db.ts';
import { eventually } from '../../support/eventually.ts';
import { onlyOnServer, openTestDatabase } from '../../support/open-database.ts';

const { db, database } = await openTestDatabase();

const run = <Row>(text: string, parameters: readonly unknown[] = [], on: Database = db) =>
  on.query<Row>({ name: '', text }, parameters);

const url = () => database.databaseUrl ?? assert.fail('no server');

async function opened(t: TestContext, databaseUrl: string): Promise<Database> {
  const other = await openDatabase({ databaseUrl, dataDir: '', clock: manualClock() });
  t.after(() => other.close());
  return other;
}

test('values are read as they were written: instants as dates, amounts and long ids as text', async () => {
  const at = new Date('2026-05-24T12:34:56.789Z');
  const bytes = randomBytes(8);
  const parameters = [at, '0.10', '9007199254740993', bytes, ['a', 'b'], null, `'"\\;--`];
  const [row] = await run(
    `select $1::timestamptz(3) as at, $2::numeric(15,2) as amount, $3::bigint as id,
            $4::bytea as bytes, $5::text[] as texts, $6::timestamptz as missing, $7::text as text,
            '{"a":[1]}'::jsonb as json, true as yes`,
    parameters,
  );
  const [, amount, id, , texts, missing, text] = parameters;
  assert.deepEqual(
    { ...(row as object) },
    {
      at,
      amount,
      id,
      bytes,
      texts,
      missing,
      text,
      json: { a: [1] },
      yes: true,
    },
  );
});

test('an instant far from UTC and one before 1970 are read to the millisecond', async () => {
  const [row] = await run<{ far: Date; old: Date }>(
    `select '2026-02-15 23:59:59.999-03'::timestamptz as far,
            '1969-12-31 23:59:59.001+00'::timestamptz as old`,
  );
  assert.equal(row?.far.toISOString(), '2026-02-16T02:59:59.999Z');
  assert.equal(row?.old.toISOString(), '1969-12-31T23:59:59.001Z');
});

test('a named statement is run again and again with other parameters', async () => {
  const statement = { name: 'doubled', text: 'select $1::int * 2 as twice' };
  const responses = await Promise.all([1, 2, 3].map((number) => db.query(statement, [number])));
  assert.deepEqual(responses.flat(), [{ twice: 2 }, { twice: 4 }, { twice: 6 }]);
});

test('a statement that fails says what failed, and the next one is fine', async () => {
  const key = 'the-same';
  const text = 'insert into throttle_counters values ($1, now(), 1, now())';
  await run(text, [key]);
  const refused = run(text, [key]);
  await assert.rejects(refused, { code: '23505', constraint: 'throttle_counters_pkey' });
  await assert.rejects(run('select nothing from nowhere'), { code: '42P01' });
  await assert.rejects(run('selec'), { code: '42601' });
  assert.deepEqual(await run('select 1 as one'), [{ one: 1 }]);
});

test('statements at once do not take each other responses', async () => {
  const numbers = Array.from({ length: 40 }, (_, index) => index);
  const responses = await Promise.all(
    numbers.map((number) => run('select $1::int as n', [number])),
  );
  assert.deepEqual(
    responses,
    numbers.map((n) => [{ n }]),
  );
});

test('transactions at once are each all or nothing', async () => {
  const key = 'counted';
  await run('insert into throttle_counters values ($1, now(), 0, now())', [key]);
  const add = async (undo: boolean) =>
    (await db.em()).transactional(async (em) => {
      await em.execute(`update throttle_counters set attempts = attempts + 1 where key = '${key}'`);
      if (undo) throw new Error('undone');
    });
  const ends = await Promise.allSettled(Array.from({ length: 8 }, (_, nth) => add(nth % 2 === 1)));
  assert.equal(ends.filter(({ status }) => status === 'fulfilled').length, 4);
  const [row] = await run(`select attempts from throttle_counters where key = $1`, [key]);
  assert.deepEqual(row, { attempts: 4 });
});

test('each round trip is counted', async (t) => {
  let queries = 0;
  const own = await createTestDatabase();
  const { databaseUrl, dataDir } = own;
  const onQuery = () => (queries += 1);
  const counted = await openDatabase({ databaseUrl, dataDir, clock: manualClock(), onQuery });
  t.after(async () => {
    await counted.close();
    await own.drop();
  });
  queries = 0;
  await run('select 1', [], counted);
  assert.equal(queries, 1);
  await (await counted.em()).execute('select 1');
  assert.equal(queries, 2);
});

test('a server that cannot be reached is an error of its kind', async (t) => {
  const proxy = await startDatabaseProxy('postgres://postgres@127.0.0.1:1/nowhere');
  await proxy.cut();
  const tried = opened(t, proxy.url).then((other) => run('select 1', [], other));
  await assert.rejects(tried, isDatabaseUnavailable);
});

for (const sqlstate of ['3D000', '42501', '55000', 'XX000']) {
  test(`a server that opens no connection (${sqlstate}) cannot be reached`, async (t) => {
    const proxy = await startDatabaseProxy('postgres://postgres@127.0.0.1:1/nowhere');
    t.after(() => proxy.cut());
    proxy.refuse(sqlstate);
    const other = await opened(t, proxy.url);
    const results = await Promise.allSettled([
      run('select 1', [], other),
      other.query(findWebhookEvent, { eventId: randomUUID() }),
      other.transaction((transaction) => run('select 1', [], transaction)),
      other.em().then((em) => em.execute('select 1')),
    ]);
    for (const result of results) {
      assert.equal(result.status, 'rejected');
      assert.equal(result.reason.code, sqlstate);
      assert.ok(isDatabaseUnavailable(result.reason));
    }
  });
}

test('a statement that the server refuses says nothing of a connection', async () => {
  const refused = run(`do $$ begin raise insufficient_privilege; end $$`);
  await assert.rejects(refused, (error: Error & { code?: string }) => {
    return error.code === '42501' && !isDatabaseUnavailable(error);
  });
});

test(
  'a connection names the service, and the server ends statements that run away',
  onlyOnServer,
  async () => {
    const [row] = await run(
      `select current_setting('application_name') as name,
            current_setting('statement_timeout') as timeout`,
    );
    assert.deepEqual(row, { name: 'ponte', timeout: '30s' });
  },
);

test(
  'connections that are ended under load give errors, and new ones take over',
  onlyOnServer,
  async (t) => {
    const other = await opened(t, url());
    const administrator = await connected(t);
    await administrator.query('select pg_advisory_lock(1)');
    // They wait for the administrator's lock: they are under way for as long as this test wants.
    const underWay = Array.from({ length: 6 }, () => run('select pg_advisory_lock(1)', [], other));
    const ended = Promise.allSettled(underWay);
    await eventually(async () => (await waiting(administrator)).length === 6, 'the statements');
    for (const pid of await waiting(administrator)) {
      await administrator.query('select pg_terminate_backend($1)', [pid]);
    }
    for (const end of await ended) {
      assert(end.status === 'rejected');
      assert.ok(isDatabaseUnavailable(end.reason), String(end.reason));
    }
    const responses = await Promise.all(
      Array.from({ length: 12 }, () => run('select 1 as one', [], other)),
    );
    assert.deepEqual(responses.flat(), Array(12).fill({ one: 1 }));
  },
);

test('an idle connection that is ended is replaced', onlyOnServer, async (t) => {
  const other = await opened(t, url());
  const administrator = await connected(t);
  for (let round = 0; round < 3; round += 1) {
    const [row] = await run<{ pid: number }>('select pg_backend_pid() as pid', [], other);
    await administrator.query('select pg_terminate_backend($1)', [row?.pid]);
    // A statement before the end is noticed gets the error; a later one does not.
    await eventually(
      () =>
        run('select 1', [], other).catch((error: unknown) =>
          assert.ok(isDatabaseUnavailable(error)),
        ),
      'a new connection',
    );
  }
});

test(
  'a transaction whose connection is ended is undone, and its place is given back',
  onlyOnServer,
  async (t) => {
    const other = await opened(t, url());
    const administrator = await connected(t);
    // More transactions than the pool has places.
    for (let nth = 0; nth < 12; nth += 1) {
      const undone = (await other.em()).transactional(async (em) => {
        await em.execute(`insert into throttle_counters values ('interrupted', now(), 1, now())`);
        const [row] = await em.execute<{ pid: number }[]>('select pg_backend_pid() as pid');
        await administrator.query('select pg_terminate_backend($1)', [row?.pid]);
        if (nth % 2 === 0) await em.execute('select 1');
      });
      await assert.rejects(undone);
    }
    assert.deepEqual(await run(`select 1 from throttle_counters where key = 'interrupted'`), []);
    assert.deepEqual(await run('select 1 as one', [], other), [{ one: 1 }]);
  },
);

test(
  'a network that fails is an error of its kind, and the service recovers with it',
  onlyOnServer,
  async (t) => {
    const proxy = await startDatabaseProxy(url());
    t.after(() => proxy.cut());
    const other = await opened(t, proxy.url);
    await Promise.all(Array.from({ length: 4 }, () => run('select 1', [], other)));
    await proxy.cut();
    for (let tries = 0; tries < 6; tries += 1) {
      await assert.rejects(run('select 1', [], other), isDatabaseUnavailable);
    }
    await proxy.mend();
    assert.deepEqual(await run('select 1 as one', [], other), [{ one: 1 }]);
  },
);

test('closing waits five seconds for a silent server', onlyOnServer, async (t) => {
  const proxy = await startDatabaseProxy(url());
  t.after(() => proxy.cut());
  const clock = manualClock();
  const other = await openDatabase({ databaseUrl: proxy.url, dataDir: '', clock });
  await run('select 1', [], other);
  proxy.hold();
  const unanswered = assert.rejects(run('select 1', [], other), isDatabaseUnavailable);
  await eventually(() => other.connections().busy === 1, 'the statement');
  const closed = other.close();
  await clock.advance(5_000);
  await closed;
  await proxy.cut();
  await unanswered;
});

async function connected(t: TestContext): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url(), application_name: 'administrator' });
  await client.connect();
  t.after(() => client.end());
  return client;
}

/** The connections of this database that wait for a lock. */
async function waiting(administrator: pg.Client): Promise<number[]> {
  const { rows } = await administrator.query<{ pid: number }>(`
    select pid from pg_stat_activity
     where datname = current_database() and wait_event_type = 'Lock'`);
  return rows.map(({ pid }) => pid);
}
