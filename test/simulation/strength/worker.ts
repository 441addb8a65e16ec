/** One of the processes that share the mutants (`judge.ts`): it reports the result of each. */
import { once } from 'node:events';
import type { Deviation, Mutation } from '../deviation.ts';
import { simulate } from '../simulate.ts';
import { openStore } from '../store.ts';
import type { MutantOrder, MutantResult } from './judge.ts';
import { seedsToTry } from './killers.ts';
import { allMutants } from './mutants.ts';
import { failingScene } from './scenes.ts';

// A rejection left by an aborted history of a mutant is not a defect of the simulation.
process.on('unhandledRejection', () => undefined);
// Nobody receives the results any more.
process.once('disconnect', () => process.exit());

const [order] = (await once(process, 'message')) as [MutantOrder];
const { killers, seeds, only, first, step } = order;
const store = await openStore({ prepared: order.prepared });
const others = seedsToTry(killers, seeds);
const excused = new Set(order.excused);
const sound = new Map<number, boolean>();

const mutants = (await allMutants()).filter(({ name }) => name.startsWith(only));
for (const [index, mutant] of mutants.entries()) {
  if (index % step === first) process.send?.(await runMutant(mutant));
}
await store.close();
process.disconnect?.();

async function runMutant(mutant: Mutation): Promise<MutantResult> {
  const { name, deviation } = mutant;
  const known = killers[name];
  const byRecord = known === undefined ? null : await firstToNotice(mutant, [known]);
  if (byRecord) return { name, killer: byRecord };
  const scene = await failingScene(store, name, deviation);
  if (scene !== null) return { name, killer: { scene } };
  return { name, killer: excused.has(name) ? null : await firstToNotice(mutant, others) };
}

async function firstToNotice({ deviation }: Mutation, tried: readonly number[]) {
  for (const seed of tried) {
    const violation = await findViolation(seed, deviation);
    // A seed that fails on the unchanged service proves nothing about a mutant.
    if (violation !== null && (await isSound(seed))) return { seed, violation };
  }
  return null;
}

/** @returns the first violation, or null. */
async function findViolation(seed: number, deviation: Deviation): Promise<string | null> {
  return (await simulate(store, seed, { deviation })).violations[0] ?? null;
}

async function isSound(seed: number): Promise<boolean> {
  const holds = sound.get(seed) ?? (await findViolation(seed, {})) === null;
  sound.set(seed, holds);
  return holds;
}
