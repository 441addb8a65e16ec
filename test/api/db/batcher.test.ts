/** The query batcher: what calls share, and that each gets its result as without batching. */
import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { nextTurn } from '../../../src/clock.ts';
import { QueryBatcher, type Batching } from '../../../src/db/batcher.ts';
import { batchedStatement, sql } from '../../../src/db/statement.ts';
import { isDatabaseUnavailable } from '../../../src/db/unavailable.ts';
import { eventually } from '../../support/eventually.ts';
import { onlyOnServer, openTestDatabase } from '../../support/open-database.ts';

const { db, rows } = await openTestDatabase();

await rows('create table counters (id int primary key check (id > 0), n int not null default 0)');

beforeEach(() => rows('delete from counters'));

const store = batchedStatement({
  name: 'test-store',
  parameters: { id: 'int' },
  batching: {},
  text: (requested) => sql<Stored>`
    with requested as (select * from ${requested}),
         stored as (insert into counters (id) select id from requested returning id)
    select ordinal, stored.id, pg_current_xact_id()::text as commit
      from stored join requested using (id)`,
});

const count = batchedStatement({
  name: 'test-count',
  parameters: { id: 'int null' },
  batching: { conflictKey: 'id' },
  text: (requested) => sql<{ n: number; commit: string }>`
    update counters set n = n + 1 from ${requested}
     where counters.id = requested.id
    returning ordinal, n, pg_current_xact_id()::text as commit`,
});

const wait = batchedStatement({
  name: 'test-wait',
  parameters: { seconds: 'numeric' },
  batching: {},
  text: (requested) => sql`select ordinal, pg_sleep(seconds::float8) from ${requested}`,
});

interface Stored {
  readonly id: number;
  readonly commit: string;
}

const storeOne = async (id: number): Promise<Stored | undefined> =>
  (await db.query(store, { id }))[0];

const numbers = (length: number) => Array.from({ length }, (_, index) => index + 1);

const getCode = (result: PromiseSettledResult<unknown>): unknown =>
  result.status === 'rejected' ? result.reason.code : result.status;

test('calls of one turn of the event loop are one commit, and each gets its own row', async () => {
  const ids = numbers(40);
  const stored = await Promise.all(ids.map(storeOne));
  assert.deepEqual(
    stored.map((row) => row?.id),
    ids,
  );
  assert.equal(new Set(stored.map((row) => row?.commit)).size, 1);
});

test('calls that arrive while a batch is in flight share the next one', async () => {
  const first = storeOne(1);
  await nextTurn();
  const later = await Promise.all([2, 3, 4, 5].map(storeOne));
  const commits = new Set(later.map((row) => row?.commit));
  assert.equal(commits.size, 1);
  assert.ok(!commits.has((await first)?.commit ?? ''));
});

test('calls with the same conflict key are in two batches, unless the key is null', async () => {
  await Promise.all([storeOne(1), storeOne(2)]);
  const countCommits = async (statement: typeof count, id: number | null) => {
    const calls = await Promise.all([1, 2].map(() => db.query(statement, { id })));
    return new Set(calls.flat().map(({ commit }) => commit)).size;
  };
  assert.equal(await countCommits(count, 1), 2);
  const text = count.text.replace('= requested.id', '= coalesce(requested.id, ordinal)');
  assert.equal(await countCommits({ ...count, name: 'test-count-all', text }, null), 1);
});

test('a batch has its calls in the lock order of its statement', async () => {
  const batches: unknown[] = [];
  const run = async (_: unknown, values: readonly unknown[]) => {
    const [keys = [], users = []] = values as readonly unknown[][];
    const order = keys.map((key, index) => `${String(key)}${String(users[index])}`);
    batches.push(order.join(' '));
    return order.map((call, index) => ({ ordinal: String(index + 1), call }));
  };
  const batcher = new QueryBatcher({ batched: run, single: run });
  const query = async (batching: Batching) => {
    const names = ['key', 'user'];
    const statement = { name: JSON.stringify(batching), text: '', names, batching };
    const calls = ['b 1', 'c 10', 'a 9', 'a 1'].map((call) => {
      const [key, user] = call.split(' ');
      return batcher.query(statement, { key, user });
    });
    return (await Promise.all(calls)).flat();
  };
  const results = await query({ lockOrder: ['key', 'user'] });
  await query({ lockOrder: ['user', 'key'] });
  await query({ conflictKey: 'user' });
  await query({});
  assert.deepEqual(
    results.map((row) => ('call' in row ? row.call : '')),
    ['b1', 'c10', 'a9', 'a1'],
  );
  const separate = ['b1 a9 c10', 'a1'];
  assert.deepEqual(batches, ['a1 a9 b1 c10', 'a1 b1 a9 c10', ...separate, 'b1 c10 a9 a1']);
});

/** Batches that the test finishes one by one, and their sizes. */
function heldBatches(batching: Batching) {
  const sizes: number[] = [];
  const finishers: (() => void)[] = [];
  const run = async (_: unknown, values: readonly unknown[]) => {
    const [ids = []] = values as readonly unknown[][];
    sizes.push(ids.length);
    await new Promise<void>((resolve) => finishers.push(resolve));
    return ids.map((_id, index) => ({ ordinal: String(index + 1) }));
  };
  const batcher = new QueryBatcher({ batched: run, single: run });
  const turns = async () => {
    for (const _ of numbers(3)) await nextTurn();
  };
  return {
    sizes,
    async call(times: number, name = 'one', own = batching) {
      for (const id of numbers(times)) {
        void batcher.query({ name, text: '', names: ['id'], batching: own }, { id });
      }
      await turns();
    },
    async finish(batch: number) {
      finishers[batch]?.();
      await turns();
    },
  };
}

test('a statement has one batch in flight, and the calls that arrive meanwhile are the next', async () => {
  const { sizes, call, finish } = heldBatches({});
  for (const times of [1, 2, 3, 4]) await call(times);
  assert.deepEqual(sizes, [1]);
  await finish(0);
  assert.deepEqual(sizes, [1, 9]);
});

test('a lane has two batches in flight, each with half of the active callers', async () => {
  const { sizes, call, finish } = heldBatches({ lane: 'some' });
  await call(1);
  // After an idle period no caller is about to return: the second takes all calls.
  await call(2);
  await call(30);
  assert.deepEqual(sizes, [1, 2], 'no third batch');
  await finish(0);
  assert.deepEqual(sizes, [1, 2, 17], 'half of 30 waiting, 2 in flight and 1 finished');
  await finish(1);
  assert.deepEqual(sizes, [1, 2, 17], 'none that is smaller than the one in flight');
  await call(4);
  assert.deepEqual(sizes, [1, 2, 17, 17], 'as many as are in flight');
  await call(3);
  for (const batch of [2, 3, 4]) await finish(batch);
  await call(40);
  assert.deepEqual(sizes, [1, 2, 17, 17, 3, 40], 'after an idle period all of them');
});

test('the statements of one lane share two batches, and the longest wait is first', async () => {
  const { sizes, call, finish } = heldBatches({ lane: 'some' });
  await call(1, 'claim');
  await call(2, 'step');
  await call(3, 'step');
  await call(5, 'claim');
  await call(1, 'step');
  assert.deepEqual(sizes, [1, 2]);
  await finish(0);
  assert.deepEqual(sizes, [1, 2, 4]);
  await finish(1);
  assert.deepEqual(sizes, [1, 2, 4, 5]);
  await finish(2);
  await call(3, 'step');
  await call(4, 'claim');
  assert.deepEqual(sizes, [1, 2, 4, 5], 'the longest wait is for a batch of three');
});

test('a statement that comes after a busy one gathers what four batches of it lead to', async () => {
  const { sizes, call, finish } = heldBatches({});
  const callAfter = (times: number) => call(times, 'after', { after: { name: 'one' } });
  await call(1);
  await callAfter(5);
  for (const batch of [0, 1, 2]) {
    await call(1);
    await callAfter(1);
    await finish(batch);
  }
  assert.deepEqual(sizes, [1, 1, 1, 1], 'three have ended, and the fourth is in flight');
  await call(1);
  await finish(3);
  assert.deepEqual(sizes, [1, 1, 1, 1, 1, 8]);
  await callAfter(1);
  await finish(5);
  assert.deepEqual(sizes, [1, 1, 1, 1, 1, 8], 'the next ones wait for four more');
});

test('a statement that comes after another waits for none when that is idle', async () => {
  const { sizes, call, finish } = heldBatches({});
  const callAfter = (times: number) => call(times, 'after', { after: { name: 'one' } });
  await callAfter(2);
  assert.deepEqual(sizes, [2], 'it has never been called');
  await call(1);
  await finish(0);
  await callAfter(3);
  assert.deepEqual(sizes, [2, 1]);
  await finish(1);
  assert.deepEqual(sizes, [2, 1, 3], 'it has become idle');
});

test('a call without a row gets none, beside calls with rows', async () => {
  await storeOne(7);
  const results = await Promise.all([6, 7, 8].map((id) => db.query(count, { id })));
  assert.deepEqual(
    results.map(({ length }) => length),
    [0, 1, 0],
  );
});

test('a call that the database refuses fails, and the rest of its batch succeeds', async () => {
  const results = await Promise.allSettled([1, 2, -3, 4, 5, 6, -7, 8].map(storeOne));
  const refused = '23514';
  const done = 'fulfilled';
  assert.deepEqual(results.map(getCode), [done, done, refused, done, done, done, refused, done]);
  const stored = await rows<{ id: number }>('select id from counters order by id');
  assert.deepEqual(
    stored.map(({ id }) => id),
    [1, 2, 4, 5, 6, 8],
  );
});

test('two calls about one row are two commits, and the second sees the first', async () => {
  await storeOne(1);
  const counted = await Promise.all(
    [1, 1, 1].map(async (id) => (await db.query(count, { id }))[0]),
  );
  assert.deepEqual(
    counted.map((row) => row?.n),
    [1, 2, 3],
  );
  assert.equal(new Set(counted.map((row) => row?.commit)).size, 3);
});

test('more calls than fit into a batch are several batches', async () => {
  const stored = await Promise.all(numbers(600).map(storeOne));
  assert.equal(new Set(stored.map((row) => row?.commit)).size, 3);
});

test(
  'a call that needs a locked row waits for it, and no other call does',
  onlyOnServer,
  async () => {
    await Promise.all([1, 2].map(storeOne));
    const lock = await db.em();
    await lock.begin();
    await lock.execute('select from counters where id = 1 for update');
    const locked = db.query(count, { id: 1 });
    const free = await db.query(count, { id: 2 });
    await lock.commit();
    assert.deepEqual(
      [free, await locked].map(([row]) => row?.n),
      [1, 1],
    );
  },
);

test(
  'a lost connection fails its batch, and the next call has another connection',
  onlyOnServer,
  async () => {
    const waiting = Promise.allSettled(['60', '60'].map((seconds) => db.query(wait, { seconds })));
    await eventually(async () => {
      const ended = await rows(`
      select pg_terminate_backend(pid) from pg_stat_activity
       where datname = current_database() and query like '%pg_sleep(seconds::float8)%'
         and wait_event = 'PgSleep'`);
      return ended.length === 1;
    }, 'the one statement that both calls are in');
    for (const result of await waiting) {
      assert.ok(result.status === 'rejected' && isDatabaseUnavailable(result.reason));
    }
    assert.equal((await db.query(wait, { seconds: '0' })).length, 1);
  },
);
