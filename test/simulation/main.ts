/** `npm run simulate`: histories of sends under faults (see `npm run simulate -- --help`). */
import { runTool } from '../support/tool.ts';
import { recordDecisions } from './decisions/record.ts';
import { allHazards, describeHazard } from './hazards.ts';
import { help, readOptions, type Options } from './options.ts';
import { failureText, Summary } from './report.ts';
import { runPart, shareRange, simulateOn, type Range } from './seeds.ts';
import type { Verdict } from './simulate.ts';
import { judgeMutants } from './strength/judge.ts';
import { readKillers, writeKillers } from './strength/killers.ts';
import { writeScenes } from './strength/scenes.ts';
import { shrink, shrunkText } from './strength/shrink.ts';
import { openStore, prepareStore, type Store } from './store.ts';

/** The number of seeds between two lines of progress. */
const seedsBetweenLines = 500;

function write(text: string): void {
  process.stdout.write(`${text}\n`);
}

/** @returns whether every seed holds, or every mutant is detected or has a reason to survive. */
async function run(options: Options): Promise<boolean> {
  switch (options.mode) {
    case 'hazards':
      for (const name of allHazards) write(describeHazard(name));
      return true;
    case 'scenes':
      await withStore(options, writeScenes);
      return true;
    case 'decisions':
      write(`recorded ${await recordDecisions(rangeOf(options), options.workers)} decisions`);
      return true;
    case 'mutants':
      return mutate(options);
    case 'replay':
      return withStore(options, (store) => replay(store, options));
    case 'seeds':
      return runSeeds(options);
  }
}

async function withStore<Result>(
  { engine }: Options,
  work: (store: Store) => Promise<Result>,
): Promise<Result> {
  const store = await openStore({ engine });
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}

/** @returns whether the seed passes. */
async function replay(store: Store, options: Options): Promise<boolean> {
  const { start: seed, hazards, client, codes, shrinks } = options;
  const shrunk = shrinks ? await shrink(store, seed, { hazards, client, codes }) : null;
  if (shrunk) {
    write(shrunkText(shrunk));
    return false;
  }
  const { trace, violations } = await simulateOn(store, seed, { hazards, client, codes });
  write(trace.join('\n'));
  for (const violation of violations) write(`seed ${seed}: ${violation}`);
  return violations.length === 0;
}

const defaultSeeds = 200;

function rangeOf(options: Options): Range {
  const { start, seeds, minutes, hazards, client, codes, reports } = options;
  return {
    start,
    seeds: seeds ?? (minutes === null ? defaultSeeds : Infinity),
    minutes: minutes ?? Infinity,
    hazards,
    client,
    codes,
    covers: reports,
  };
}

/** @returns whether every seed holds. */
async function runSeeds(options: Options): Promise<boolean> {
  const { start, client, workers, reports } = options;
  const range = rangeOf(options);
  const summary = new Summary();
  const add = (verdict: Verdict): void => {
    summary.add(verdict);
    if (verdict.violations.length > 0) write(failureText(verdict, { client }));
    if (summary.seeds % seedsBetweenLines === 0) write(summary.progress());
  };
  write(`seeds from ${start}`);
  if (workers > 1) await shareRange(range, { prepared: await prepareStore(), workers }, add);
  else await withStore(options, (store) => runPart(store, { ...range, step: 1 }, add));
  write(summary.text());
  if (reports) write(summary.coverage());
  return summary.failed.length === 0;
}

const defaultSeedsOfMutant = 60;

/** @returns whether every mutant is detected, or has a reason to survive. */
async function mutate({ seeds, workers, only, doubts }: Options): Promise<boolean> {
  const known = await readKillers();
  const { problems, killers, summary } = await judgeMutants(
    {
      prepared: await prepareStore(),
      killers: known,
      seeds: seeds ?? defaultSeedsOfMutant,
      workers,
      only,
      doubts,
    },
    write,
  );
  const others = Object.entries(known).filter(([name]) => !name.startsWith(only));
  await writeKillers({ ...Object.fromEntries(others), ...killers });
  for (const problem of problems) write(problem);
  write(summary);
  return problems.length === 0;
}

await runTool({ name: 'simulate', help, readOptions, run });
