/**
 * Sends under every trouble that a seed brings: processes that die at any point, a bank that fails
 * in every way, webhooks in any order, an app that asks again and again. What must hold is listed
 * in `truth.ts` (at every moment) and `invariants.ts` (at rest).
 *
 * A seed that fails is printed; `npm run simulate -- --seed S` replays it exactly.
 */
import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { after, test } from 'node:test';
import { createTestDatabase } from '../support/db.ts';
import { failureText, Summary } from './report.ts';
import { simulate } from './simulate.ts';
import { openStore } from './store.ts';

const database = await createTestDatabase();
const store = await openStore(database.dataDir);
after(async () => {
  await store.close();
  await database.drop();
});

/** The same on every machine: what they have shown once they show always. */
const fixedSeeds = Array.from({ length: 60 }, (_, index) => index + 1);

/** Others on every run, for so long. */
const randomSeconds = 10;
const mostRandomSeeds = 400;

async function holds(seed: number, summary: Summary): Promise<void> {
  const verdict = await simulate(store, seed);
  summary.add(verdict);
  assert.deepEqual(verdict.violations, [], failureText(verdict));
}

test('no payment is made twice, lost or misreported, whatever goes wrong: fixed seeds', async (t) => {
  const summary = new Summary();
  for (const seed of fixedSeeds) await holds(seed, summary);
  t.diagnostic(summary.text());
});

test('no payment is made twice, lost or misreported, whatever goes wrong: random seeds', async (t) => {
  const summary = new Summary();
  const first = randomInt(2 ** 31);
  t.diagnostic(`seeds from ${first}`);
  while (summary.seconds < randomSeconds && summary.seeds < mostRandomSeeds) {
    await holds(first + summary.seeds, summary);
  }
  t.diagnostic(summary.text());
});

test('a seed gives the same history again, whatever was run before it', async () => {
  for (const seed of [3, 7, 11]) {
    const { trace } = await simulate(store, seed);
    await simulate(store, seed + 1_000);
    const again = await simulate(store, seed);
    assert.deepEqual(again.trace, trace, `seed ${seed} went another way`);
  }
});

test('the seeds bring what they are there for', async () => {
  const tally = new Map<string, number>();
  const ends = new Set<string>();
  for (let seed = 1; seed <= 40; seed += 1) {
    const verdict = await simulate(store, seed);
    for (const [trouble, count] of verdict.tally) {
      tally.set(trouble, (tally.get(trouble) ?? 0) + count);
    }
    for (const { status, phase } of verdict.rows) ends.add(`${status} ${phase}`);
  }
  const troubles = ['deaths', 'stops', 'races lost', 'server_error after', 'silence after'];
  for (const trouble of troubles) assert.ok((tally.get(trouble) ?? 0) > 0, trouble);
  const expected = ['COMPLETED SETTLED', 'FAILED REJECTED', 'FAILED SETTLED', 'PROCESSING UNKNOWN'];
  for (const end of expected) assert.ok(ends.has(end), end);
});
