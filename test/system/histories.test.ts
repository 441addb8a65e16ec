/** Histories of the simulation that take longer than those of `simulation/histories.test.ts`. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { failureText } from '../simulation/report.ts';
import { simulate } from '../simulation/simulate.ts';
import { openStore } from '../simulation/store.ts';
import { createTestDatabase } from '../support/db.ts';

const database = await createTestDatabase();
const store = await openStore({ folder: database.dataDir });
after(async () => {
  await store.close();
  await database.drop();
});

/** Seeds that have found a fault once. */
const seedsOfFaults = [
  64, 106_049, 536_127_567, 960_002_211, 960_018_853, 960_029_579, 1_000_062_760, 1_100_001_658,
  1_200_095_526, 1_400_099_602, 1_600_000_597, 1_700_000_572, 2_600_002_961, 7_007_078,
];

test('the histories that have found a fault once find none', async () => {
  for (const seed of seedsOfFaults) {
    const verdict = await simulate(store, seed);
    assert.deepEqual(verdict.violations, [], failureText(verdict));
  }
});

/**
 * Seeds in which all customers pay by the client of the contract. 24633: a process stops while it
 * replays all events for the operator.
 */
const seedsByClient = [1, 2, 3, 4, 5, 6, 7, 8, 24_633];

test('the client of the contract pays no wish twice, and each of its results is true', async () => {
  for (const seed of seedsByClient) {
    const verdict = await simulate(store, seed, { client: true });
    assert.deepEqual(verdict.violations, [], failureText(verdict, { client: true }));
  }
});

/** Seeds in which customers dispute payments, whatever the seeds draw. */
const seedsOfDisputes = [1, 5, 7, 19, 21, 24, 28, 37, 51, 106];

test('no dispute is invented, lost or misreported under any fault', async () => {
  const occurred = new Set<string>();
  for (const seed of seedsOfDisputes) {
    const verdict = await simulate(store, seed, { deviation: { disputes: true } });
    assert.deepEqual(verdict.violations, [], failureText(verdict));
    for (const name of verdict.tally.keys()) occurred.add(name);
  }
  const expected = [
    'disputes opened',
    'disputes opened at another channel',
    'disputes refused: content',
    'disputes refused: repeat',
    'disputes withdrawn',
    'repeated disputes',
    'dispute open answered 422',
    'dispute open answered 502',
    'dispute withdraw answered 502',
    'dispute calls GET',
    'events of disputes: contradicts a dispute',
    'events of disputes: ids of two payments',
  ];
  for (const name of expected) assert.ok(occurred.has(name), name);
});
