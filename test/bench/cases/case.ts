/** A case: what is asked, and what must hold afterwards. */
import type { LoadPlan, LoadResult, PlannedRequest } from '../load-plan.ts';
import type { Customer, Target } from '../target.ts';
import type { CaseName } from './names.ts';

export interface Case {
  readonly name: CaseName;
  readonly title: string;
  /** Fewer than are asked for, where more would only wait for each other. */
  readonly mostConnections?: number;
  /** Puts into the database what the run needs. */
  prepare(target: Target, run: Run): Promise<Prepared>;
}

export interface Run {
  /** Another one in each run on a database: it makes keys and ids fresh. */
  readonly number: number;
  readonly seconds: number;
}

export interface Prepared {
  readonly plan: LoadPlan;
  /** What goes on beside the load, until the signal. */
  beside?(signal: AbortSignal): Promise<void>;
  finish(result: LoadResult): Promise<Finished>;
}

export interface Finished {
  /** What is wrong: empty when all answers and rows are right. */
  readonly faults: readonly string[];
  /** Where the work ends after the answers: what was done, and in which time. */
  readonly done?: { readonly count: number; readonly seconds: number };
}

export const noNumbers = { first: 1, last: 1 } as const;

export function bearer({ token }: Customer): Record<string, string> {
  return { Authorization: `Bearer ${token}` };
}

export const jsonType = { 'Content-Type': 'application/json' } as const;

/** One request past the load, for looking at an answer. */
export async function ask(target: Target, request: PlannedRequest) {
  const { method, path, headers, body } = request;
  const answer = await fetch(target.server.url + path, {
    method,
    headers,
    ...(body !== undefined && { body }),
  });
  const read: unknown = await answer.json();
  return { status: answer.status, headers: answer.headers, body: read };
}

/** Every answer has to be a 2xx. */
export function failureFaults({ requests, failures }: LoadResult): string[] {
  return [
    ...(failures > 0 ? [`${failures} of ${requests} answers failed`] : []),
    ...(requests === 0 ? ['nothing was answered'] : []),
  ];
}
