/**
 * How often an operation goes to the database and back, waits for the disk, and calls the provider:
 * what most of its time is spent on. No operation needs more than `src/db/README.md` says.
 */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { jobs } from '../../../src/app/jobs.ts';
import { operations } from '../../../src/app/operations.ts';
import { onlyEmbedded } from '../../support/open-database.ts';
import { cases } from './costs/cases.ts';
import { measure, type Cost } from './costs/meter.ts';
import { startScene } from './costs/scene.ts';
import { costsFile, readBudgets, withCosts } from './costs/table.ts';

/** Makes each case twice; the first time warms the service up. */
async function measureCases(): Promise<ReadonlyMap<string, Cost>> {
  const scene = await startScene();
  const costs = new Map<string, Cost>();
  for (const pass of [0, 1]) {
    const made = new Map<string, string>();
    for (const [name, prepare] of Object.entries(cases)) {
      try {
        const work = await prepare({ ...scene, pass, made });
        costs.set(name, await measure(scene.app, work));
      } catch (error) {
        throw new Error(`the case "${name}" has failed`, { cause: error });
      }
    }
  }
  return costs;
}

const costs = await measureCases();

// Set by `npm run docs`.
if (process.env['WRITE_COSTS']) writeFileSync(costsFile, await withCosts(costs));

const budgets = readBudgets();

test('every operation of the contract is measured', () => {
  // It is refused before its body is read.
  const others = ['registerPj'];
  const measured = [...costs.keys()].map((name) => name.replace(/,.*/, ''));
  const known = new Set([...Object.keys(operations), ...Object.keys(jobs)]);
  assert.deepEqual(
    Object.keys(operations).filter((name) => !measured.includes(name)),
    others,
  );
  assert.deepEqual(
    measured.filter((name) => !known.has(name)),
    [],
  );
});

for (const [name, { statements, commits, calls }] of costs) {
  test(`the budget is kept: ${name}`, () => {
    const budget = budgets.get(name);
    assert.ok(budget, `${name} has no budget: run npm run docs`);
    const sent = statements.join(', ');
    const assertMax = (what: string, count: number, most: number): void =>
      assert.ok(count <= most, `${name} has ${count} ${what}, at most ${most} may be: ${sent}`);
    assertMax('round trips', statements.length, budget.roundTrips);
    assertMax('commits', commits ?? 0, budget.commits);
    assertMax(`provider calls (${calls.join(', ')})`, calls.length, budget.calls);
  });
}

test('the costs are those of the README; otherwise run: npm run docs', onlyEmbedded, async () => {
  const written = readFileSync(costsFile, 'utf8').split('\n');
  const lines = (await withCosts(costs)).split('\n');
  assert.deepEqual(
    lines.filter((line, place) => line !== written[place]),
    [],
  );
  assert.equal(lines.length, written.length);
});
