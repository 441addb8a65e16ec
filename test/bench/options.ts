/** The options of `npm run bench`. */
import { parseOptions, UsageError, wholeNumber } from '../support/tool.ts';
import { caseNames, type CaseName } from './cases/names.ts';

export const help = `Usage: npm run bench -- [options]

Runs four servers on one PostgreSQL, in turn: a plain reference, the practical limit with the rows
of the service (grouped) and with the fewest rows (least), and the service. It needs a PostgreSQL
server, where it creates and drops databases named ponte_bench_…:

  BENCH_DATABASE_URL=postgres://postgres@127.0.0.1:5432/postgres npm run bench -- --quick

Without BENCH_DATABASE_URL it takes DATABASE_URL. One benchmark runs at a time on a server. The
load comes from wrk where it is installed, otherwise from autocannon. Trust the ratios of one run;
the rates depend on the machine and on its other work. Each case is under load for ten seconds
before it is measured.

  --quick            under a minute: one round of short runs, without the login case, on servers
                     that have just started
  --rounds N         rounds, each of the four servers in turn (default: 5)
  --seconds N        how long a case is under load in a round (default: 5)
  --connections N    connections of the load (default: 32)
  --only A,B         cases: ${caseNames.join(', ')}
  --one              one connection, where the service must be no worse than the reference
  --grow             compares instead the service with 1,000 and with many transactions, and
                     measures a statement of a user with 100,000 (takes minutes)
  --transactions N   with --grow: how many, and half as many webhook events (default: 2000000)
  --processes A,B    measures instead that many processes of the service on one database, such as
                     1,2,4, without the login case
  --flood            measures instead how much longer customers' requests take in a flood
  --profile          runs instead one case (the first of --only) under Node's CPU profiler, from the
                     start of the service
  --json             one JSON document on standard output (of a comparison)
  --help             this text

Exit codes: 0 measured, whether the targets are met or not; 1 a response or a stored row was wrong,
or the benchmark failed; 2 wrong usage, or no PostgreSQL.
`;

export interface Options {
  readonly mode: 'compare' | 'flood' | 'grow' | 'profile' | 'scale';
  readonly databaseUrl: string;
  readonly rounds: number;
  readonly seconds: number;
  readonly warmUpSeconds: number;
  readonly connections: number;
  /** The number of transactions in the grown database. */
  readonly transactions: number;
  /** The numbers of processes to measure the service with, one after the other. */
  readonly processes: readonly number[];
  readonly only: readonly CaseName[];
  readonly json: boolean;
}

/**
 * The default warm-up. V8 optimises for this time under load, which a server that runs for days has
 * behind it. The comparison of a small database with a grown one does not need it, and the warm-up
 * would fill the small database.
 */
const steadySeconds = 10;

const casesWithoutLogins = caseNames.filter((name) => name !== 'login').join(',');

/** @returns the options, or null when help is requested. @throws UsageError */
export function readOptions(args: readonly string[], env: NodeJS.ProcessEnv): Options | null {
  const values = parseOptions(args, accepted);
  if (values.help) return null;
  const databaseUrl = env['BENCH_DATABASE_URL'] || env['DATABASE_URL'];
  if (!databaseUrl) {
    throw new UsageError(
      'The benchmark needs a PostgreSQL server. Name one whose user may create databases:\n\n' +
        '  BENCH_DATABASE_URL=postgres://postgres@127.0.0.1:5432/postgres ' +
        'npm run bench -- --quick',
    );
  }
  const mode = (['grow', 'profile', 'flood'] as const).find((name) => values[name]);
  const processes = values.processes?.split(',') ?? [];
  return {
    mode: mode ?? (processes.length > 0 ? 'scale' : 'compare'),
    databaseUrl,
    rounds: wholeNumber('rounds', values.rounds ?? (values.quick ? '1' : '5'), 1),
    seconds: wholeNumber('seconds', values.seconds ?? (values.quick ? '2' : '5'), 1),
    warmUpSeconds: values.quick || values.grow ? 1 : steadySeconds,
    connections: values.one ? 1 : wholeNumber('connections', values.connections ?? '32', 1),
    transactions: wholeNumber('transactions', values.transactions ?? '2000000', 1),
    processes: processes.map((count) => wholeNumber('processes', count.trim(), 1)),
    only: parseCases(
      values.only ?? (values.quick || values.processes ? casesWithoutLogins : undefined),
    ),
    json: values.json,
  };
}

function parseCases(text: string | undefined): readonly CaseName[] {
  if (text === undefined) return caseNames;
  const requested = text.split(',').map((name) => name.trim());
  const unknown = requested.filter((name) => !(caseNames as readonly string[]).includes(name));
  if (unknown.length > 0) {
    throw new UsageError(`--only takes ${caseNames.join(', ')}; not ${unknown.join(', ')}`);
  }
  return caseNames.filter((name) => requested.includes(name));
}

const accepted = {
  quick: { type: 'boolean', default: false },
  rounds: { type: 'string' },
  seconds: { type: 'string' },
  connections: { type: 'string' },
  transactions: { type: 'string' },
  processes: { type: 'string' },
  only: { type: 'string' },
  one: { type: 'boolean', default: false },
  grow: { type: 'boolean', default: false },
  flood: { type: 'boolean', default: false },
  profile: { type: 'boolean', default: false },
  json: { type: 'boolean', default: false },
  help: { type: 'boolean', default: false },
} as const;
