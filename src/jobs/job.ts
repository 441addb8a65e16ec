/** The form of a job: work without a caller, done at least once. */
import type { Context } from '../context/context.ts';
import { beginTrace, type TraceContext } from '../domain/trace-context.ts';
import type { CallOptions } from '../provider/provider.ts';

/** A job that runs, under a lease. */
export interface LeasedJob {
  readonly id: string;
  readonly kind: string;
  readonly payload: Readonly<Record<string, unknown>>;
  /** The number of this run, from 1. */
  readonly attempt: number;
  /** The holder of the lease, which no other lease has. */
  readonly worker: string;
  /** The span of this run; absent without tracing. */
  readonly trace?: TraceContext | undefined;
}

/**
 * The result of a run. `undefined`: the job is done; the loop queues a periodic kind again.
 * `runAgainAt`: the job runs again at that time.
 */
export type JobResult = { readonly runAgainAt: Date } | undefined;

export interface JobHandler {
  /**
   * The period of a periodic kind, in milliseconds. The loop queues the kind again after each run;
   * one process runs it at a time.
   */
  readonly everyMs?: number;
  /** Its first run is one period after the first start. Without it, each start runs the job. */
  readonly canWait?: boolean;
  /**
   * The most jobs of this kind that one process runs at the same time; the loop has a default. Jobs
   * of other kinds do not count.
   */
  readonly concurrency?: number;
  /**
   * The longest that a run may take, in milliseconds; by default {@link maxRunMs}. A longer one
   * is stuck: it is counted, and its lease is not renewed, so that another process runs the job.
   */
  readonly maxMs?: number;
  /** The failed runs after which a job is dead; by default 8, which takes about two minutes. */
  readonly maxAttempts?: number;
  /** One run. Handlers are idempotent: a process may die after the work, and the job runs again. */
  run(context: Context, job: LeasedJob): Promise<JobResult>;
}

/** Longer than the documents of an application take at a slow provider. */
export const maxRunMs = 30 * 60_000;

export type JobTable = Readonly<Record<string, JobHandler>>;

/**
 * The options for the provider calls of one run. A job has no caller, so its trace begins with the
 * run.
 */
export function jobCallOptions({ id, trace }: LeasedJob): CallOptions {
  return { requestId: `job-${id}`, trace: trace ?? beginTrace(), isBackground: true };
}
