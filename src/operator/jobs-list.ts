/** `jobs list`: the queue, without what the jobs are about where that may be a secret. */
import { findJobs, type JobStatus, type ListedJob } from './job-admin-repository.ts';
import type { Op } from './op.ts';

export interface JobsListInput {
  readonly state?: JobStatus;
  readonly kind?: string;
  readonly limit: number;
}

/** A job; times are ISO 8601 texts. */
export interface JobView {
  readonly id: string;
  readonly kind: string;
  readonly state: JobStatus;
  readonly attempts: number;
  /** When it is due, or was due before its last run. */
  readonly dueAt: string;
  readonly leasedUntil: string | null;
  /** It runs, and whoever runs it has stopped saying so: any job loop takes it up again. */
  readonly lapsed: boolean;
  /** The name of the last error. */
  readonly lastError: string | null;
  readonly createdAt: string;
  readonly finishedAt: string | null;
  /** The webhook event of a settle-webhook job; null for every other kind. */
  readonly eventId: string | null;
}

/** Gives jobs, newest first. */
export const listJobs: Op<JobsListInput, { readonly jobs: readonly JobView[] }> = {
  async run(context, { state: status, kind, limit }) {
    const jobs = await findJobs(context, { status, kind, limit });
    const now = context.clock.now();
    return { jobs: jobs.map((job) => viewOfJob(job, now)) };
  },
};

/** A job as an operator sees it. */
export function viewOfJob(job: ListedJob, now: Date): JobView {
  const { id, kind, status, attempts, lastError, eventId } = job;
  return {
    ...{ id, kind, state: status, attempts },
    dueAt: job.runAt.toISOString(),
    leasedUntil: job.leasedUntil?.toISOString() ?? null,
    lapsed: job.leasedUntil !== null && job.leasedUntil < now,
    lastError,
    createdAt: job.createdAt.toISOString(),
    finishedAt: job.finishedAt?.toISOString() ?? null,
    eventId,
  };
}
