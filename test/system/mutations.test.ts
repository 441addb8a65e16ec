/**
 * Tests the simulation itself: with each deliberate defect in the service, one of a bounded number
 * of seeds has to fail. An invariant that no defect violates checks nothing.
 */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { createTestDatabase } from '../support/db.ts';
import { mutations } from '../simulation/mutations.ts';
import { simulate } from '../simulation/simulate.ts';
import { openStore } from '../simulation/store.ts';

const database = await createTestDatabase();
const store = await openStore({ folder: database.dataDir });
after(async () => {
  await store.close();
  await database.drop();
});

/** Counted from its first seed; most defects are noticed in ten. */
const maxSeeds = 600;

for (const { name, deviation, firstSeed = 1 } of mutations) {
  test(`it is noticed when ${name}`, async (t) => {
    for (let seed = firstSeed; seed < firstSeed + maxSeeds; seed += 1) {
      const [violation] = (await simulate(store, seed, { deviation })).violations;
      if (violation === undefined) continue;
      t.diagnostic(`seed ${seed}: ${violation}`);
      return;
    }
    assert.fail(`nothing was noticed in ${maxSeeds} seeds`);
  });
}
