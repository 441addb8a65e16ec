/** A case: its requests, and the checks after them. */
import type { LoadPlan, LoadResult, PlannedRequest } from '../load.ts';
import type { Customer, Target } from '../target.ts';

export interface Case {
  readonly title: string;
  /** Inserts the rows that the run needs. */
  prepare(target: Target, run: Run): Promise<Prepared>;
}

export interface Run {
  /** Unique among the runs on a database, so that keys and ids are new. */
  readonly number: number;
  readonly seconds: number;
  readonly connections: number;
}

export interface Prepared {
  readonly plan: LoadPlan;
  /** Waits for the work that continues after the responses; it belongs to the measured time. */
  settle?(result: LoadResult): Promise<Settled>;
  /** @returns the wrong responses and rows, as sentences. */
  check(result: LoadResult): Promise<string[]>;
}

export interface Settled {
  /** From the first request until the last one has settled. */
  readonly seconds: number;
  /** Milliseconds from each request until it has settled. */
  readonly latencies: Float64Array;
}

export function bearer({ token }: Customer): Record<string, string> {
  return { Authorization: `Bearer ${token}` };
}

export const jsonType = { 'Content-Type': 'application/json' } as const;

/** Sends one request outside the load, to check its response. */
export async function fetchResponse(target: Target, request: PlannedRequest) {
  const { method, path, headers, body } = request;
  const response = await fetch(target.server.url + path, {
    method,
    headers,
    ...(body !== undefined && { body }),
  });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}
