/** The results as a table, and as JSON. */
import { cases } from './cases/index.ts';
import type { LoadTool } from './load.ts';
import type { Measurement } from './measure.ts';
import {
  footprintVerdicts,
  ratioOf,
  verdictsOf,
  type Footprint,
  type Results,
  type Verdict,
} from './targets.ts';

export interface Report {
  readonly tool: LoadTool;
  readonly connections: number;
  readonly rounds: number;
  readonly seconds: number;
  readonly results: Results;
  readonly footprint: Footprint;
}

/** Columns as wide as their widest cell; the first is set to the left. */
export function table(rows: readonly (readonly string[])[]): string {
  const widths = rows.reduce<number[]>(
    (widest, row) => row.map((cell, place) => Math.max(cell.length, widest[place] ?? 0)),
    [],
  );
  const line = (row: readonly string[]): string =>
    row
      .map((cell, place) => {
        const width = widths[place] ?? 0;
        return place < 2 ? cell.padEnd(width) : cell.padStart(width);
      })
      .join('  ')
      .trimEnd();
  return rows.map(line).join('\n');
}

const head = ['case', 'server', 'req/s', 'p50 ms', 'p99 ms', 'CPU µs', 'db µs', 'MB', 'loop ms'];

function cells(one: Measurement): string[] {
  const whole = (value: number | null): string => (value === null ? '-' : value.toFixed(0));
  return [
    whole(one.perSecond),
    one.p50Ms.toFixed(2),
    one.p99Ms.toFixed(2),
    whole(one.serverCpuUs),
    whole(one.databaseCpuUs),
    whole(one.memoryMb),
    one.loopDelayMs.toFixed(1),
  ];
}

export function said({ target, value, isMet }: Verdict): string {
  return `${value} (${target}: ${isMet ? 'met' : 'NOT met'})`;
}

/** @returns what is printed. */
export function reportText(report: Report): string {
  const { tool, connections, rounds, seconds, results, footprint } = report;
  const rows = [...results].flatMap(([name, { reference, ours }]) => [
    [cases[name].title, 'reference', ...cells(reference)],
    ['', 'ours', ...cells(ours)],
  ]);
  const verdicts = [...results].map(([name, pair]) => {
    const all = verdictsOf(name, results, connections).map(said);
    return `  ${cases[name].title}: ${ratioOf(pair).toFixed(2)}× the reference; ${all.join('; ')}`;
  });
  const faults = faultsOf(results);
  return [
    `${connections} connections, ${rounds} round(s) of ${seconds} s, load from ${tool}; medians.`,
    'CPU and db: microseconds of CPU per request, of the server and of PostgreSQL.',
    '',
    table([head, ...rows]),
    '',
    'Targets:',
    ...verdicts,
    ...footprintVerdicts(footprint).map((verdict) => `  ${said(verdict)}`),
    '',
    faults.length === 0 ? 'All answers and rows were right.' : 'WRONG RESULTS:',
    ...faults.map((fault) => `  ${fault}`),
    '',
  ].join('\n');
}

/** Every wrong answer and row of a run, with its case and its server. */
export function faultsOf(results: Results): string[] {
  return [...results].flatMap(([name, pair]) =>
    (['reference', 'ours'] as const).flatMap((server) =>
      pair[server].faults.map((fault) => `${name}, ${server}: ${fault}`),
    ),
  );
}

export function reportJson(report: Report): string {
  const { results, footprint, connections, ...rest } = report;
  const document = {
    ...rest,
    connections,
    cases: [...results].map(([name, pair]) => ({
      name,
      reference: pair.reference,
      ours: pair.ours,
      ratio: ratioOf(pair),
      verdicts: verdictsOf(name, results, connections),
    })),
    footprint: { ...footprint, verdicts: footprintVerdicts(footprint) },
    faults: faultsOf(results),
  };
  return JSON.stringify(document, null, 2);
}
