/**
 * The model of PostgreSQL in memory, held against PostgreSQL: the same histories on both, every
 * answer and every table compared. With DATABASE_URL that is a server, otherwise the embedded
 * database.
 */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { createTestDatabase } from '../support/db.ts';
import { simulate } from './simulate.ts';
import { openStore } from './store.ts';

const database = await createTestDatabase();
const { dataDir: folder, databaseUrl } = database;
const store = await openStore({ engine: 'both', folder, databaseUrl });
after(async () => {
  await store.close();
  await database.drop();
});

test('the database in memory answers and stores what PostgreSQL does', async () => {
  for (const seed of [1, 2, 3, 5, 8, 13]) {
    const { violations } = await simulate(store, seed);
    assert.deepEqual(await store.differences(), [], `seed ${seed}`);
    assert.deepEqual(violations, [], `seed ${seed}`);
  }
});
