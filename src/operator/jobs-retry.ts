/** `jobs retry`: dead jobs are queued again, due now. */
import type { LocalContext } from '../context.ts';
import { isConstraintViolation } from '../db/unavailable.ts';
import {
  findDeadJobs,
  findJobStatuses,
  queueDeadJobs,
  type JobStatus,
} from './job-admin-repository.ts';
import { OpError, type Op, type OpCaller } from './op.ts';
import { recordAction } from './operator-action-repository.ts';

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
