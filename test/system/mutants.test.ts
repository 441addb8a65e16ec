/**
 * Each mutant of the service is detected, by the seed that detected it last or by a scene, or has a
 * documented reason to survive.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { judgeMutants } from '../simulation/strength/judge.ts';
import { readKillers } from '../simulation/strength/killers.ts';
import { prepareStore } from '../simulation/store.ts';

/** The number of seeds to try if the known seed no longer detects a mutant, unless it is rare. */
const seeds = 60;

test('each mutant of the service is noticed, or has a reason why it is not', async (t) => {
  const [prepared, killers] = [await prepareStore(), await readKillers()];
  const options = { prepared, killers, seeds, only: '', workers: 1, doubts: false };
  const { problems, summary } = await judgeMutants(options, () => undefined);
  t.diagnostic(summary);
  const hint = '`npm run simulate -- --mutants --seeds 500` looks further, and keeps what it finds';
  assert.deepEqual(problems, [], hint);
});
