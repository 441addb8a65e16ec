/** Measures the references and the service in turn, in several rounds. */
import { cases } from './cases/index.ts';
import type { CaseName } from './cases/names.ts';
import { installedTool } from './load.ts';
import { measure, type Measurement } from './measure.ts';
import type { Options } from './options.ts';
import type { Report } from './report.ts';
import { openStage, type Stage } from './stage.ts';
import { summary } from './statistics.ts';
import type { Quartet } from './targets.ts';
import { takeTurn } from './turn.ts';

const inTurn = ['reference', 'grouped', 'least', 'ponte'] as const;

type Rounds = { readonly [Server in keyof Quartet]: Measurement[] };

/** @param print receives lines of progress. */
export async function compare(options: Options, print: (line: string) => void): Promise<Report> {
  await using parts = new AsyncDisposableStack();
  const { databaseUrl, rounds, seconds, connections, only } = options;
  await takeTurn(databaseUrl, print, parts);
  print('creating the databases and starting the servers');
  const stages = {
    reference: await openStage('reference', { databaseUrl }, parts),
    grouped: await openStage('grouped', { databaseUrl }, parts),
    least: await openStage('least', { databaseUrl }, parts),
    ponte: await openStage('ponte', { databaseUrl }, parts),
  };
  const { ponte } = stages;
  const tool = installedTool();
  let number = 0;
  const runOnce = (name: CaseName, { target }: Stage, forSeconds: number) => {
    number += 1;
    const run = { number, seconds: forSeconds };
    return measure(target, cases[name], { tool, connections, run });
  };
  const results = new Map<CaseName, Quartet>();
  for (const name of only) {
    const measured: Rounds = { reference: [], grouped: [], least: [], ponte: [] };
    print(`${cases[name].title}: warming up`);
    for (const server of inTurn) await runOnce(name, stages[server], options.warmUpSeconds);
    for (let round = 1; round <= rounds; round += 1) {
      const rates: string[] = [];
      for (const server of inTurn) {
        const one = await runOnce(name, stages[server], seconds);
        measured[server].push(one);
        rates.push(one.perSecond.toFixed(0));
      }
      print(`${cases[name].title}: round ${round}, ${rates.join('/s, ')}/s`);
    }
    results.set(name, {
      reference: summary(measured.reference),
      grouped: summary(measured.grouped),
      least: summary(measured.least),
      ponte: summary(measured.ponte),
    });
  }
  const all = [...results.values()].map((measured) => measured.ponte);
  const maxDelayMs = (of: readonly Measurement[]): number =>
    Math.max(...of.map(({ loopDelayMs }) => loopDelayMs));
  const memory = all.map(({ memoryMb }) => memoryMb).filter((mb) => mb !== null);
  return {
    tool,
    connections,
    rounds,
    seconds,
    results,
    footprint: {
      readyMs: ponte.readyMs,
      idleMb: ponte.idleMb,
      loadedMb: memory.length === 0 ? null : Math.max(...memory),
      loopDelayMs: maxDelayMs(all),
      referenceLoopDelayMs: maxDelayMs([...results.values()].map((measured) => measured.reference)),
    },
  };
}
