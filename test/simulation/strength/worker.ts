/** A process of several that share the mutants (`judge.ts`): it tells what became of each. */
import { once } from 'node:events';
import type { Mutation } from '../deviation.ts';
import { simulate } from '../simulate.ts';
import { openStore, type Store } from '../store.ts';
import type { MutantOrder, MutantResult } from './judge.ts';
import { allMutants } from './mutants.ts';

async function resultOf(
  store: Store,
  { name, deviation }: Mutation,
  seeds: number,
): Promise<MutantResult> {
  for (let seed = 1; seed <= seeds; seed += 1) {
    const [violation] = (await simulate(store, seed, { deviation })).violations;
    if (violation !== undefined) return { name, killer: { seed, violation } };
  }
  return { name, killer: null };
}

// What a mutant leaves behind when its history breaks off is no defect of the simulation.
process.on('unhandledRejection', () => undefined);
const [order] = (await once(process, 'message')) as [MutantOrder];
const store = await openStore({ prepared: order.prepared });
const mutants = (await allMutants()).filter(({ name }) => name.startsWith(order.only));
for (let index = order.first; index < mutants.length; index += order.step) {
  const mutant = mutants[index];
  if (mutant) process.send?.(await resultOf(store, mutant, order.seeds));
}
await store.close();
process.disconnect?.();
