/** Measures one case on one server: the load, its cost, and whether all results are correct. */
import type { Case, Run } from './cases/case.ts';
import type { RunLoad } from './load.ts';
import { watchLog, type LogBytes } from './log-meter.ts';
import { cpuMsBetween, databaseCpu, readCpuMs, readMemoryMb } from './meters.ts';
import type { Target } from './target.ts';

/** One round. */
export interface Measurement {
  /** The requests, all of which have settled. */
  readonly requests: number;
  readonly seconds: number;
  /** Milliseconds to each response. */
  readonly latencies: Float64Array;
  /** Milliseconds until what each request has caused was settled; null without such work. */
  readonly settledLatencies: Float64Array | null;
  /** Microseconds of CPU of the round; null where they cannot be read. */
  readonly serverCpuUs: number | null;
  readonly databaseCpuUs: number | null;
  readonly log: LogBytes | null;
  /** Resident memory in MB at the end of the round. */
  readonly memoryMb: number | null;
  /** The longest delay of the event loop, in milliseconds. */
  readonly loopDelayMs: number;
  /** The wrong responses and rows, as sentences. */
  readonly faults: readonly string[];
}

export interface MeasureOptions {
  readonly load: RunLoad;
  readonly run: Run;
}

/** Runs a case once. */
export async function measure(
  target: Target,
  what: Case,
  { load, run }: MeasureOptions,
): Promise<Measurement> {
  const { server, client } = target;
  const prepared = await what.prepare(target, run);
  const readLog = await watchLog(client);
  server.watchEventLoop();
  const serverMs = readCpuMs(server.pid);
  const database = await databaseCpu(client);
  const { url } = server;
  const { seconds, connections } = run;
  const result = await load({ url, connections, seconds, plan: prepared.plan });
  const settled = await prepared.settle?.(result);
  const serverEndMs = readCpuMs(server.pid);
  const databaseMs = cpuMsBetween(database, await databaseCpu(client));
  const loopDelayMs = await server.maxDelayMs();
  const memoryMb = readMemoryMb(server.pid);
  const log = await readLog();
  return {
    requests: result.requests,
    seconds: settled?.seconds ?? result.seconds,
    latencies: result.latencies.filter((ms) => !Number.isNaN(ms)),
    settledLatencies: settled?.latencies ?? null,
    serverCpuUs: serverMs === null || serverEndMs === null ? null : (serverEndMs - serverMs) * 1e3,
    databaseCpuUs: databaseMs === null ? null : databaseMs * 1e3,
    log,
    memoryMb,
    loopDelayMs,
    faults: [
      ...(result.failures > 0 ? [`${result.failures} of ${result.requests} requests failed`] : []),
      ...(result.requests === 0 ? ['no request was answered'] : []),
      ...(await prepared.check(result)),
    ],
  };
}
