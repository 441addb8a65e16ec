/** A process of several that share the mutants (`judge.ts`): it reports what became of each. */
import { once } from 'node:events';
import type { Deviation, Mutation } from '../deviation.ts';
import { simulate } from '../simulate.ts';
import { openStore, type Store } from '../store.ts';
import type { MutantOrder, MutantResult } from './judge.ts';
import { seedsToTry } from './killers.ts';
import { allMutants } from './mutants.ts';

/** What does not hold; a statement that the database refuses ends the history itself. */
async function violationOf(store: Store, seed: number, deviation: Deviation) {
  try {
    return (await simulate(store, seed, { deviation })).violations[0];
  } catch (error) {
    return `the history broke off: ${String(error)}`;
  }
}

const holding = new Map<number, boolean>();

/** Whether a seed holds on the service as it is: otherwise it shows nothing of a mutant. */
async function isSound(store: Store, seed: number): Promise<boolean> {
  const known = holding.get(seed);
  if (known !== undefined) return known;
  const holds = (await violationOf(store, seed, {})) === undefined;
  holding.set(seed, holds);
  return holds;
}

/** Runs a mutant until its first failing seed. */
async function resultOf(
  store: Store,
  { name, deviation }: Mutation,
  seeds: Iterable<number>,
): Promise<MutantResult> {
  for (const seed of seeds) {
    const violation = await violationOf(store, seed, deviation);
    if (violation === undefined || !(await isSound(store, seed))) continue;
    return { name, killer: { seed, violation } };
  }
  return { name, killer: null };
}

// What a mutant leaves behind when its history breaks off is no defect of the simulation.
process.on('unhandledRejection', () => undefined);
const [order] = (await once(process, 'message')) as [MutantOrder];
const { prepared, killers, seeds, only, first, step } = order;
const store = await openStore({ prepared });
const mutants = (await allMutants()).filter(({ name }) => name.startsWith(only));
const others = seedsToTry(killers, seeds);
const settled = new Set(order.settled);
for (let index = first; index < mutants.length; index += step) {
  const mutant = mutants[index];
  if (!mutant) continue;
  const known = killers[mutant.name];
  const recorded = typeof known === 'number' ? [known] : [];
  const rest = settled.has(mutant.name) ? [] : others;
  process.send?.(await resultOf(store, mutant, new Set([...recorded, ...rest])));
}
await store.close();
process.disconnect?.();
