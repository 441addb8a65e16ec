/**
 * What real transactions do to each other. The simulation executes each statement by itself: it
 * sees no old snapshot, no wait for a lock and no deadlock.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Context } from '../../src/context/context.ts';
import { moment } from '../simulation/strength/stage.ts';
import { startTestApp } from '../support/app.ts';
import { serverUrl } from '../support/db.ts';
import { makeCatalogue, type Catalogue } from './interleavings/catalogue.ts';
import { accepted, repeated } from './interleavings/excuses.ts';
import { Findings } from './interleavings/explain.ts';
import { tryHistory } from './interleavings/histories.ts';
import { Lane } from './interleavings/lane.ts';
import { pairsOf, tryPair } from './interleavings/pairs.ts';

const skip = serverUrl ? false : 'runs on PostgreSQL; set DATABASE_URL';

/** To run some of them again: a pattern of pairs, and a seed. */
const { INTERLEAVINGS: seed, PAIRS: pairs } = process.env;
const firstSeed = Number(seed ?? 1);
const histories = seed === undefined ? 5_000 : 1;

/** The sessions of a lane: of four operations, and of what locks a row. */
const sessions = 5;

/** How many problems are shown. */
const shown = 5;

describe('operations that run at the same time', { skip }, () => {
  let lanes: readonly Lane[];
  let catalogue: Catalogue;

  before(async () => {
    const app = await startTestApp({ environment: { JOBS: 'off' } });
    const context: Context = { ...app.context, clock: { ...app.clock, now: () => moment.now } };
    const first = await Lane.open(sessions);
    lanes = [first, await Lane.open(sessions)];
    catalogue = await makeCatalogue(first, context);
    assert.ok(catalogue.size >= 70, `${catalogue.size} operations`);
  });

  after(async () => {
    for (const lane of lanes) await lane.close();
  });

  it('have the outcome of one after the other, each held before its commit', async (t) => {
    const findings = new Findings();
    const counts = { tried: 0, waited: 0, met: 0 };
    const isChosen = new RegExp(pairs ?? '');
    const names = pairsOf(catalogue).filter((two) => isChosen.test(two.join(' | ')));
    await share(names, (lane, two) => tryPair(lane, two, { catalogue, findings, counts }));
    t.diagnostic(JSON.stringify({ ...counts, ...findings.counts }));
    assert.deepEqual(findings.problems.slice(0, shown), []);
    if (pairs !== undefined) return;
    assert.ok(counts.met >= 500, `${counts.met} pairs have met`);
    const unused = [...repeated, ...accepted].filter((excuse) => !findings.excuses.has(excuse));
    assert.deepEqual(unused, [], 'excuses that are not needed');
  });

  it(`have the outcome of some order, in ${histories} random interleavings`, async (t) => {
    const findings = new Findings();
    const seeds = Array.from({ length: histories }, (_, nth) => firstSeed + nth);
    await share(seeds, (lane, one) => tryHistory(lane, one, { catalogue, findings }));
    t.diagnostic(JSON.stringify({ firstSeed, ...findings.counts }));
    assert.deepEqual(findings.problems.slice(0, shown), []);
  });

  async function share<Item>(
    items: readonly Item[],
    work: (lane: Lane, item: Item) => Promise<void>,
  ): Promise<void> {
    const left = items.values();
    const workOn = async (lane: Lane): Promise<void> => {
      for (const item of left) await work(lane, item);
    };
    await Promise.all(lanes.map(workOn));
  }
});
