/** The seed that last detected each mutant, recorded in `killers.json`. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

const file = join(import.meta.dirname, 'killers.json');

/** Seeds by the names of the mutants. */
export type Killers = Readonly<Record<string, number>>;

export async function readKillers(): Promise<Killers> {
  return JSON.parse(await readFile(file, 'utf8')) as Killers;
}

/** Writes the record, in alphabetical order. */
export async function writeKillers(killers: Killers): Promise<void> {
  const sorted = Object.fromEntries(
    Object.entries(killers).toSorted(([one], [other]) => (one < other ? -1 : 1)),
  );
  await writeFile(file, `${JSON.stringify(sorted, null, 2)}\n`);
}

/**
 * The seeds to try, without repetition: first those that detect the most mutants, then all others
 * in order.
 */
export function seedsToTry(killers: Killers, seeds: number): number[] {
  const counts = new Map<number, number>();
  for (const seed of Object.values(killers)) counts.set(seed, (counts.get(seed) ?? 0) + 1);
  const best = [...counts].toSorted(([, one], [, other]) => other - one).map(([seed]) => seed);
  const all = Array.from({ length: seeds }, (_, index) => index + 1);
  return [...new Set([...best, ...all])].slice(0, seeds);
}
