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
  /** Whether all customers pay by the client of the contract. */
  readonly client: boolean;
  /** Whether every seed has dynamic codes to pay. */
  readonly codes: boolean;
  /** Whether the tallies contain the coverage. */
  readonly covers: boolean;
}

/** The part of a range for one process: every `step`-th seed. */
export interface Part extends Range {
  readonly step: number;
}

/** The task of a worker process. */
export interface Order {
  readonly prepared: Prepared;
  readonly part: Part;
}

/** Runs one seed; a difference between two databases is a violation. */
export async function simulateOn(
  store: Store,
  seed: number,
  options: Pick<Range, 'hazards' | 'client' | 'codes'>,
): Promise<Verdict> {
  const verdict = await simulate(store, seed, options);
  const [first] = await store.differences();
  if (first === undefined) return verdict;
  return { ...verdict, violations: [...verdict.violations, `the databases differ: ${first}`] };
}

/** Runs a part of a range until its minutes are over. */
export async function runPart(
  store: Store,
  { start, seeds, minutes, hazards, client, codes, covers, step }: Part,
  onVerdict: (verdict: Verdict) => void,
): Promise<void> {
  const endsAt = performance.now() + minutes * 60_000;
  for (let seed = start; seed < start + seeds && performance.now() < endsAt; seed += step) {
    const verdict = await simulateOn(store, seed, { hazards, client, codes });
    onVerdict(covers ? withCoverage(verdict) : verdict);
  }
}

interface Sharing {
  readonly prepared: Prepared;
  /** The number of processes. */
  readonly workers: number;
}

/** Shares a range among several processes. */
export async function shareRange(
  range: Range,
  { prepared, workers }: Sharing,
  onVerdict: (verdict: Verdict) => void,
): Promise<void> {
  const parts = Array.from({ length: Math.min(workers, range.seeds) }, (_, index): Part => {
    const { start, seeds } = range;
    return { ...range, start: start + index, seeds: seeds - index, step: workers };
  });
  await Promise.all(
    parts.map((part) => {
      const order: Order = { prepared, part };
      return runElsewhere('worker.ts', order, (verdict) => onVerdict(verdict as Verdict));
    }),
  );
}

/** Runs a script in a new process; its first message is the order. */
export function runElsewhere(
  script: string,
  order: object,
  onMessage: (message: unknown) => void,
): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const worker = fork(join(import.meta.dirname, script), { serialization: 'advanced' });
  worker.on('message', onMessage);
  worker.on('error', reject);
  worker.on('exit', (code) => {
    if (code === 0) resolve();
    else reject(new Error(`a worker has exited with ${code}`));
  });
  worker.send(order);
  return promise;
}
