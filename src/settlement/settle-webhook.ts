import { dayMs } from '../clock.ts';
import { settleForJob } from '../settlement/settle-event.ts';
import type { JobHandler } from '../jobs/job.ts';
import { maxRetryMs } from '../jobs/runner.ts';

/** A payment must not stay open because the database was away for some hours. */
const retryForMs = dayMs;

/** Applies a stored webhook event to the transactions that it means. */
export const settleWebhook: JobHandler = {
  // From the tenth run on, a pause is at least half of the longest one.
  maxAttempts: 10 + retryForMs / (maxRetryMs / 2),
  async run(context, job) {
    const { eventId, waitingSince } = job.payload;
    if (typeof eventId !== 'string') throw new TypeError('a settle-webhook job names no event');
    return settleForJob(context, job, {
      eventId,
      // An event that an operator has settled again waits again from then on.
      ...(typeof waitingSince === 'string' && { waitingSince: new Date(waitingSince) }),
    });
  },
};
