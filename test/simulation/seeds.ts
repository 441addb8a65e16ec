/** Runs ranges of seeds, in this process or shared by several. */
import { fork } from 'node:child_process';
import { join } from 'node:path';
import type { Hazards } from './hazards.ts';
import { withCoverage } from './coverage.ts';
import { simulate, type Verdict } from './simulate.ts';
import type { Prepared, Store } from './store.ts';

export interface Range {
  readonly start: number;
  readonly seeds: number;
  readonly minutes: number;
  readonly hazards: Hazards;
  /** Whether the tallies tell what was reached. */
  readonly covers: boolean;
}

/** A process's part of a range: every so many seeds, from one on. */
export interface Part extends Range {
  readonly step: number;
}

/** What a process of several is given. */
export interface Order {
  readonly prepared: Prepared;
  readonly part: Part;
}

/** One seed; where two databases run, it does not hold if they differ. */
export async function simulateOn(store: Store, seed: number, hazards: Hazards): Promise<Verdict> {
  const verdict = await simulate(store, seed, { hazards });
  const [first] = await store.differences();
  if (first === undefined) return verdict;
  return { ...verdict, violations: [...verdict.violations, `the databases differ: ${first}`] };
}

/** Runs a part of a range, as far as its minutes go. */
export async function runPart(
  store: Store,
  { start, seeds, minutes, hazards, covers, step }: Part,
  told: (verdict: Verdict) => void,
): Promise<void> {
  const endsAt = performance.now() + minutes * 60_000;
  for (let seed = start; seed < start + seeds && performance.now() < endsAt; seed += step) {
    const verdict = await simulateOn(store, seed, hazards);
    told(covers ? withCoverage(verdict) : verdict);
  }
}

interface Sharing {
  readonly prepared: Prepared;
  /** How many processes there are to be. */
  readonly workers: number;
}

/** Shares a range among several processes. */
export async function shareRange(
  range: Range,
  { prepared, workers }: Sharing,
  told: (verdict: Verdict) => void,
): Promise<void> {
  const parts = Array.from({ length: Math.min(workers, range.seeds) }, (_, index): Part => {
    const { start, seeds } = range;
    return { ...range, start: start + index, seeds: seeds - index, step: workers };
  });
  await Promise.all(
    parts.map((part) => {
      const order: Order = { prepared, part };
      return runElsewhere('worker.ts', order, (verdict) => told(verdict as Verdict));
    }),
  );
}

/** Runs a script in a process of its own, with an order that it gets as its first message. */
export function runElsewhere(
  script: string,
  order: object,
  told: (message: unknown) => void,
): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const worker = fork(join(import.meta.dirname, script), { serialization: 'advanced' });
  worker.on('message', told);
  worker.on('error', reject);
  worker.on('exit', (code) => {
    if (code === 0) resolve();
    else reject(new Error(`a worker has ended with ${code}`));
  });
  worker.send(order);
  return promise;
}
