/** The results as a table, and as JSON. */
import { cases } from './cases/index.ts';
import type { LoadTool } from './load.ts';
import type { Measurement } from './measure.ts';
import {
  footprintVerdicts,
  computeRatios,
  judgeCase,
  type Footprint,
  type Results,
  type Quartet,
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

/** Aligns columns to the width of their widest cell; only the first is aligned to the left. */
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

const head = [
  'case',
  'server',
  'req/s',
  'p50 ms',
  'p99 ms',
  'CPU µs',
  'db µs',
  'log B',
  'MB',
  'loop ms',
];

/** The printed names of the servers. */
const shownServers = {
  reference: 'plain',
  grouped: 'grouped',
  least: 'least',
  ponte: 'Ponte',
} as const;

const serverNames = ['reference', 'grouped', 'least', 'ponte'] as const;

function cells(one: Measurement): string[] {
  const whole = (value: number | null): string => (value === null ? '-' : value.toFixed(0));
  return [
    whole(one.perSecond),
    one.p50Ms.toFixed(2),
    one.p99Ms.toFixed(2),
    whole(one.serverCpuUs),
    whole(one.databaseCpuUs),
    whole(one.logBytes),
    whole(one.memoryMb),
    one.loopDelayMs.toFixed(1),
  ];
}

const ratioHead = [
  'requests/s',
  'plain',
  'grouped',
  'least',
  'Ponte',
  '/plain',
  '/grouped',
  '/least',
  'CPU plain',
  'grouped',
  'least',
  'Ponte',
];

/** One line for each case: rates, ratios, and CPU of the server + PostgreSQL. */
function ratioCells(title: string, measured: Quartet): string[] {
  const { ofReference, ofGrouped, ofLeast } = computeRatios(measured);
  const all = serverNames.map((server) => measured[server]);
  const whole = (value: number | null): string => value?.toFixed(0) ?? '-';
  return [
    title,
    ...all.map(({ perSecond }) => perSecond.toFixed(0)),
    ofReference.toFixed(2),
    ofGrouped.toFixed(2),
    ofLeast.toFixed(2),
    ...all.map((one) => `${whole(one.serverCpuUs)}+${whole(one.databaseCpuUs)}`),
  ];
}

export function said({ target, value, isMet }: Verdict): string {
  return `${value} (${target}: ${isMet ? 'met' : 'NOT met'})`;
}

/** @returns the text to print. */
export function reportText(report: Report): string {
  const { tool, connections, rounds, seconds, results, footprint } = report;
  const rows = [...results].flatMap(([name, measured]) =>
    serverNames.map((server, place) => [
      place === 0 ? cases[name].title : '',
      shownServers[server],
      ...cells(measured[server]),
    ]),
  );
  const ratios = [...results].map(([name, measured]) => ratioCells(cases[name].title, measured));
  const verdicts = [...results].map(([name]) => {
    const all = judgeCase(name, results, connections).map(said);
    return `  ${cases[name].title}: ${all.join('; ')}`;
  });
  const faults = findFaults(results);
  return [
    `${connections} connections, ${rounds} round(s) of ${seconds} s, load from ${tool}; medians.`,
    'CPU and db: microseconds of CPU per request, of the server and of PostgreSQL; log: bytes of',
    'PostgreSQL’s log per request.',
    '',
    table([head, ...rows]),
    '',
    table([ratioHead, ...ratios]),
    '',
    'Targets:',
    ...verdicts,
    ...footprintVerdicts(footprint).map((verdict) => `  ${said(verdict)}`),
    '',
    faults.length === 0 ? 'All responses and rows were right.' : 'WRONG RESULTS:',
    ...faults.map((fault) => `  ${fault}`),
    '',
  ].join('\n');
}

/** @returns every wrong response and row of a run, with its case and its server. */
export function findFaults(results: Results): string[] {
  return [...results].flatMap(([name, measured]) =>
    serverNames.flatMap((server) =>
      measured[server].faults.map((fault) => `${name}, ${shownServers[server]}: ${fault}`),
    ),
  );
}

export function reportJson(report: Report): string {
  const { results, footprint, connections, ...rest } = report;
  const document = {
    ...rest,
    connections,
    cases: [...results].map(([name, measured]) => ({
      name,
      servers: measured,
      ratios: computeRatios(measured),
      verdicts: judgeCase(name, results, connections),
    })),
    footprint: { ...footprint, verdicts: footprintVerdicts(footprint) },
    faults: findFaults(results),
  };
  return JSON.stringify(document, null, 2);
}
