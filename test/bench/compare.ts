/** Measures the reference servers and the service in turns. */
import { loadavg } from 'node:os';
import { cases, type CaseName } from './cases/index.ts';
import { frozenHash } from './frozen.ts';
import { startLoader } from './load.ts';
import { measure, type Measurement } from './measure.ts';
import type { Options } from './options.ts';
import type { ServerName } from './processes.ts';
import { resultsText, type Comparison, type Result } from './report.ts';
import { openStage, type Stage } from './stage.ts';
import { takeTurn } from './turn.ts';

/** @param print receives lines of progress. */
export async function compare(
  options: Options,
  print: (line: string) => void,
): Promise<Comparison> {
  await using parts = new AsyncDisposableStack();
  const { databaseUrl, provider, servers } = options;
  await takeTurn(databaseUrl, print, parts);
  const [loadBefore = 0] = loadavg();
  print('creating the databases and starting the servers');
  const stages = new Map<ServerName, Stage>();
  for (const name of servers) {
    stages.set(name, await openStage(name, { databaseUrl, provider }, parts));
  }
  const turns = new Turns(options, stages, parts);
  const results: Result[] = [];
  for (const name of options.only) {
    for (const connections of options.connections) {
      const result = await turns.take(name, connections, print);
      results.push(result);
      print(`${resultsText([result])}\n`);
    }
  }
  const ponte = stages.get('ponte');
  return {
    options,
    references: await frozenHash(),
    loadBefore,
    results,
    ready: ponte ? { ms: ponte.readyMs, idleMb: ponte.idleMb } : null,
  };
}

class Turns {
  readonly #options: Options;
  readonly #stages: ReadonlyMap<ServerName, Stage>;
  readonly #load;
  #runs = 0;

  constructor(
    options: Options,
    stages: ReadonlyMap<ServerName, Stage>,
    parts: AsyncDisposableStack,
  ) {
    this.#options = options;
    this.#stages = stages;
    this.#load = startLoader(parts);
  }

  /** The warm-up, then the rounds; each round begins with another server. */
  async take(name: CaseName, connections: number, print: (line: string) => void): Promise<Result> {
    const { rounds: count, seconds, warmUpSeconds, servers } = this.#options;
    const title = `${cases[name].title}, ${connections} connection(s)`;
    print(`${title}: warming up`);
    const faults: string[] = [];
    for (const server of servers) {
      const warmUp = await this.#once(server, { name, connections, seconds: warmUpSeconds });
      faults.push(...warmUp.faults.map((fault) => `${server}: in the warm-up ${fault}`));
    }
    const rounds = new Map<ServerName, Measurement[]>(servers.map((server) => [server, []]));
    for (let round = 0; round < count; round += 1) {
      const start = round % servers.length;
      for (const server of [...servers.slice(start), ...servers.slice(0, start)]) {
        rounds.get(server)?.push(await this.#once(server, { name, connections, seconds }));
      }
      const rates = [...rounds].map(([server, all]) => {
        const last = all.at(-1);
        return `${server} ${last ? (last.requests / last.seconds).toFixed(0) : '-'}/s`;
      });
      print(`${title}: round ${round + 1}: ${rates.join(', ')}`);
    }
    return { name, connections, rounds, faults };
  }

  #once(server: ServerName, what: { name: CaseName; connections: number; seconds: number }) {
    const stage = this.#stages.get(server);
    if (!stage) throw new Error(`${server} was not started`);
    this.#runs += 1;
    const { name, connections, seconds } = what;
    const run = { number: this.#runs, connections, seconds };
    return measure(stage.target, cases[name], { load: this.#load, run });
  }
}
