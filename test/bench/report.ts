/** The results as tables, and as JSON. */
import { cpus } from 'node:os';
import { cases, type CaseName } from './cases/index.ts';
import type { Measurement } from './measure.ts';
import type { Options } from './options.ts';
import type { ServerName, Transport } from './processes.ts';
import { pool, ratio, type Pooled, type Ratio } from './statistics.ts';

/** The rounds of one case with one number of connections. */
export interface Result {
  readonly name: CaseName;
  readonly connections: number;
  readonly rounds: ReadonlyMap<ServerName, readonly Measurement[]>;
  /** The faults of the warm-up. */
  readonly faults: readonly string[];
}

export interface Comparison {
  readonly options: Options;
  /** The hash of the sources of the reference servers. */
  readonly references: string;
  /** The load of the machine in the minute before the run: it should be near 0. */
  readonly loadBefore: number;
  readonly results: readonly Result[];
  /** Of the service, when it was measured. */
  readonly ready: { readonly ms: number; readonly idleMb: number | null } | null;
}

/** Aligns columns to the width of their widest cell; the first two are aligned to the left. */
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

export function whole(value: number | null): string {
  return value === null ? '-' : value.toFixed(0);
}

const head = [
  'case',
  'server',
  'requests',
  'req/s',
  'p50 ms',
  'p99 ms',
  'settled p50',
  'p99',
  'CPU µs',
  'db µs',
  'log B',
  'images B',
  'MB',
  'loop ms',
];

function cells(one: Pooled): string[] {
  return [
    whole(one.requests),
    whole(one.perSecond),
    one.p50Ms.toFixed(2),
    one.p99Ms.toFixed(2),
    one.settled?.p50Ms.toFixed(1) ?? '',
    one.settled?.p99Ms.toFixed(1) ?? '',
    whole(one.serverCpuUs),
    whole(one.databaseCpuUs),
    whole(one.logBytes),
    whole(one.imageBytes),
    whole(one.memoryMb),
    one.loopDelayMs.toFixed(1),
  ];
}

function title({ name, connections }: Result): string {
  return `${cases[name].title}, ${connections}`;
}

const references = ['plain', 'grouped', 'least'] as const;

/** The ratios of the service to a reference, where both were measured. */
function ratiosTo(reference: ServerName, { rounds }: Result) {
  const [own, other] = [rounds.get('ponte'), rounds.get(reference)];
  if (!own || !other) return null;
  const [mine, theirs] = [pool(own), pool(other)];
  return {
    rate: ratio(own, other),
    cpu: quotient(totalCpuUs(mine), totalCpuUs(theirs)),
    log: quotient(mine.logBytes, theirs.logBytes),
    p99: quotient(mine.p99Ms, theirs.p99Ms),
  };
}

function totalCpuUs({ serverCpuUs, databaseCpuUs }: Pooled): number | null {
  return serverCpuUs === null || databaseCpuUs === null ? null : serverCpuUs + databaseCpuUs;
}

function quotient(own: number | null, other: number | null): number | null {
  return own === null || other === null || other === 0 ? null : own / other;
}

const ratioHead = [
  'Ponte, case',
  '',
  'rate to plain',
  'to grouped',
  'to least',
  'CPU to plain',
  'to grouped',
  'to least',
  'log to plain',
  'p99 to plain',
];

function ratioCells(result: Result): string[] {
  const [plain, grouped, least] = references.map((name) => ratiosTo(name, result));
  const all = [plain, grouped, least];
  const shown = (value: number | null | undefined): string => value?.toFixed(2) ?? '-';
  return [
    title(result),
    '',
    ...all.map((one) => (one ? shownRatio(one.rate) : '-')),
    ...all.map((one) => shown(one?.cpu)),
    shown(plain?.log),
    shown(plain?.p99),
  ];
}

function shownRatio({ value, least, most }: Ratio): string {
  return `${value.toFixed(2)} (${least.toFixed(2)}–${most.toFixed(2)})`;
}

/** @returns the table of all servers, and that of the ratios. */
export function resultsText(results: readonly Result[]): string {
  const rows = results.flatMap((result) =>
    [...result.rounds].map(([server, rounds], place) =>
      [place === 0 ? title(result) : '', server].concat(cells(pool(rounds))),
    ),
  );
  const ratios = results.map(ratioCells);
  return `${table([head, ...rows])}\n\n${table([ratioHead, ...ratios])}`;
}

const transportTexts: Readonly<Record<Transport, string>> = {
  http: 'HTTP',
  tls: 'TLS with HTTP/1.1',
  h2: 'TLS with HTTP/2',
};

/** @returns the text to print. */
export function reportText(comparison: Comparison): string {
  const { options, results, ready } = comparison;
  const faults = findFaults(results);
  return [
    `${options.rounds} round(s) of ${options.seconds} s in turns, all rounds as one set.`,
    `Load of the machine before the run: ${comparison.loadBefore.toFixed(1)} on ${cpus().length} cores.`,
    `The bank is reached over ${transportTexts[options.provider]}.`,
    `References, frozen until 1.3.0 is closed: sha256 ${comparison.references}.`,
    'CPU and db: of the server and of PostgreSQL for each request; log: bytes of PostgreSQL’s log for',
    'each request without images of pages, images: those on top after a checkpoint.',
    '',
    resultsText(results),
    '',
    ...(ready ? [`Ponte: ready after ${whole(ready.ms)} ms, ${whole(ready.idleMb)} MB idle.`] : []),
    faults.length === 0 ? 'All responses and rows were right.' : 'WRONG RESULTS:',
    ...faults.map((fault) => `  ${fault}`),
    '',
  ].join('\n');
}

/** @returns every wrong response and row of a run, with its case and its server. */
export function findFaults(results: readonly Result[]): string[] {
  return results.flatMap((result) => [
    ...result.faults.map((fault) => `${title(result)}, ${fault}`),
    ...[...result.rounds].flatMap(([server, rounds]) =>
      pool(rounds).faults.map((fault) => `${title(result)}, ${server}: ${fault}`),
    ),
  ]);
}

export function reportJson(comparison: Comparison): string {
  const { options, results, ...rest } = comparison;
  const { rounds, seconds, warmUpSeconds, provider } = options;
  const document = {
    ...rest,
    provider,
    rounds,
    seconds,
    warmUpSeconds,
    cases: results.map((result) => ({
      name: result.name,
      connections: result.connections,
      servers: Object.fromEntries([...result.rounds].map(([name, all]) => [name, pool(all)])),
      ratios: Object.fromEntries(references.map((name) => [name, ratiosTo(name, result)])),
    })),
    faults: findFaults(results),
  };
  return JSON.stringify(document, null, 2);
}
