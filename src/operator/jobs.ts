/** `jobs list`: the queue, without what the jobs are about where that may be a secret. */
import type { LocalContext } from '../context/context.ts';
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
  type RetriedJobs,
} from './job-admin-repository.ts';
import { type Op, type OpCaller, OpError, requireRowIds } from './op.ts';
import { recordAction } from './operator-action-repository.ts';

export interface JobsListInput {
  readonly state?: JobStatus;
  readonly kind?: string;
  /** Only open jobs whose last run failed. */
  readonly failing?: boolean;
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
  /** Whether it runs with an expired lease, because its process has died: any job loop runs it. */
  readonly lapsed: boolean;
  /** The name of the last error. */
  readonly lastError: string | null;
  readonly createdAt: string;
  readonly finishedAt: string | null;
  /** The webhook event of a job of release 1.2.0; null for every other kind. */
  readonly eventId: string | null;
}

/** Lists jobs, newest first. */
export const listJobs: Op<JobsListInput, { readonly jobs: readonly JobView[] }> = {
  async run(context, { state: status, ...filter }) {
    const jobs = await findJobs(context, { status, ...filter });
    const now = context.clock.now();
    return { jobs: jobs.map((job) => toJobView(job, now)) };
  },
};

/** A job as an operator sees it. */
function toJobView(job: ListedJob, now: Date): JobView {
  const { id, kind, status, attempts, lastError, eventId } = job;
  return {
    id,
    kind,
    state: status,
    attempts,
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
  readonly retried: number;
  /** Dead jobs whose work another open job has taken over: they are removed. */
  readonly superseded: number;
  readonly notDead: readonly { readonly id: string; readonly state: JobStatus }[];
  readonly notFound: readonly string[];
}

/** Jobs per statement. */
const batchSize = 500;

/**
 * Queues dead jobs again, due now. One whose work another open job has taken over is removed.
 * @throws OpError without ids and `allDead`, or when an id is invalid.
 */
export const retryJobs: Op<JobsRetryInput, JobsRetried> = {
  async run(context, { ids, allDead = false, kind }, caller) {
    if (allDead) return retryAll(context, kind ?? null, caller);
    if (!ids || ids.length === 0) throw new OpError('INVALID', 'name jobs, or use --all-dead');
    requireRowIds(ids, 'a job');
    return retryByIds(context, [...new Set(ids)], caller);
  },
};

async function retryByIds(
  context: LocalContext,
  ids: readonly string[],
  caller: OpCaller,
): Promise<JobsRetried> {
  const { queued, superseded } = await retry(context, ids, caller);
  const retried = new Set([...queued, ...superseded]);
  const left = ids.filter((id) => !retried.has(id));
  const states = await findJobStatuses(context, left);
  return {
    retried: queued.length,
    superseded: superseded.length,
    notDead: left.flatMap((id) => {
      const state = states.get(id);
      return state === undefined ? [] : [{ id, state }];
    }),
    notFound: left.filter((id) => !states.has(id)),
  };
}

async function retryAll(
  context: LocalContext,
  kind: string | null,
  caller: OpCaller,
): Promise<JobsRetried> {
  let retried = 0;
  let superseded = 0;
  let seen = 0;
  let after = '0';
  for (;;) {
    const ids = await findDeadJobs(context, { kind, after, limit: batchSize });
    if (ids.length > 0) {
      const page = await retry(context, ids, caller);
      retried += page.queued.length;
      superseded += page.superseded.length;
    }
    seen += ids.length;
    caller.progress(seen, 0);
    const last = ids.at(-1);
    if (last === undefined || ids.length < batchSize || context.stopping.aborted) break;
    after = last;
  }
  return { retried, superseded, notDead: [], notFound: [] };
}

async function retry(
  context: LocalContext,
  ids: readonly string[],
  { operator, reason }: OpCaller,
): Promise<RetriedJobs> {
  const action = { operator, reason, command: 'jobs retry' };
  const attempt = (): Promise<RetriedJobs> =>
    recordAction(context, action, async (transaction) => {
      const result = await queueDeadJobs(transaction, ids);
      await recordAction(transaction, action, () => {
        const removed = result.superseded.map((id) => `job:${id}`);
        return Promise.resolve({ result: undefined, targets: removed, outcome: 'removed' });
      });
      return { result, targets: result.queued.map((id) => `job:${id}`), outcome: 'queued' };
    });
  try {
    return await attempt();
  } catch (error) {
    // A job with the same key was queued at the same time: the second attempt skips it.
    if (!isConstraintViolation(error)) throw error;
    return attempt();
  }
}

export interface JobCount {
  readonly kind: string;
  readonly state: JobStatus;
  readonly jobs: number;
  /** When the oldest was due; for ended jobs, when the first one ended. */
  readonly oldestAt: string;
  /** 0 if it is due in the future. */
  readonly oldestAgeSeconds: number;
  /** When the first of queued jobs is due, if none is due yet. */
  readonly nextDueAt: string | null;
  /** Running jobs whose lease has expired, because their process has died. */
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
  const isLater = status === 'queued' && oldestAt > now;
  return {
    kind,
    state: status,
    jobs,
    oldestAt: oldestAt.toISOString(),
    nextDueAt: isLater ? oldestAt.toISOString() : null,
    oldestAgeSeconds: Math.floor(ageMs / 1_000),
    lapsed,
  };
}
