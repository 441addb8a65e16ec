/** The jobs that compare the provider's statement with what is stored. */
import { reconcileDaily, reconcileWaiting } from '../settlement/reconcile-days.ts';
import { jobCallOptions, type JobHandler } from '../jobs/job.ts';

/**
 * Reconciles yesterday, once for each user with an active account: the first run after the end of
 * the day does the work, and the others find it done. One process runs it at a time.
 */
export const reconcile: JobHandler = {
  everyMs: 15 * 60_000,
  async run(context, job) {
    const remains = await reconcileDaily(context, jobCallOptions(job));
    return remains ? { runAgainAt: context.clock.now() } : undefined;
  },
};

/** Reconciles the days of a user that have waited for the login which has queued this job. */
export const reconcileUserDays: JobHandler = {
  concurrency: 2,
  async run(context, job) {
    const { userId } = job.payload;
    if (typeof userId !== 'number') throw new TypeError('a reconcile-user job names no user');
    await reconcileWaiting(context, userId, jobCallOptions(job));
    return undefined;
  },
};
