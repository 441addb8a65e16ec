/** The reference and the service in turn, round after round. */
import { cases } from './cases/index.ts';
import type { CaseName } from './cases/names.ts';
import { installedTool } from './load.ts';
import { measure, type Measurement } from './measure.ts';
import type { Options } from './options.ts';
import type { Report } from './report.ts';
import { openStage, type Stage } from './stage.ts';
import { summary } from './statistics.ts';
import { takeTurn } from './turn.ts';

interface Rounds {
  readonly reference: Measurement[];
  readonly ours: Measurement[];
}

/** @param tell is told what goes on. */
export async function compare(options: Options, tell: (line: string) => void): Promise<Report> {
  await using parts = new AsyncDisposableStack();
  const { databaseUrl, rounds, seconds, connections, only } = options;
  await takeTurn(databaseUrl, tell, parts);
  tell('making the databases and starting the servers');
  const reference = await openStage('reference', { databaseUrl }, parts);
  const ours = await openStage('ours', { databaseUrl }, parts);
  const tool = installedTool();
  const measured = new Map<CaseName, Rounds>(
    only.map((name) => [name, { reference: [], ours: [] }]),
  );
  let number = 0;
  const runOnce = (name: CaseName, { target }: Stage, forSeconds: number) => {
    number += 1;
    const run = { number, seconds: forSeconds };
    return measure(target, cases[name], { tool, connections, run });
  };
  for (const [name, results] of measured) {
    tell(`${cases[name].title}: warming up`);
    for (const stage of [reference, ours]) await runOnce(name, stage, options.warmUpSeconds);
    for (let round = 1; round <= rounds; round += 1) {
      const before = await runOnce(name, reference, seconds);
      const after = await runOnce(name, ours, seconds);
      results.reference.push(before);
      results.ours.push(after);
      const rates = [before, after].map(({ perSecond }) => perSecond.toFixed(0));
      tell(`${cases[name].title}: round ${round}, ${rates[0]}/s and ${rates[1]}/s`);
    }
  }
  const results = new Map(
    [...measured].map(([name, { reference: theirs, ours: own }]) => [
      name,
      { reference: summary(theirs), ours: summary(own) },
    ]),
  );
  const all = [...results.values()].map((pair) => pair.ours);
  const memory = all.map(({ memoryMb }) => memoryMb).filter((mb) => mb !== null);
  return {
    tool,
    connections,
    rounds,
    seconds,
    results,
    footprint: {
      readyMs: ours.readyMs,
      idleMb: ours.idleMb,
      loadedMb: memory.length === 0 ? null : Math.max(...memory),
      loopDelayMs: Math.max(...all.map(({ loopDelayMs }) => loopDelayMs)),
    },
  };
}
