/** Grouped calls: what they share, and that each gets the answer that it would have got alone. */
import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { nextTurn } from '../../src/clock.ts';
import type { Statement } from '../../src/db/database.ts';
import { GroupedCalls, type Grouping } from '../../src/db/grouping.ts';
import { isDatabaseUnavailable } from '../../src/db/unavailable.ts';
import { eventually } from '../support/eventually.ts';
import { onlyOnServer, openTestDatabase } from '../support/open-database.ts';

const { db, rows } = await openTestDatabase();

await rows('create table counters (id int primary key check (id > 0), n int not null default 0)');

beforeEach(() => rows('delete from counters'));

/** Parameters, grouped: id. */
const store: Statement = {
  name: 'test-store',
  grouping: {},
  text: `
    with asked as (select * from unnest($1::int[]) with ordinality as asked (id, place)),
         stored as (insert into counters (id) select id from asked returning id)
    select place, stored.id, pg_current_xact_id()::text as commit
      from stored join asked using (id)`,
};

/** Parameters, grouped: id. */
const count: Statement = {
  name: 'test-count',
  grouping: { apartBy: 1 },
  text: `
    update counters set n = n + 1
      from unnest($1::int[]) with ordinality as asked (id, place)
     where counters.id = asked.id
    returning place, n, pg_current_xact_id()::text as commit`,
};

/** Parameters, grouped: seconds. */
const wait: Statement = {
  name: 'test-wait',
  grouping: {},
  text: `
    select place, pg_sleep(seconds) from unnest($1::float8[])
      with ordinality as asked (seconds, place)`,
};

interface Stored {
  readonly id: number;
  readonly commit: string;
}

const storeOne = async (id: number): Promise<Stored | undefined> =>
  (await db.query<Stored>(store, [id]))[0];

const numbers = (howMany: number) => Array.from({ length: howMany }, (_, index) => index + 1);

const codeOf = (result: PromiseSettledResult<unknown>): unknown =>
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

test('what comes while a group is under way goes together afterwards', async () => {
  const first = storeOne(1);
  await nextTurn();
  const later = await Promise.all([2, 3, 4, 5].map(storeOne));
  const commits = new Set(later.map((row) => row?.commit));
  assert.equal(commits.size, 1);
  assert.ok(!commits.has((await first)?.commit ?? ''));
});

test('calls that differ in nothing are apart, unless they do not say in what', async () => {
  await Promise.all([storeOne(1), storeOne(2)]);
  const commitsOf = async (statement: Statement, id: number | null) => {
    const calls = await Promise.all([1, 2].map(() => db.query<Stored>(statement, [id])));
    return new Set(calls.flat().map(({ commit }) => commit)).size;
  };
  assert.equal(await commitsOf(count, 1), 2);
  const text = count.text.replace('= asked.id', '= coalesce(asked.id, place)');
  assert.equal(await commitsOf({ ...count, name: 'test-count-all', text }, null), 1);
});

test('a group goes through its calls in the order that its statement names', async () => {
  const asked: unknown[] = [];
  const carryOut = async (_: unknown, [keys = [], users = []]: readonly unknown[][]) => {
    const order = keys.map((key, index) => `${String(key)}${String(users[index])}`);
    asked.push(order.join(' '));
    return order.map((call, index) => ({ place: String(index + 1), call }));
  };
  const calls = new GroupedCalls({ together: carryOut, alone: carryOut });
  const ask = async (grouping: Grouping) => {
    const statement = { name: JSON.stringify(grouping), text: '', grouping };
    const given = ['b 1', 'c 10', 'a 9', 'a 1'].map((call) => call.split(' '));
    return (await Promise.all(given.map((call) => calls.query(statement, call)))).flat();
  };
  const answers = await ask({ inOrderOf: [1, 2] });
  for (const grouping of [{ inOrderOf: [2, 1] }, { apartBy: 2 }, {}]) await ask(grouping);
  assert.deepEqual(
    answers.map((row) => ('call' in row ? row.call : '')),
    ['b1', 'c10', 'a9', 'a1'],
  );
  const apart = ['b1 a9 c10', 'a1'];
  assert.deepEqual(asked, ['a1 a9 b1 c10', 'a1 b1 a9 c10', ...apart, 'b1 c10 a9 a1']);
});

/** Groups that are answered one by one, and how large they were. */
function heldGroups(rule: Grouping) {
  const sizes: number[] = [];
  const answers: (() => void)[] = [];
  const carryOut = async (_: unknown, [ids = []]: readonly unknown[][]) => {
    sizes.push(ids.length);
    await new Promise<void>((resolve) => answers.push(resolve));
    return ids.map((_id, index) => ({ place: String(index + 1) }));
  };
  const calls = new GroupedCalls({ together: carryOut, alone: carryOut });
  const turns = async () => {
    for (const _ of numbers(3)) await nextTurn();
  };
  return {
    sizes,
    async ask(howMany: number, name = 'one') {
      for (const id of numbers(howMany)) {
        void calls.query({ name, text: '', grouping: rule }, [id]);
      }
      await turns();
    },
    async answer(group: number) {
      answers[group]?.();
      await turns();
    },
  };
}

test('of a statement one group is under way, and what comes meanwhile is the next', async () => {
  const { sizes, ask, answer } = heldGroups({});
  for (const howMany of [1, 2, 3, 4]) await ask(howMany);
  assert.deepEqual(sizes, [1]);
  await answer(0);
  assert.deepEqual(sizes, [1, 9]);
});

test('of a pair two groups are under way, each with half of those who ask over and over', async () => {
  const { sizes, ask, answer } = heldGroups({ pair: 'some' });
  await ask(1);
  // After a rest nobody is about to come back: the second takes all that there are.
  await ask(2);
  await ask(30);
  assert.deepEqual(sizes, [1, 2], 'nobody more while two are under way');
  await answer(0);
  assert.deepEqual(sizes, [1, 2, 17], 'half of 30 who wait, 2 under way and 1 who was answered');
  await answer(1);
  assert.deepEqual(sizes, [1, 2, 17, 13], 'those who were left');
  await ask(3);
  for (const group of [2, 3, 4]) await answer(group);
  await ask(40);
  assert.deepEqual(sizes, [1, 2, 17, 13, 3, 40], 'after a rest all of them');
});

test('statements of one pair have two groups together, and who waited longest goes first', async () => {
  const { sizes, ask, answer } = heldGroups({ pair: 'some' });
  await ask(1, 'claim');
  await ask(2, 'step');
  await ask(3, 'step');
  await ask(5, 'claim');
  await ask(1, 'step');
  assert.deepEqual(sizes, [1, 2]);
  await answer(0);
  assert.deepEqual(sizes, [1, 2, 4]);
  await answer(1);
  assert.deepEqual(sizes, [1, 2, 4, 5]);
});

test('a call without a row gets none, whatever the others get', async () => {
  await storeOne(7);
  const answers = await Promise.all([6, 7, 8].map((id) => db.query(count, [id])));
  assert.deepEqual(
    answers.map(({ length }) => length),
    [0, 1, 0],
  );
});

test('a call that the database refuses fails alone', async () => {
  const results = await Promise.allSettled([1, 2, -3, 4, 5, 6, -7, 8].map(storeOne));
  const refused = '23514';
  const done = 'fulfilled';
  assert.deepEqual(results.map(codeOf), [done, done, refused, done, done, done, refused, done]);
  const stored = await rows<{ id: number }>('select id from counters order by id');
  assert.deepEqual(
    stored.map(({ id }) => id),
    [1, 2, 4, 5, 6, 8],
  );
});

test('two calls about one row are two commits, and the second sees the first', async () => {
  await storeOne(1);
  const counted = await Promise.all(
    [1, 1, 1].map(async (id) => (await db.query<{ n: number; commit: string }>(count, [id]))[0]),
  );
  assert.deepEqual(
    counted.map((row) => row?.n),
    [1, 2, 3],
  );
  assert.equal(new Set(counted.map((row) => row?.commit)).size, 3);
});

test('more calls than a group takes are several groups', async () => {
  const stored = await Promise.all(numbers(600).map(storeOne));
  assert.equal(new Set(stored.map((row) => row?.commit)).size, 3);
});

test('who wants a locked row waits for it, and nobody else does', onlyOnServer, async () => {
  await Promise.all([1, 2].map(storeOne));
  const lock = await db.em();
  await lock.begin();
  await lock.execute('select from counters where id = 1 for update');
  const locked = db.query<{ n: number }>(count, [1]);
  const free = await db.query<{ n: number }>(count, [2]);
  await lock.commit();
  assert.deepEqual(
    [free, await locked].map(([row]) => row?.n),
    [1, 1],
  );
});

test(
  'a connection that breaks fails its group, and the next call has another',
  onlyOnServer,
  async () => {
    const waiting = Promise.allSettled([60, 60].map((seconds) => db.query(wait, [seconds])));
    await eventually(async () => {
      const ended = await rows(`
      select pg_terminate_backend(pid) from pg_stat_activity
       where datname = current_database() and query like '%pg_sleep(seconds)%'
         and wait_event = 'PgSleep'`);
      return ended.length === 1;
    }, 'the one statement that both calls are in');
    for (const result of await waiting) {
      assert.ok(result.status === 'rejected' && isDatabaseUnavailable(result.reason));
    }
    assert.equal((await db.query(wait, [0])).length, 1);
  },
);
