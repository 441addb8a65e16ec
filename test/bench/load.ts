/** Generates load, with wrk if it is installed, otherwise with autocannon. */
import { spawnSync } from 'node:child_process';
import { runAutocannon } from './load-autocannon.ts';
import type { Load, LoadPlan, LoadResult } from './load-plan.ts';
import { program, runWrk } from './load-wrk.ts';

export type LoadTool = 'wrk' | 'autocannon';

export function installedTool(): LoadTool {
  return spawnSync(program, ['-v']).error ? 'autocannon' : 'wrk';
}

/** A load on each of several processes, which share its connections and its numbers. */
export interface SharedLoad extends Omit<Load, 'url'> {
  readonly urls: readonly string[];
}

/** Runs the load on all processes at once. @returns the summed counts, and the longest times. */
export async function runLoad(tool: LoadTool, load: SharedLoad): Promise<LoadResult> {
  const { urls, connections, seconds, plan } = load;
  const run = tool === 'wrk' ? runWrk : runAutocannon;
  const results = await Promise.all(
    shares(plan, urls.length).map((share, place) => {
      const url = urls[place] ?? '';
      const own = Math.max(1, Math.round(connections / urls.length));
      return run({ url, connections: own, seconds, plan: share });
    }),
  );
  const longest = (of: (result: LoadResult) => number): number => Math.max(...results.map(of));
  const sum = (of: (result: LoadResult) => number): number =>
    results.reduce((total, result) => total + of(result), 0);
  return {
    requests: sum((result) => result.requests),
    failures: sum((result) => result.failures),
    seconds: longest((result) => result.seconds),
    p50Ms: longest((result) => result.p50Ms),
    p99Ms: longest((result) => result.p99Ms),
  };
}

/** Divides the numbers among the processes, so that no two of them receive the same request. */
export function shares(plan: LoadPlan, count: number): readonly LoadPlan[] {
  const { first, last } = plan.numbers;
  const size = Math.floor((last - first + 1) / count);
  // A plan without numbers repeats its requests.
  if (size === 0) return Array.from({ length: count }, () => plan);
  return Array.from({ length: count }, (_, place) => {
    const start = first + place * size;
    return { ...plan, numbers: { first: start, last: start + size - 1 } };
  });
}
