/** Generates load with autocannon in a separate process, if wrk is not installed. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import type { Load, LoadResult } from './load-plan.ts';

const worker = new URL('autocannon-worker.ts', import.meta.url);

export async function runAutocannon(load: Load): Promise<LoadResult> {
  const child = fork(worker, { stdio: 'inherit' });
  child.send(load);
  const end = once(child, 'exit').then((): never => {
    throw new Error('autocannon ended early');
  });
  const result = Promise.race([
    once(child, 'message').then(([message]) => message as LoadResult),
    end,
  ]);
  try {
    return await result;
  } finally {
    child.kill();
  }
}
