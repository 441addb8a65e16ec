/**
 * `npm run simulate`: runs sends under the faults of a seed, on the real code and a model of
 * PostgreSQL in memory.
 *
 *     npm run simulate -- --seeds 10000           seeds 1 to 10000
 *     npm run simulate -- --start 5000 --seeds 100
 *     npm run simulate -- --start random --seeds 300 --minutes 1
 *                                                 random seeds, as many as a minute allows
 *     npm run simulate -- --minutes 5             as many as five minutes allow
 *     npm run simulate -- --seed 42               one seed, with its trace
 *     npm run simulate -- --seeds 300 --report    and how often each event and each fault occurred
 *                                                 to a payment in each phase, and which never did
 *     npm run simulate -- --seed 42 --shrink      with the fewest faults with which it still fails
 *     npm run simulate -- --client                all customers pay by the client of the contract
 *     npm run simulate -- --codes                 every seed has dynamic codes to pay
 *     npm run simulate -- --hazards all           with hazards that the service does not handle yet
 *     npm run simulate -- --hazards help          which hazards there are
 *     npm run simulate -- --workers 2             two processes share the seeds
 *     npm run simulate -- --mutants               whether each mutant is detected, by the seed in
 *                                                 strength/killers.json, which it updates
 *     npm run simulate -- --mutants --only webhook-store
 *                                                 the mutants with this prefix
 *     npm run simulate -- --mutants --seeds 500   and on up to 500 seeds if its own does not
 *     npm run simulate -- --mutants --doubts      also the mutants that have a reason to survive
 *     npm run simulate -- --scenes                rewrites strength/scenes.json
 *     npm run simulate -- --engine embedded       on the embedded database
 *     npm run simulate -- --engine both           on both, whose responses are compared
 *
 * It exits with 1 when a seed fails, and prints that seed and the steps before its failure.
 */
import { parseArgs } from 'node:util';
import {
  allHazards,
  defaultHazards,
  describeHazard,
  readHazards,
  type Hazards,
} from './hazards.ts';
import { engineNames } from '../postgres-model/engines.ts';
import { failureText, Summary } from './report.ts';
import { runPart, shareRange, simulateOn, type Range } from './seeds.ts';
import type { Verdict } from './simulate.ts';
import { judgeMutants, type JudgeOptions } from './strength/judge.ts';
import { readKillers, writeKillers } from './strength/killers.ts';
import { writeScenes } from './strength/scenes.ts';
import { shrink, shrunkText } from './strength/shrink.ts';
import { openStore, prepareStore, type Store } from './store.ts';

/** The number of seeds between two lines of progress. */
const seedsBetweenLines = 500;

function write(text: string): void {
  process.stdout.write(`${text}\n`);
}

function wholeNumber(name: string, text: string): number {
  if (!/^\d{1,15}$/.test(text)) throw new Error(`--${name} takes an integer`);
  return Number(text);
}

/** The range of random first seeds. */
const randomStarts = 2 ** 31;

function findStart(text: string): number {
  return text === 'random' ? Math.floor(Math.random() * randomStarts) : wholeNumber('start', text);
}

/** @returns whether the seed passes. */
async function replay(store: Store, seed: number, hazards: Hazards): Promise<boolean> {
  const shrunk = values.shrink ? await shrink(store, seed, { hazards, client, codes }) : null;
  if (shrunk) {
    write(shrunkText(shrunk));
    return false;
  }
  const { trace, violations } = await simulateOn(store, seed, { hazards, client, codes });
  write(trace.join('\n'));
  for (const violation of violations) write(`seed ${seed}: ${violation}`);
  return violations.length === 0;
}

const { values } = parseArgs({
  options: {
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
    client: { type: 'boolean', default: false },
    codes: { type: 'boolean', default: false },
  },
});
const { seed, seeds, start, minutes, client, codes } = values;

/** @returns whether every seed holds. */
async function run(hazards: Hazards): Promise<boolean> {
  const engine = engineNames.find((name) => name === values.engine);
  if (!engine) throw new Error(`--engine takes one of ${engineNames.join(', ')}`);
  const workers = wholeNumber('workers', values.workers);
  if (workers > 1 && engine !== 'memory') throw new Error('several workers run in memory only');
  const range = {
    start: findStart(start),
    seeds: seeds === undefined && minutes ? Infinity : wholeNumber('seeds', seeds ?? '200'),
    minutes: minutes === undefined ? Infinity : wholeNumber('minutes', minutes),
    hazards,
    client,
    codes,
    covers: values.report,
  };
  if (workers > 1 && seed === undefined) {
    const prepared = await prepareStore();
    return summarise(range, (onVerdict) => shareRange(range, { prepared, workers }, onVerdict));
  }
  const store = await openStore({ engine });
  try {
    if (seed !== undefined) return await replay(store, wholeNumber('seed', seed), hazards);
    return await summarise(range, (onVerdict) => runPart(store, { ...range, step: 1 }, onVerdict));
  } finally {
    await store.close();
  }
}

/** @returns whether every seed holds. */
async function summarise(
  range: Range,
  work: (onVerdict: (verdict: Verdict) => void) => Promise<void>,
): Promise<boolean> {
  const summary = new Summary();
  write(`seeds from ${range.start}`);
  await work((verdict) => {
    summary.add(verdict);
    if (verdict.violations.length > 0) write(failureText(verdict, { client }));
    if (summary.seeds % seedsBetweenLines === 0) write(summary.progress());
  });
  write(summary.text());
  if (range.covers) write(summary.coverage());
  return summary.failed.length === 0;
}

/** @returns whether every mutant is detected, or has a reason to survive. */
async function mutate(): Promise<boolean> {
  const known = await readKillers();
  const { only, doubts } = values;
  const options: JudgeOptions = {
    prepared: await prepareStore(),
    killers: known,
    seeds: wholeNumber('seeds', seeds ?? '60'),
    workers: wholeNumber('workers', values.workers),
    only,
    doubts,
  };
  const { problems, killers, summary } = await judgeMutants(options, write);
  const others = Object.entries(known).filter(([name]) => !name.startsWith(only));
  await writeKillers({ ...Object.fromEntries(others), ...killers });
  for (const problem of problems) write(problem);
  write(summary);
  return problems.length === 0;
}

if (values.hazards === 'help') {
  for (const name of allHazards) write(describeHazard(name));
} else if (values.mutants) {
  if (!(await mutate())) process.exitCode = 1;
} else if (values.scenes) {
  const store = await openStore();
  await writeScenes(store);
  await store.close();
} else {
  const hazards = values.hazards === undefined ? defaultHazards : readHazards(values.hazards);
  if (!(await run(hazards))) process.exitCode = 1;
}
