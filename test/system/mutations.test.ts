/**
 * That the simulation notices: the service is broken on purpose in one place, and within a bounded
 * number of seeds one has to fail. An invariant that nothing can break checks nothing.
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

/** Nearly twice as many as any of them needs: 216, for what only an operator's action shows. */
const mostSeeds = 400;

for (const { name, deviation, firstSeed = 1 } of mutations) {
  test(`it is noticed when ${name}`, async (t) => {
    for (let seed = firstSeed; seed < firstSeed + mostSeeds; seed += 1) {
      const [violation] = (await simulate(store, seed, { deviation })).violations;
      if (violation === undefined) continue;
      t.diagnostic(`seed ${seed}: ${violation}`);
      return;
    }
    assert.fail(`nothing was noticed in ${mostSeeds} seeds`);
  });
}
