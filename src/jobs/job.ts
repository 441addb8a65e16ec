/** The form of a job: work without a caller, done at least once. */
import type { Context } from '../context.ts';
import { beginTrace } from '../domain/trace-context.ts';
import type { CallOptions } from '../provider/provider.ts';
import type { JobResult, LeasedJob } from './queue.ts';

export interface JobHandler {
  /** A kind with a period runs again after it for ever, one run at a time over all instances. */
  readonly everyMs?: number;
  /** The first start runs it only a period later, and no start runs it sooner: it can wait. */
  readonly canWait?: boolean;
  /**
   * How many of its jobs one process takes from the queue at once; by default as many as the loop
   * says. A kind has places of its own, so that none waits for jobs of another kind.
   */
  readonly concurrency?: number;
  /** After how many failed runs it is dead; by default 8, which takes about two minutes. */
  readonly maxAttempts?: number;
  /** Runs once. Handlers are idempotent, because a run may die after its work and be repeated. */
  run(context: Context, job: LeasedJob): Promise<JobResult>;
}

export type JobTable = Readonly<Record<string, JobHandler>>;

/** What goes with the calls of one run: a job has no caller, so a trace begins with it. */
export function callOptionsOf({ id }: LeasedJob): CallOptions {
  return { requestId: `job-${id}`, trace: beginTrace(), isBackground: true };
}
