/** Measures several concurrent processes of the service on one database. */
import { cases } from './cases/index.ts';
import { installedTool } from './load.ts';
import { measure, type Measurement } from './measure.ts';
import type { Options } from './options.ts';
import { table } from './report.ts';
import { openStage } from './stage.ts';
import { summary } from './statistics.ts';
import { takeTurn } from './turn.ts';

export interface ScaleReport {
  readonly text: string;
  readonly faults: readonly string[];
}

interface Row {
  readonly title: string;
  readonly processes: number;
  readonly measured: Measurement;
}

/**
 * Each process has its own simulated bank, which recognises the customers of the other processes
 * by their tokens.
 * @param print receives lines of progress.
 */
export async function scale(options: Options, print: (line: string) => void): Promise<ScaleReport> {
  await using parts = new AsyncDisposableStack();
  await takeTurn(options.databaseUrl, print, parts);
  const rows: Row[] = [];
  for (const processes of options.processes)
    rows.push(...(await measureWith(processes, options, print)));
  const inOrder = options.only.flatMap((name) =>
    rows.filter(({ title }) => title === cases[name].title),
  );
  return {
    text: `${table([head, ...inOrder.map(cells)])}\n`,
    faults: inOrder.flatMap(({ title, processes, measured }) =>
      measured.faults.map((fault) => `${title}, ${processes} processes: ${fault}`),
    ),
  };
}

async function measureWith(
  processes: number,
  options: Options,
  print: (line: string) => void,
): Promise<Row[]> {
  await using parts = new AsyncDisposableStack();
  const { databaseUrl, connections, rounds, seconds, warmUpSeconds } = options;
  const { target } = await openStage('ponte', { databaseUrl, processes }, parts);
  const tool = installedTool();
  const rows: Row[] = [];
  for (const [place, name] of options.only.entries()) {
    const what = cases[name];
    print(`${processes} processes: ${what.title}`);
    const measured: Measurement[] = [];
    // The first run is the warm-up.
    for (let round = 0; round <= rounds; round += 1) {
      const run = { number: place * 100 + round, seconds: round === 0 ? warmUpSeconds : seconds };
      measured.push(await measure(target, what, { tool, connections, run }));
    }
    rows.push({ title: what.title, processes, measured: summary(measured.slice(1)) });
  }
  return rows;
}

const head = ['case', 'processes', 'req/s', 'p99 ms', 'CPU µs', 'db µs', 'a core of PostgreSQL/s'];

/** The last column is the rate at which PostgreSQL would use one whole core. */
function cells({ title, processes, measured }: Row): string[] {
  const { perSecond, p99Ms, serverCpuUs, databaseCpuUs } = measured;
  return [
    title,
    String(processes),
    perSecond.toFixed(0),
    p99Ms.toFixed(1),
    serverCpuUs?.toFixed(0) ?? '-',
    databaseCpuUs?.toFixed(0) ?? '-',
    databaseCpuUs === null ? '-' : (1e6 / databaseCpuUs).toFixed(0),
  ];
}
