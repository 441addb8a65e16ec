/** Summarises several rounds. */
import type { Measurement } from './measure.ts';

/** @returns the middle value, or the mean of the two middle values; NaN of an empty list. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((left, right) => left - right);
  const middle = sorted.length / 2;
  const upper = sorted[Math.floor(middle)] ?? NaN;
  const lower = sorted[Math.ceil(middle) - 1] ?? NaN;
  return (upper + lower) / 2;
}

/** The median of each number, the longest event-loop delay, and every fault once. */
export function summary(rounds: readonly Measurement[]): Measurement {
  const of = (pick: (one: Measurement) => number): number => median(rounds.map(pick));
  const known = (pick: (one: Measurement) => number | null): number | null => {
    const values = rounds.map(pick).filter((value) => value !== null);
    return values.length === 0 ? null : median(values);
  };
  return {
    perSecond: of((one) => one.perSecond),
    p50Ms: of((one) => one.p50Ms),
    p99Ms: of((one) => one.p99Ms),
    serverCpuUs: known((one) => one.serverCpuUs),
    databaseCpuUs: known((one) => one.databaseCpuUs),
    logBytes: of((one) => one.logBytes),
    memoryMb: known((one) => one.memoryMb),
    loopDelayMs: Math.max(...rounds.map((one) => one.loopDelayMs)),
    faults: [...new Set(rounds.flatMap((one) => one.faults))],
  };
}
