/** Runs every mutant until a seed notices, and holds those that survive to the written reasons. */
import { runElsewhere } from '../seeds.ts';
import type { Prepared } from '../store.ts';
import { reasons } from './survivors.ts';

/** What the processes are given that share the mutants. */
export interface MutantOrder {
  readonly prepared: Prepared;
  /** How many seeds a mutant is run on at most. */
  readonly seeds: number;
  /** How the names begin of those that are run. */
  readonly only: string;
  /** The first mutant of this process, and how far it is to the next one. */
  readonly first: number;
  readonly step: number;
}

/** What became of a mutant. */
export interface MutantResult {
  readonly name: string;
  /** Null: it has survived all seeds. */
  readonly killer: { readonly seed: number; readonly violation: string } | null;
}

/** @returns whether every mutant is noticed, or has a reason why it is not. */
export async function judgeMutants(
  order: Pick<MutantOrder, 'prepared' | 'seeds' | 'only'> & { readonly workers: number },
  write: (text: string) => void,
): Promise<boolean> {
  const { workers, ...shared } = order;
  const results: MutantResult[] = [];
  const told = (message: unknown): void => {
    const result = message as MutantResult;
    results.push(result);
    write(lineOf(result));
  };
  const firsts = Array.from({ length: workers }, (_, first) => first);
  await Promise.all(
    firsts.map((first) =>
      runElsewhere('strength/worker.ts', { ...shared, first, step: workers }, told),
    ),
  );
  const killed = results.filter(({ killer }) => killer !== null);
  const open = results.filter(({ name, killer }) => killer === null && !reasons.has(name));
  const survived = results.length - killed.length;
  write(`${results.length} mutants, ${killed.length} noticed, ${survived} survived`);
  for (const { name } of open) write(`survived without a reason: ${name}`);
  for (const { name } of killed) {
    if (reasons.has(name)) write(`noticed, although there is a reason why not: ${name}`);
  }
  return open.length === 0;
}

const longestViolation = 120;

function lineOf({ name, killer }: MutantResult): string {
  if (killer) {
    const violation = killer.violation.replaceAll(/\s+/g, ' ').slice(0, longestViolation);
    return `killed    ${name} | seed ${killer.seed}: ${violation}`;
  }
  return `survived  ${name} | ${reasons.get(name) ?? 'no reason is written'}`;
}
