/** `jobs list`: the queue, without what the jobs are about where that may be a secret. */
import type { LocalContext } from '../context.ts';
import { isConstraintViolation } from '../db/unavailable.ts';
import {
  countJobsByStatus,
  findDeadJobs,
  findJobs,
  findJobStatuses,
  type JobNumbers,
  type JobStatus,
  type ListedJob,
  queueDeadJobs,
} from './job-repository.ts';
import { type Op, type OpCaller, OpError } from './op.ts';
import { recordAction } from './operator-action-repository.ts';

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
    return { jobs: jobs.map((job) => toJobView(job, now)) };
  },
};

/** A job as an operator sees it. */
export function toJobView(job: ListedJob, now: Date): JobView {
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

/** Either `ids` or `allDead`. */
export interface JobsRetryInput {
  readonly ids?: readonly string[];
  readonly allDead?: boolean;
  /** With `allDead`: only of this kind. */
  readonly kind?: string;
}

export interface JobsRetried {
  /** How many are queued again. */
  readonly retried: number;
  /** Those that are not, by the reason; of `allDead` only how many. */
  readonly superseded: number;
  readonly notDead: readonly { readonly id: string; readonly state: JobStatus }[];
  readonly notFound: readonly string[];
}

/** Jobs of one statement. */
const batch = 500;

/**
 * Retries dead jobs. One whose work another open job has taken over stays as it is.
 * @throws OpError when neither ids nor `allDead` are given, or an id is none.
 */
export const retryJobs: Op<JobsRetryInput, JobsRetried> = {
  async run(context, { ids, allDead = false, kind }, caller) {
    if (allDead) return retryAll(context, kind ?? null, caller);
    if (!ids || ids.length === 0) throw new OpError('REFUSED', 'name jobs, or ask for all dead');
    const wrong = ids.find((id) => !/^\d{1,18}$/.test(id));
    if (wrong !== undefined) throw new OpError('REFUSED', `${wrong} is no id of a job`);
    return retryGiven(context, [...new Set(ids)], caller);
  },
};

async function retryGiven(
  context: LocalContext,
  ids: readonly string[],
  { operator }: OpCaller,
): Promise<JobsRetried> {
  const retried = new Set(await retry(context, ids, operator));
  const left = ids.filter((id) => !retried.has(id));
  const states = await findJobStatuses(context, left);
  return {
    retried: retried.size,
    superseded: left.filter((id) => states.get(id) === 'dead').length,
    notDead: left.flatMap((id) => {
      const state = states.get(id);
      return state === undefined || state === 'dead' ? [] : [{ id, state }];
    }),
    notFound: left.filter((id) => !states.has(id)),
  };
}

async function retryAll(
  context: LocalContext,
  kind: string | null,
  { operator, progress }: OpCaller,
): Promise<JobsRetried> {
  let retried = 0;
  let seen = 0;
  let after = '0';
  for (;;) {
    const ids = await findDeadJobs(context, { kind, after, limit: batch });
    if (ids.length > 0) retried += (await retry(context, ids, operator)).length;
    seen += ids.length;
    progress(seen, 0);
    const last = ids.at(-1);
    if (last === undefined || ids.length < batch || context.stopping.aborted) break;
    after = last;
  }
  return { retried, superseded: seen - retried, notDead: [], notFound: [] };
}

/** @returns the ids of those that were queued. */
async function retry(
  context: LocalContext,
  ids: readonly string[],
  operator: string,
): Promise<string[]> {
  const attempt = (): Promise<string[]> =>
    recordAction(context, { operator, command: 'jobs retry' }, async (transaction) => {
      const queued = await queueDeadJobs(transaction, ids);
      return { result: queued, targets: queued.map((id) => `job:${id}`), outcome: 'queued' };
    });
  try {
    return await attempt();
  } catch (error) {
    // A job with the same key was queued at the same moment: a second look finds it.
    if (!isConstraintViolation(error)) throw error;
    return attempt();
  }
}

export interface JobCount {
  readonly kind: string;
  readonly state: JobStatus;
  readonly jobs: number;
  /** When the oldest was due; of those that have ended, when the first one did. */
  readonly oldestAt: string;
  /** How long ago that is; 0 for what is due in the future. */
  readonly oldestAgeSeconds: number;
  /** Of those that run: whose lease has run out, because their process has died. */
  readonly lapsed: number;
}

/** Counts the jobs by kind and state. */
export const countJobs: Op<Record<string, never>, { readonly counts: readonly JobCount[] }> = {
  async run(context) {
    const numbers = await countJobsByStatus(context);
    const now = context.clock.now();
    return { counts: numbers.map((one) => toJobCount(one, now)) };
  },
};

function toJobCount({ kind, status, jobs, oldestAt, lapsed }: JobNumbers, now: Date): JobCount {
  const ageMs = Math.max(0, now.getTime() - oldestAt.getTime());
  return {
    ...{ kind, state: status, jobs },
    oldestAt: oldestAt.toISOString(),
    oldestAgeSeconds: Math.floor(ageMs / 1_000),
    lapsed,
  };
}
