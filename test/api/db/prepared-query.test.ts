/** A batch that is sent as one message has the rows that the driver's own query has. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type pg from 'pg';
import { indexedPool, openPool, postgresConnection, run } from '../../../src/db/pool.ts';
import { preparedRunner } from '../../../src/db/prepared-query.ts';
import { serverUrl } from '../../support/db.ts';
import { startDatabaseProxy } from '../../support/database-proxy.ts';
import { eventually } from '../../support/eventually.ts';
import { onlyOnServer } from '../../support/open-database.ts';

const echo = {
  name: 'echo',
  text: `
    select q.*, now() - now() as none, '2026-01-02T03:04:05.678Z'::timestamptz as at,
           '2026-01-02'::date as day, 7::bigint as big, 8 as small
      from unnest($1::text[], $2::bytea[], $3::numeric[], $4::bool[], $5::jsonb[],
                  $6::timestamptz[])
           with ordinality as q (word, bytes, amount, flag, facts, instant, ordinal)
     order by q.ordinal`,
  batching: {},
};

const words = ['plain', '', 'NULL', '"', '\\', '{a,b}', "it's", 'São João 🏦', '\n\t', null];
const columns = [
  words,
  words.map((word) => (word === null ? null : Buffer.from(word))),
  words.map((_, place) => (place === 3 ? null : `${place}.05`)),
  words.map((_, place) => place % 2 === 0),
  words.map((word) => ({ word, inner: ['"', '\\'] })),
  words.map((_, place) => (place === 4 ? null : new Date(1_000_000_000_000 + place * 8_765))),
];

describe('a batch as one message', onlyOnServer, () => {
  let base: pg.Pool;
  let pool: pg.Pool;

  before(() => {
    base = openPool(postgresConnection(serverUrl ?? ''));
    pool = indexedPool(base);
  });

  after(async () => {
    await pool.end();
    await base.end();
  });

  it('has the same rows as a query of the driver, at first and when it is known', async () => {
    const batched = preparedRunner(pool);
    const expected = await run(base, echo, columns);
    const first = await batched(echo, columns);
    const again = await batched(echo, columns);
    assert.equal(first.length, words.length);
    for (const rows of [first, again]) assert.deepEqual(rows, expected);
  });

  it('describes its columns on each connection', async () => {
    const batched = preparedRunner(pool);
    const all = await Promise.all(Array.from({ length: 20 }, () => batched(echo, columns)));
    for (const rows of all) assert.deepEqual(rows, all[0]);
  });

  it('reports the refusal of the server, and the next batch is run', async () => {
    const batched = preparedRunner(pool);
    const divide = {
      name: 'divide',
      text: 'select 1 / q.n as result, ordinal from unnest($1::int[]) with ordinality q (n, ordinal)',
      batching: {},
    };
    await batched(divide, [[1]]);
    await assert.rejects(batched(divide, [[1, 0]]), { code: '22012' });
    assert.deepEqual(await batched(divide, [[1]]), [{ result: 1, ordinal: '1' }]);
    const wrong = { name: 'wrong', text: 'select nothing', batching: {} };
    await assert.rejects(batched(wrong, []), { code: '42703' });
    await assert.rejects(batched(wrong, []), { code: '42703' });
  });

  it('has the same values as a query of the driver, when it has no arrays', async () => {
    const values = ['São João 🏦', Buffer.from('"\\'), null, 7, new Date(1_000_000_000_123)];
    const alone = {
      name: 'alone',
      text: 'select $1::text a, $2::bytea b, $3::text c, $4::int d, $5::timestamptz e',
    };
    assert.deepEqual(await preparedRunner(pool)(alone, values), await run(base, alone, values));
  });

  it('fails when the server is silent, and its connection is closed', async (t) => {
    const proxy = await startDatabaseProxy(serverUrl ?? '');
    const far = indexedPool(openPool(postgresConnection(proxy.url)));
    t.after(async () => {
      await far.end();
      await proxy.cut();
    });
    const limited = preparedRunner(far, 400);
    const wait = { name: 'wait', text: 'select pg_sleep(0.25)' };
    // Each has the time to itself.
    for (const _ of [1, 2, 3]) assert.equal((await limited(wait, [])).length, 1);
    proxy.hold();
    await assert.rejects(limited(wait, []), { message: 'Query read timeout' });
    await eventually(() => far.totalCount === 0, 'the end of the silent one');
    await proxy.mend();
    assert.equal((await limited(wait, [])).length, 1);
  });

  it('has no rows for a statement that returns none', async () => {
    const batched = preparedRunner(pool);
    const quiet = { name: 'quiet', text: 'set local jit = off', batching: {} };
    assert.deepEqual(await batched(quiet, []), []);
    assert.deepEqual(await batched(quiet, []), []);
  });
});
