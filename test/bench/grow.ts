/** Compares the service on a small database and on a grown one, in turn. */
import type { Case } from './cases/case.ts';
import { bearer } from './cases/case.ts';
import { cases } from './cases/index.ts';
import { busyTransactions, growRows } from './grown-rows.ts';
import { startLoader, type RunLoad } from './load.ts';
import { measure, type Measurement } from './measure.ts';
import type { Options } from './options.ts';
import { table, whole } from './report.ts';
import { openStage, type Stage } from './stage.ts';
import { percentile, pool, ratio } from './statistics.ts';
import type { Target } from './target.ts';
import { takeTurn } from './turn.ts';

/** The share of its rate that the service keeps on the grown database. */
const leastKept = 0.9;

/** The time limit for a statement of one month of a customer with very many transactions. */
const statementWithinMs = 50;

/** The most transactions that a statement lists. */
const statementItems = 1_000;

/** The time limit for any page of such a customer's transactions, with any filters. */
const pageWithinMs = 20;

const repeats = 20;

interface Grown {
  readonly what: Case;
  readonly connections: number;
  readonly small: readonly Measurement[];
  readonly grown: readonly Measurement[];
}

export interface GrowReport {
  readonly text: string;
  readonly faults: readonly string[];
}

/** @param print receives lines of progress. */
export async function grow(options: Options, print: (line: string) => void): Promise<GrowReport> {
  await using parts = new AsyncDisposableStack();
  const { databaseUrl, provider } = options;
  await takeTurn(databaseUrl, print, parts);
  const small = await openStage('ponte', { databaseUrl, provider }, parts);
  const grown = await openStage('ponte', { databaseUrl, provider, database: 'grown' }, parts);
  await growRows(grown.target, options.transactions, print);
  const load = startLoader(parts);
  const results: Grown[] = [];
  for (const name of options.only) {
    for (const connections of options.connections) {
      const what = cases[name];
      print(`${what.title}, ${connections} connection(s)`);
      const first = results.length * 100;
      results.push(await inTurn({ options, what, connections, load, first }, small, grown));
    }
  }
  const monthMs = await monthOfStatement(grown.target);
  const pageMs = await slowestPage(grown.target);
  const faults = results.flatMap((result) =>
    (['small', 'grown'] as const).flatMap((size) =>
      pool(result[size]).faults.map((fault) => `${result.what.title}, ${size}: ${fault}`),
    ),
  );
  return { text: formatText(results, { monthMs, pageMs }), faults };
}

interface Turns {
  readonly options: Options;
  readonly what: Case;
  readonly connections: number;
  readonly load: RunLoad;
  /** The number of the first run. */
  readonly first: number;
}

async function inTurn(turns: Turns, small: Stage, grown: Stage): Promise<Grown> {
  const { options, what, connections, load, first } = turns;
  const once = (stage: Stage, round: number) => {
    // The first run is the warm-up.
    const seconds = round === 0 ? options.warmUpSeconds : options.seconds;
    const run = { number: first + round, seconds, connections };
    return measure(stage.target, what, { load, run });
  };
  const less: Measurement[] = [];
  const more: Measurement[] = [];
  for (let round = 0; round <= options.rounds; round += 1) {
    less.push(await once(small, round));
    more.push(await once(grown, round));
  }
  return { what, connections, small: less.slice(1), grown: more.slice(1) };
}

/** @returns the date some days ago, as `yyyy-mm-dd`. */
function day(daysAgo: number): string {
  return new Date(Date.now() - daysAgo * 86_400_000).toISOString().slice(0, 10);
}

/**
 * Reads a path as the customer with very many transactions, several times.
 * @param check throws for wrong items of the response.
 * @returns the median of the times, in milliseconds.
 */
async function measureTime(
  { server, customers }: Target,
  path: string,
  check: (items: unknown) => void,
): Promise<number> {
  const [busy] = customers;
  if (!busy) throw new Error('there are no customers');
  const times: number[] = [];
  for (let turn = 0; turn < repeats; turn += 1) {
    const startedAt = performance.now();
    const response = await fetch(`${server.url}/api/v1${path}`, { headers: bearer(busy) });
    const { items } = (await response.json()) as { items: unknown };
    times.push(performance.now() - startedAt);
    check(items);
  }
  return percentile([Float64Array.from(times)], 0.5);
}

function monthOfStatement(target: Target): Promise<number> {
  const path = `/accounts/statement?start_date=${day(60)}&end_date=${day(30)}`;
  const least = Math.min(statementItems, (busyTransactions / 365) * 30);
  return measureTime(target, path, (items) => {
    const { local } = items as { readonly local: readonly unknown[] };
    if (local.length < least) throw new Error(`a month has ${local.length} items`);
  });
}

/** The newest page, one of last year, and pages whose filters match no transaction. */
const pages: readonly (readonly [query: string, items: number])[] = [
  ['', 100],
  [`&start_date=${day(350)}&end_date=${day(300)}`, 100],
  ['&type=PIX_CHARGE', 0],
  ['&type=PIX_SEND&status=FAILED', 0],
];

async function slowestPage(target: Target): Promise<number> {
  const times: number[] = [];
  for (const [query, wanted] of pages) {
    const path = `/pix?limit=100${query}`;
    const time = await measureTime(target, path, (items) => {
      const { length } = items as readonly unknown[];
      if (length !== wanted) throw new Error(`${path} has ${length} items`);
    });
    times.push(time);
  }
  return Math.max(...times);
}

interface BusyTimes {
  readonly monthMs: number;
  readonly pageMs: number;
}

function formatText(results: readonly Grown[], { monthMs, pageMs }: BusyTimes): string {
  const rows = results.map(({ what, connections, small, grown }) => {
    const kept = ratio(grown, small).value;
    const rates = [pool(small), pool(grown)].flatMap((one) => [
      whole(one.perSecond),
      one.p99Ms.toFixed(1),
      whole(one.serverCpuUs),
      whole(one.databaseCpuUs),
    ]);
    return [
      `${what.title}, ${connections}`,
      judged(`${(kept * 100).toFixed(0)} %`, `at least ${leastKept * 100} %`, kept >= leastKept),
      ...rates,
    ];
  });
  const columns = ['req/s', 'p99 ms', 'CPU µs', 'db µs'];
  const sizes = ['small', 'grown'].flatMap((size) => columns.map((name) => `${size} ${name}`));
  const within = (maxMs: number, ms: number): string =>
    judged(`${ms.toFixed(1)} ms`, `at most ${maxMs} ms`, ms <= maxMs);
  return [
    table([['case', 'keeps', ...sizes], ...rows]),
    '',
    `Of a customer with ${busyTransactions} transactions`,
    `a month of the statement: ${within(statementWithinMs, monthMs)}`,
    `the slowest page of the list: ${within(pageWithinMs, pageMs)}`,
    '',
  ].join('\n');
}

function judged(value: string, target: string, isMet: boolean): string {
  return `${value} (${target}: ${isMet ? 'met' : 'NOT met'})`;
}
