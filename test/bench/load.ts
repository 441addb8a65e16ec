/** Generates load in a process of its own, which lives for the whole run. */
import { fork } from 'node:child_process';
import { once } from 'node:events';

export interface PlannedRequest {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** The placeholder in headers and bodies for a number that differs in each request. */
export const numberMark = '#'.repeat(11);

export interface LoadPlan {
  /** Sent in order; after the last, the first is sent again. */
  readonly requests: readonly PlannedRequest[];
  /** The numbers that replace {@link numberMark}, in order: the load ends after the last. */
  readonly numbers?: { readonly first: number; readonly last: number };
}

export interface Load {
  readonly url: string;
  readonly connections: number;
  /** No request starts after this time; those in flight are awaited. */
  readonly seconds: number;
  readonly plan: LoadPlan;
}

export interface LoadResult {
  /** The requests that were sent; all are answered, but for failures. */
  readonly requests: number;
  /** Responses that are not 2xx, and requests without a response. */
  readonly failures: number;
  readonly seconds: number;
  /** When each request was sent, in milliseconds since 1970, in the order of their numbers. */
  readonly startedAt: Float64Array;
  /** Milliseconds to the response of each of them; NaN without a response. */
  readonly latencies: Float64Array;
}

export type RunLoad = (load: Load) => Promise<LoadResult>;

/** Starts the process; `parts` ends it. */
export function startLoader(parts: AsyncDisposableStack): RunLoad {
  const child = fork(new URL('load-worker.ts', import.meta.url), { serialization: 'advanced' });
  parts.defer(() => void child.kill());
  const ended = once(child, 'exit').then((): never => {
    throw new Error('the process that generates the load has ended');
  });
  // Only a load that waits for its result needs to know.
  ended.catch(() => undefined);
  return async (load) => {
    const result = once(child, 'message').then(([message]) => message as LoadResult);
    child.send(load);
    return Promise.race([result, ended]);
  };
}
