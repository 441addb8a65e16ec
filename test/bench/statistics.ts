/** Pools several rounds: their requests are one set. */
import type { Measurement } from './measure.ts';

/** All rounds of one case on one server. Costs are for each request. */
export interface Pooled {
  readonly requests: number;
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** From the request until its work has settled; null for a case without such work. */
  readonly settled: { readonly p50Ms: number; readonly p99Ms: number } | null;
  /** Microseconds of CPU; null where they cannot be read. */
  readonly serverCpuUs: number | null;
  readonly databaseCpuUs: number | null;
  /** Bytes of PostgreSQL's log, without and of page images; null where they cannot be read. */
  readonly logBytes: number | null;
  readonly imageBytes: number | null;
  readonly memoryMb: number | null;
  readonly loopDelayMs: number;
  readonly faults: readonly string[];
}

/** @returns the value at a share of the sorted values (nearest rank); NaN of none. */
export function percentile(values: readonly Float64Array[], share: number): number {
  const size = values.reduce((total, { length }) => total + length, 0);
  const sorted = new Float64Array(size);
  let place = 0;
  for (const each of values) {
    sorted.set(each, place);
    place += each.length;
  }
  sorted.sort();
  return sorted[Math.max(0, Math.ceil(size * share) - 1)] ?? NaN;
}

export function pool(rounds: readonly Measurement[]): Pooled {
  const sum = (of: (one: Measurement) => number): number =>
    rounds.reduce((total, one) => total + of(one), 0);
  const known = (of: (one: Measurement) => number | null): number | null => {
    const values = rounds.map(of).filter((value) => value !== null);
    return values.length < rounds.length
      ? null
      : values.reduce((total, value) => total + value, 0) / requests;
  };
  const requests = sum((one) => one.requests);
  const latencies = rounds.map((one) => one.latencies);
  const settled = rounds.map((one) => one.settledLatencies).filter((one) => one !== null);
  const memory = rounds.map(({ memoryMb }) => memoryMb).filter((mb) => mb !== null);
  return {
    requests,
    perSecond: requests / sum((one) => one.seconds),
    p50Ms: percentile(latencies, 0.5),
    p99Ms: percentile(latencies, 0.99),
    settled:
      settled.length === 0
        ? null
        : { p50Ms: percentile(settled, 0.5), p99Ms: percentile(settled, 0.99) },
    serverCpuUs: known((one) => one.serverCpuUs),
    databaseCpuUs: known((one) => one.databaseCpuUs),
    logBytes: known((one) => one.log?.bytes ?? null),
    imageBytes: known((one) => one.log?.imageBytes ?? null),
    memoryMb: memory.length === 0 ? null : Math.max(...memory),
    loopDelayMs: Math.max(...rounds.map((one) => one.loopDelayMs)),
    faults: [...new Set(rounds.flatMap((one) => one.faults))],
  };
}

/** The ratio of the pooled rates, and the least and the largest ratio of one round. */
export interface Ratio {
  readonly value: number;
  readonly least: number;
  readonly most: number;
}

/** @param rounds of both servers, which took turns. */
export function ratio(rounds: readonly Measurement[], others: readonly Measurement[]): Ratio {
  const each = rounds.map((one, place) => rate([one]) / rate(others.slice(place, place + 1)));
  return {
    value: rate(rounds) / rate(others),
    least: Math.min(...each),
    most: Math.max(...each),
  };
}

function rate(rounds: readonly Measurement[]): number {
  const sum = (of: (one: Measurement) => number): number =>
    rounds.reduce((total, one) => total + of(one), 0);
  return sum((one) => one.requests) / sum((one) => one.seconds);
}
