/** A case: its requests, and the checks after them. */
import type { LoadPlan, LoadResult, PlannedRequest } from '../load-plan.ts';
import type { Customer, Target } from '../target.ts';
import type { CaseName } from './names.ts';

export interface Case {
  readonly name: CaseName;
  readonly title: string;
  /** The most connections for this case, if more would only wait for each other. */
  readonly maxConnections?: number;
  /** Inserts the rows that the run needs. */
  prepare(target: Target, run: Run): Promise<Prepared>;
}

export interface Run {
  /** Unique among the runs on a database, so that keys and ids are new. */
  readonly number: number;
  readonly seconds: number;
}

export interface Prepared {
  readonly plan: LoadPlan;
  /** Work that runs during the load, until the signal aborts it. */
  beside?(signal: AbortSignal): Promise<void>;
  finish(result: LoadResult): Promise<Finished>;
}

export interface Finished {
  /** The wrong responses and rows, as sentences; empty when all are correct. */
  readonly faults: readonly string[];
  /** For work that continues after the responses: the number of finished items and their time. */
  readonly done?: { readonly count: number; readonly seconds: number };
}

export const noNumbers = { first: 1, last: 1 } as const;

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
  const read: unknown = await response.json();
  return { status: response.status, headers: response.headers, body: read };
}

/** @returns a fault if any response is not a 2xx. */
export function failureFaults({ requests, failures }: LoadResult): string[] {
  return [
    ...(failures > 0 ? [`${failures} of ${requests} responses failed`] : []),
    ...(requests === 0 ? ['no request was answered'] : []),
  ];
}
