/** The options of `npm run simulate`. */
import { engineNames, type EngineName } from '../postgres-model/engines.ts';
import { parseOptions, seedNumber, UsageError, wholeNumber } from '../support/tool.ts';
import { allHazards, defaultHazards, type Hazard, type Hazards } from './hazards.ts';

export const help = `Usage: npm run simulate -- [options]

Runs sends under the faults of a seed, on the real code and a model of PostgreSQL in memory. A seed
that fails is printed with the steps before its failure.

  --seeds N         how many seeds (default: 200; with --minutes, as many as these allow)
  --start N         the first seed (default: 1); random: one that is drawn
  --minutes N       begins no seed after this time
  --seed N          one seed, with its trace
  --shrink          with --seed: with the fewest faults with which it still fails
  --report          also how often each event and each fault occurred to a payment in each phase,
                    and which never did
  --client          all customers pay by the client of the contract
  --codes           every seed has dynamic codes to pay
  --hazards A,B     these hazards: names, all, none, and -name for without it
  --hazards help    which hazards there are
  --workers N       so many processes share the seeds (default: 1)
  --engine NAME     ${engineNames.join(', ')} (default: memory); both compares their responses
  --mutants         instead, whether each mutant is detected, by the seed in strength/killers.json,
                    which it updates
  --seeds N         with --mutants: and on up to so many seeds if its own does not (default: 60)
  --only PREFIX     with --mutants: those with this prefix, such as webhook-store
  --doubts          with --mutants: also those that have a reason to survive
  --scenes          instead, rewrites strength/scenes.json
  --decisions       instead, rewrites what the settlement decides in these seeds, in
                    test/unit/ledger/yardstick/triples.jsonl
  --help            this text

Exit codes: 0 every seed holds, or every mutant is detected or has a reason to survive; 1 not so;
2 wrong usage.
`;

export interface Options {
  readonly mode: 'seeds' | 'replay' | 'mutants' | 'scenes' | 'decisions' | 'hazards';
  readonly engine: EngineName;
  readonly hazards: Hazards;
  readonly client: boolean;
  readonly codes: boolean;
  /** The first seed, or the only one. */
  readonly start: number;
  /** Null: not given. */
  readonly seeds: number | null;
  readonly minutes: number | null;
  readonly workers: number;
  readonly shrinks: boolean;
  readonly reports: boolean;
  /** A prefix of the names of mutants. */
  readonly only: string;
  readonly doubts: boolean;
}

/** @returns the options, or null when help is requested. @throws UsageError */
export function readOptions(args: readonly string[]): Options | null {
  const values = parseOptions(args, accepted);
  if (values.help) return null;
  const engine = engineNames.find((name) => name === values.engine);
  if (!engine) throw new UsageError(`--engine takes one of ${engineNames.join(', ')}`);
  const workers = wholeNumber('workers', values.workers, 1);
  if (workers > 1 && engine !== 'memory')
    throw new UsageError('several workers run in memory only');
  const { seed, seeds, start, minutes } = values;
  return {
    mode: findMode(values),
    engine,
    hazards: toHazards(values.hazards),
    client: values.client,
    codes: values.codes,
    start: seed === undefined ? seedNumber('start', start) : wholeNumber('seed', seed),
    seeds: seeds === undefined ? null : wholeNumber('seeds', seeds),
    minutes: minutes === undefined ? null : wholeNumber('minutes', minutes),
    workers,
    shrinks: values.shrink,
    reports: values.report,
    only: values.only,
    doubts: values.doubts,
  };
}

type Values = ReturnType<typeof parseOptions<typeof accepted>>;

function findMode({ hazards, mutants, scenes, decisions, seed }: Values): Options['mode'] {
  if (hazards === 'help') return 'hazards';
  if (mutants) return 'mutants';
  if (scenes) return 'scenes';
  if (decisions) return 'decisions';
  return seed === undefined ? 'seeds' : 'replay';
}

/** `all`, `none`, or names; a `-` before one takes it out again. */
function toHazards(text: string | undefined): Hazards {
  if (text === undefined || text === 'help') return defaultHazards;
  const chosen = new Set<Hazard>();
  for (const entry of text.split(',').filter((one) => one !== '')) {
    const name = entry.replace(/^-/, '');
    const meant = allHazards.filter((one) => one === name || name === 'all');
    if (meant.length === 0 && name !== 'none') {
      throw new UsageError(`there is no hazard ${name}: ${allHazards.join(', ')}`);
    }
    for (const one of meant) {
      if (entry.startsWith('-')) chosen.delete(one);
      else chosen.add(one);
    }
  }
  return chosen;
}

const accepted = {
  seed: { type: 'string' },
  seeds: { type: 'string' },
  start: { type: 'string', default: '1' },
  minutes: { type: 'string' },
  hazards: { type: 'string' },
  engine: { type: 'string', default: 'memory' },
  workers: { type: 'string', default: '1' },
  shrink: { type: 'boolean', default: false },
  report: { type: 'boolean', default: false },
  mutants: { type: 'boolean', default: false },
  only: { type: 'string', default: '' },
  doubts: { type: 'boolean', default: false },
  scenes: { type: 'boolean', default: false },
  decisions: { type: 'boolean', default: false },
  client: { type: 'boolean', default: false },
  codes: { type: 'boolean', default: false },
  help: { type: 'boolean', default: false },
} as const;
