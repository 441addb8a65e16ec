/** Measures one case on one server: the load, its cost, and whether all results are correct. */
import type { Case, Run } from './cases/case.ts';
import type { LoadResult } from './load-plan.ts';
import { runLoad, type LoadTool } from './load.ts';
import { cpuMsBetween, readCpuMs, databaseCpu, logPosition, readMemoryMb } from './meters.ts';
import type { Server } from './processes.ts';
import type { Target } from './target.ts';

export interface Measurement {
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Microseconds of CPU per request; null where they cannot be read. */
  readonly serverCpuUs: number | null;
  readonly databaseCpuUs: number | null;
  /** Bytes of PostgreSQL's write-ahead log per request, with all other writes on the server. */
  readonly logBytes: number;
  /** Resident memory in MB at the end of the run. */
  readonly memoryMb: number | null;
  /** The longest delay of the event loop, in milliseconds. */
  readonly loopDelayMs: number;
  readonly faults: readonly string[];
}

export interface MeasureOptions {
  readonly tool: LoadTool;
  readonly connections: number;
  readonly run: Run;
}

/** Runs a case once. */
export async function measure(
  target: Target,
  what: Case,
  { tool, connections, run }: MeasureOptions,
): Promise<Measurement> {
  const { server, client } = target;
  const servers = [server, ...target.others];
  const prepared = await what.prepare(target, run);
  for (const one of servers) one.watchEventLoop();
  const before = {
    log: await logPosition(client),
    servers: cpuMsOfAll(servers),
    database: await databaseCpu(client),
  };
  const stop = new AbortController();
  const beside = prepared.beside?.(stop.signal);
  const result = await runLoad(tool, {
    urls: servers.map(({ url }) => url),
    connections: Math.min(connections, what.maxConnections ?? connections),
    seconds: run.seconds,
    plan: prepared.plan,
  });
  stop.abort();
  await beside;
  const loopDelayMs = Math.max(...(await Promise.all(servers.map((one) => one.maxDelayMs()))));
  const memoryMb = readMemoryMb(server.pid);
  const { faults, done } = await prepared.finish(result);
  const count = done?.count ?? result.requests;
  const serverMs = cpuMsOfAll(servers);
  const databaseMs = cpuMsBetween(before.database, await databaseCpu(client));
  return {
    ...computeRates(result, done),
    serverCpuUs:
      serverMs === null || before.servers === null
        ? null
        : ((serverMs - before.servers) * 1e3) / count,
    databaseCpuUs: databaseMs === null ? null : (databaseMs * 1e3) / count,
    logBytes: ((await logPosition(client)) - before.log) / count,
    memoryMb,
    loopDelayMs,
    faults,
  };
}

/** The CPU of all processes of the server, in milliseconds; null where it cannot be read. */
function cpuMsOfAll(servers: readonly Server[]): number | null {
  const all = servers.map(({ pid }) => readCpuMs(pid)).filter((ms) => ms !== null);
  return all.length < servers.length ? null : all.reduce((sum, ms) => sum + ms, 0);
}

function computeRates(result: LoadResult, done: { count: number; seconds: number } | undefined) {
  const { count, seconds } = done ?? { count: result.requests, seconds: result.seconds };
  const { p50Ms, p99Ms } = result;
  return { perSecond: seconds > 0 ? count / seconds : 0, p50Ms, p99Ms };
}
