/** The options of `npm run bench`. */
import { parseOptions, UsageError, wholeNumber } from '../support/tool.ts';
import { caseNames, type CaseName } from './cases/index.ts';
import { transports, type ServerName, type Transport } from './processes.ts';

/** In the order of the first round. */
export const serverNames = ['plain', 'grouped', 'least', 'ponte'] as const;

export const help = `Usage: npm run bench -- [options]

Measures four servers on one PostgreSQL, in turn: a plain server, two practical limits with the rows
of the plain one (grouped) and with the fewest rows (least), and the service. Each has a simulated
bank as a process of its own. It needs a PostgreSQL server, where it creates and drops
databases named ponte_bench_…:

  BENCH_DATABASE_URL=postgres://postgres@127.0.0.1:5432/postgres npm run bench -- --quick

Without BENCH_DATABASE_URL it takes DATABASE_URL. One benchmark runs at a time on a server. Trust
the ratios of one run; the rates depend on the machine and on its other work. All rounds of a case
are one set of requests, of which the percentiles are computed.

  --quick            one round of a second: whether it all works
  --rounds N         rounds, each of all servers in turn (default: 5)
  --seconds N        how long a case is under load in a round (default: 3)
  --warm-up N        seconds of load before the rounds of a case (default: 5)
  --connections A,B  connections of the load (default: 1,32)
  --only A,B         cases: ${caseNames.join(', ')}
  --servers A,B      servers: ${serverNames.join(', ')}
  --provider NAME    how the bank is reached: http (default), tls (HTTP/1.1 over TLS), or h2
                     (HTTP/2 over TLS, for servers that offer it)
  --grow             compares instead the service with 1,000 and with many transactions, and
                     measures a statement of a user with 100,000 (takes minutes)
  --transactions N   with --grow: how many, and half as many webhook events (default: 2000000)
  --profile          runs instead one case (the first of --only, with the first of --connections)
                     under Node's CPU profiler, from the start of the service
  --json             one JSON document on standard output (of a comparison)
  --help             this text

Exit codes: 0 measured; 1 a response or a stored row was wrong, or the benchmark failed; 2 wrong
usage, or no PostgreSQL.
`;

export interface Options {
  readonly mode: 'compare' | 'grow' | 'profile';
  readonly databaseUrl: string;
  readonly rounds: number;
  readonly seconds: number;
  readonly warmUpSeconds: number;
  readonly connections: readonly number[];
  readonly only: readonly CaseName[];
  readonly servers: readonly ServerName[];
  readonly provider: Transport;
  /** The number of transactions in the grown database. */
  readonly transactions: number;
  readonly json: boolean;
}

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
  const whole = (name: 'rounds' | 'seconds' | 'warm-up', usual: string): number =>
    wholeNumber(name, values[name] ?? (values.quick ? '1' : usual), 1);
  return {
    mode: (['grow', 'profile'] as const).find((name) => values[name]) ?? 'compare',
    databaseUrl,
    rounds: whole('rounds', '5'),
    seconds: whole('seconds', '3'),
    warmUpSeconds: whole('warm-up', values.grow ? '1' : '5'),
    connections: values.connections
      .split(',')
      .map((count) => wholeNumber('connections', count.trim(), 1)),
    only: names('only', values.only, caseNames),
    servers: names('servers', values.servers, serverNames),
    provider: oneOf('provider', values.provider, transports),
    transactions: wholeNumber('transactions', values.transactions, 1),
    json: values.json,
  };
}

/** @returns the named ones in their own order, all by default. */
function names<Name extends string>(
  option: string,
  text: string | undefined,
  all: readonly Name[],
): readonly Name[] {
  if (text === undefined) return all;
  const requested = text.split(',').map((name) => name.trim());
  const unknown = requested.filter((name) => !(all as readonly string[]).includes(name));
  if (unknown.length > 0) {
    throw new UsageError(`--${option} takes ${all.join(', ')}; not ${unknown.join(', ')}`);
  }
  return all.filter((name) => requested.includes(name));
}

function oneOf<Name extends string>(option: string, text: string, all: readonly Name[]): Name {
  const found = all.find((name) => name === text);
  if (found === undefined) {
    throw new UsageError(`--${option} takes one of ${all.join(', ')}; not ${text}`);
  }
  return found;
}

const accepted = {
  quick: { type: 'boolean', default: false },
  rounds: { type: 'string' },
  seconds: { type: 'string' },
  'warm-up': { type: 'string' },
  connections: { type: 'string', default: '1,32' },
  transactions: { type: 'string', default: '2000000' },
  only: { type: 'string' },
  servers: { type: 'string' },
  provider: { type: 'string', default: 'http' },
  grow: { type: 'boolean', default: false },
  profile: { type: 'boolean', default: false },
  json: { type: 'boolean', default: false },
  help: { type: 'boolean', default: false },
} as const;
