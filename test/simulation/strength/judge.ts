/**
 * Runs every mutant on the seed that last detected it, then in the scenes of its statement, then on
 * further seeds, until one detects it. A mutant that survives all of them needs a recorded reason.
 */
import { runElsewhere } from '../seeds.ts';
import type { Prepared } from '../store.ts';
import type { Killers } from './killers.ts';
import { reasons } from './survivors.ts';

/** The input of each process that runs a share of the mutants. */
export interface MutantOrder {
  readonly prepared: Prepared;
  /** The seeds that last detected the mutants. */
  readonly killers: Killers;
  /** The maximum of further seeds for a mutant. */
  readonly seeds: number;
  /** The mutants that are not run on further seeds. */
  readonly excused: readonly string[];
  /** The prefix of the names of the mutants to run. */
  readonly only: string;
  /** The index of the first mutant of this process, and the distance to the next one. */
  readonly first: number;
  readonly step: number;
}

/** The result of a mutant. */
export interface MutantResult {
  readonly name: string;
  /** Null: the mutant survived. */
  readonly killer:
    { readonly seed: number; readonly violation: string } | { readonly scene: string } | null;
}

export interface Judgement {
  /** The problems; empty when each mutant is detected or has a reason to survive. */
  readonly problems: readonly string[];
  /** The seeds that detected the mutants of this run. */
  readonly killers: Killers;
  /** One line: the counts of the mutants by result. */
  readonly summary: string;
}

export interface JudgeOptions extends Pick<MutantOrder, 'prepared' | 'killers' | 'seeds' | 'only'> {
  readonly workers: number;
  /** Whether mutants that a scene detects, or that have a reason to survive, also run on seeds. */
  readonly doubts: boolean;
}

/** Runs the mutants, and writes a line for each. */
export async function judgeMutants(
  { workers, doubts, ...shared }: JudgeOptions,
  write: (text: string) => void,
): Promise<Judgement> {
  const results: MutantResult[] = [];
  const excused = doubts ? [] : [...reasons.keys()];
  const firsts = Array.from({ length: workers }, (_, first) => first);
  await Promise.all(
    firsts.map((first) => {
      const order: MutantOrder = { ...shared, excused, first, step: workers };
      return runElsewhere('strength/worker.ts', order, (message) => {
        const result = message as MutantResult;
        results.push(result);
        write(formatLine(result));
      });
    }),
  );
  return judge(results, shared.killers);
}

function judge(results: readonly MutantResult[], recorded: Killers): Judgement {
  const killers: Record<string, number> = {};
  const problems: string[] = [];
  const counts = { seeds: 0, moved: 0, scenes: 0, reasons: 0 };
  for (const { name, killer } of results) {
    if (killer && 'seed' in killer) {
      killers[name] = killer.seed;
      counts.seeds += 1;
      if (killer.seed !== recorded[name]) counts.moved += 1;
    } else if (killer) {
      counts.scenes += 1;
    } else if (reasons.has(name)) {
      counts.reasons += 1;
    } else {
      problems.push(`neither noticed nor excused: ${name}`);
    }
    if (killer && reasons.has(name)) problems.push(`noticed in spite of its reason: ${name}`);
  }
  const { seeds, moved, scenes } = counts;
  const summary = [
    `${results.length} mutants`,
    `${seeds} noticed by a seed (${moved} by another one than recorded)`,
    `${scenes} by a scene`,
    `${counts.reasons} survive with a reason`,
    `${problems.length} problems`,
  ].join(', ');
  return { problems, killers, summary };
}

const maxViolationLength = 120;

function formatLine({ name, killer }: MutantResult): string {
  if (!killer) return `survived  ${name} | ${reasons.get(name) ?? 'no reason is written'}`;
  if ('scene' in killer) return `killed    ${name} | scene: ${killer.scene}`;
  const violation = killer.violation.replaceAll(/\s+/g, ' ').slice(0, maxViolationLength);
  return `killed    ${name} | seed ${killer.seed}: ${violation}`;
}
