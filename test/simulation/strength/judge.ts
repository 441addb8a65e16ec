/**
 * Runs every mutant on the seed that noticed it last, else until a seed notices. One that no seed
 * notices has a test file in the record that fails with it, or a written reason.
 */
import { runElsewhere } from '../seeds.ts';
import type { Prepared } from '../store.ts';
import type { Killers } from './killers.ts';
import { reasons } from './survivors.ts';
import { failingTest, withTests } from './tested.ts';

/** What the processes are given that share the mutants. */
export interface MutantOrder {
  readonly prepared: Prepared;
  readonly killers: Killers;
  /** How many further seeds a mutant is run on at most. */
  readonly seeds: number;
  /** The mutants that are run on the recorded seed alone: they have a reason, or a test file. */
  readonly settled: readonly string[];
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

export interface Judgement {
  /** What is not as it should be; empty when each mutant is noticed or has a reason. */
  readonly problems: readonly string[];
  /** What has noticed the mutants of this run. */
  readonly killers: Killers;
  /** One line: how many mutants there are, and what became of them. */
  readonly summary: string;
}

export interface JudgeOptions extends Pick<MutantOrder, 'prepared' | 'killers' | 'seeds' | 'only'> {
  readonly workers: number;
  /** Runs those on seeds as well that have a reason or a test file. */
  readonly doubts: boolean;
  /** Runs the recorded test files: a process for each mutant. */
  readonly tests: boolean;
}

/** Runs the mutants, and writes a line for each. */
export async function judgeMutants(
  options: JudgeOptions,
  write: (text: string) => void,
): Promise<Judgement> {
  const { killers, doubts, tests } = options;
  const tested = Object.keys(killers).filter((name) => typeof killers[name] === 'string');
  const settled = doubts ? [] : [...reasons.keys(), ...tested];
  const results = await runMutants({ ...options, settled }, (result) => {
    write(lineOf(result, killers));
  });
  const passing = tests ? await passingTests(results, killers) : [];
  return judgementOf(results, { killers, passing });
}

async function runMutants(
  { workers, prepared, killers, seeds, only, settled }: JudgeOptions & Pick<MutantOrder, 'settled'>,
  told: (result: MutantResult) => void,
): Promise<MutantResult[]> {
  const results: MutantResult[] = [];
  const firsts = Array.from({ length: workers }, (_, first) => first);
  await Promise.all(
    firsts.map((first) => {
      const order: MutantOrder = { prepared, killers, seeds, only, settled, first, step: workers };
      return runElsewhere('strength/worker.ts', order, (message) => {
        results.push(message as MutantResult);
        told(message as MutantResult);
      });
    }),
  );
  return results;
}

/** The mutants with which their recorded test file does not fail. */
function passingTests(results: readonly MutantResult[], killers: Killers): Promise<string[]> {
  return withTests(async () => {
    const passing: string[] = [];
    for (const { name, killer } of results) {
      const file = killers[name];
      if (killer || typeof file !== 'string') continue;
      if ((await failingTest(name, file)) === null) passing.push(name);
    }
    return passing;
  });
}

interface Recorded {
  readonly killers: Killers;
  readonly passing: readonly string[];
}

function judgementOf(
  results: readonly MutantResult[],
  { killers: recorded, passing }: Recorded,
): Judgement {
  const killers: Record<string, number | string> = {};
  const problems: string[] = [];
  const counts = { seeds: 0, moved: 0, tests: 0, reasons: 0 };
  for (const { name, killer } of results) {
    const known = recorded[name];
    if (killer) {
      killers[name] = killer.seed;
      counts.seeds += 1;
      if (killer.seed !== known) counts.moved += 1;
      if (reasons.has(name)) problems.push(`noticed, although there is a reason why not: ${name}`);
    } else if (typeof known === 'string' && !passing.includes(name)) {
      killers[name] = known;
      counts.tests += 1;
    } else if (reasons.has(name)) {
      counts.reasons += 1;
    } else {
      problems.push(`neither noticed nor excused: ${name}`);
    }
  }
  const { seeds, moved, tests } = counts;
  const summary = `${results.length} mutants: ${seeds} noticed by a seed (${moved} by another one than
    recorded), ${tests} by a test, ${counts.reasons} with a reason, ${problems.length} problems`;
  return { problems, killers, summary: summary.replaceAll(/\s+/g, ' ') };
}

const longestViolation = 120;

function lineOf({ name, killer }: MutantResult, killers: Killers): string {
  if (killer) {
    const violation = killer.violation.replaceAll(/\s+/g, ' ').slice(0, longestViolation);
    return `killed    ${name} | seed ${killer.seed}: ${violation}`;
  }
  const known = killers[name];
  if (typeof known === 'string') return `tested    ${name} | ${known}`;
  return `survived  ${name} | ${reasons.get(name) ?? 'no reason is written'}`;
}
