import { settleForJob } from '../services/settlement.ts';
import type { JobHandler } from './job.ts';

/** Applies a stored webhook event to the transactions that it means. */
export const settleWebhook: JobHandler = {
  async run(context, job) {
    const { eventId, waitingSince } = job.payload;
    if (typeof eventId !== 'string') throw new TypeError('a settle-webhook job names no event');
    return settleForJob(context, job, {
      eventId,
      // An event that an operator has settled again waits anew.
      ...(typeof waitingSince === 'string' && { waitingSince: new Date(waitingSince) }),
    });
  },
};
