/**
 * Compares the model of PostgreSQL in memory with the embedded database: same histories on both,
 * every response and every table. A server is not compared: its planner may execute the calls of a
 * batch with equal keys in any order.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createTestDatabase, serverUrl } from '../support/db.ts';
import { simulate } from '../simulation/simulate.ts';
import { openStore } from '../simulation/store.ts';

const skip = serverUrl === undefined ? false : 'it is compared with the embedded database';

test('the database in memory answers and stores what PostgreSQL does', { skip }, async (t) => {
  const database = await createTestDatabase();
  const store = await openStore({ engine: 'both', folder: database.dataDir });
  t.after(async () => {
    await store.close();
    await database.drop();
  });
  // Short histories that differ: each statement takes a hundred times longer here.
  for (const seed of [2, 12, 26, 29, 37, 40]) {
    const { violations } = await simulate(store, seed);
    assert.deepEqual(await store.differences(), [], `seed ${seed}`);
    assert.deepEqual(violations, [], `seed ${seed}`);
  }
});
