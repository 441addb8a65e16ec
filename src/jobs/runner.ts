/** One run of a job: its work, and what becomes of it in the queue. */
import type { Context } from '../context/context.ts';
import { span } from '../telemetry/tracing.ts';
import { withJitter } from '../domain/call-duration.ts';
import { finishJob, requeueJob, type Requeued } from './job-repository.ts';
import type { JobHandler, JobResult, JobTable, LeasedJob } from './job.ts';

/** After this many failed runs a job is dead: listed, and retried only by an operator. */
export const maxAttempts = 8;

const firstRetryMs = 1_000;
export const maxRetryMs = 5 * 60_000;

export interface JobRunsOptions {
  readonly context: Context;
  readonly jobs: JobTable;
  /** Spreads retries; between 0 and 1. */
  readonly random: () => number;
}

/** Runs jobs, and ends them or puts them back. */
export class JobRuns {
  readonly #context: Context;
  readonly #jobs: JobTable;
  readonly #random: () => number;

  constructor({ context, jobs, random }: JobRunsOptions) {
    this.#context = context;
    this.#jobs = jobs;
    this.#random = random;
  }

  /**
   * Carries out a run. It does not fail: a run that does is logged, and its job put back.
   * @returns whether the job may be back in the queue.
   */
  async run(job: LeasedJob): Promise<boolean> {
    const handler = this.#jobs[job.kind];
    const { metrics, log } = this.#context;
    try {
      const result = await this.#traced(job, (run) => this.#work(run, handler));
      const status = await this.#succeeded(job, handler, result);
      metrics.jobs.inc({ kind: job.kind, result: 'done' });
      return status === 'queued';
    } catch (error) {
      metrics.jobs.inc({ kind: job.kind, result: 'failed' });
      log.error({ error, jobId: job.id, kind: job.kind, attempt: job.attempt }, 'a job failed');
      await this.#failed(job, handler, error).catch((cause: unknown) => {
        // The lease runs out, and the job is taken up again.
        log.error({ error: cause, jobId: job.id }, 'a failed job was not put back');
      });
      return true;
    }
  }

  /** A run is the first span of a trace, to which its calls of the provider belong. */
  #traced(job: LeasedJob, work: (run: LeasedJob) => Promise<JobResult>): Promise<JobResult> {
    const { tracing } = this.#context;
    if (tracing === null) return work(job);
    const { id, kind, attempt } = job;
    const attributes = { 'ponte.job.id': id, 'ponte.attempt': attempt };
    const facts = { name: `job ${kind}`, kind: 'consumer', attributes } as const;
    return span(tracing, facts, (trace) => work({ ...job, trace }));
  }

  #work(job: LeasedJob, handler: JobHandler | undefined): Promise<JobResult> {
    if (!handler) throw new Error('no handler for this kind of job');
    return handler.run(this.#context, job);
  }

  async #succeeded(
    job: LeasedJob,
    handler: JobHandler | undefined,
    result: JobResult,
  ): Promise<'done' | 'dead' | 'queued'> {
    const runAgainAt = result?.runAgainAt ?? this.#nextPeriod(handler);
    if (!runAgainAt) return this.#finish(job, 'done', null);
    await this.#requeue(job, { runAt: runAgainAt, attempts: 0, error: null });
    return 'queued';
  }

  async #failed(job: LeasedJob, handler: JobHandler | undefined, error: unknown): Promise<void> {
    const name = describeError(error);
    const nextPeriod = this.#nextPeriod(handler);
    if (nextPeriod) return this.#requeue(job, { runAt: nextPeriod, attempts: 0, error: name });
    if (job.attempt >= (handler?.maxAttempts ?? maxAttempts)) {
      await this.#finish(job, 'dead', name);
      return;
    }
    const runAt = new Date(
      this.#context.clock.now().getTime() + backOffMs(job.attempt, this.#random),
    );
    await this.#requeue(job, { runAt, attempts: job.attempt, error: name });
  }

  #nextPeriod(handler: JobHandler | undefined): Date | null {
    if (handler?.everyMs === undefined) return null;
    return new Date(this.#context.clock.now().getTime() + handler.everyMs);
  }

  /** @returns the status of the job, or the one it was to have if another worker has its lease. */
  async #finish(
    job: LeasedJob,
    status: 'done' | 'dead',
    error: string | null,
  ): Promise<'done' | 'dead' | 'queued'> {
    return (await finishJob(this.#context, job, { status, error })) ?? status;
  }

  async #requeue(job: LeasedJob, requeued: Requeued): Promise<void> {
    await requeueJob(this.#context, job, requeued);
  }
}

/**
 * The pause after a failed run: exponential, half of it random, because what failed together is to
 * run again at different times.
 * @param attempt the number of the failed run, from 1.
 * @param random gives a number between 0 and 1.
 * @returns the pause, in milliseconds.
 */
export function backOffMs(attempt: number, random: () => number): number {
  const fullMs = Math.min(maxRetryMs, firstRetryMs * 2 ** (attempt - 1));
  return withJitter(fullMs, random);
}

/** The form of a SQLSTATE, of a code of the system and of the service's own codes. */
const errorCode = /^[A-Za-z0-9_]{1,40}$/;

/**
 * Names an error by what says no more than its kind: its name and its code, such as `error 57014`
 * of the database, whose errors all have one name. A message may speak of a person.
 */
export function describeError(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  const code: unknown = Reflect.get(error, 'code');
  const isCode = typeof code === 'string' && errorCode.test(code);
  return isCode ? `${error.name} ${code}` : error.name;
}
