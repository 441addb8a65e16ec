import { settleEvent } from '../services/settlement.ts';
import type { JobHandler } from './job.ts';

/** Applies a stored webhook event to the transactions that it means. */
export const settleWebhook: JobHandler = {
  async run(context, job) {
    const { eventId } = job.payload;
    if (typeof eventId !== 'string') throw new TypeError('a settle-webhook job names no event');
    const { parkedUntil } = await settleEvent(context, eventId);
    return parkedUntil ? { runAgainAt: parkedUntil } : undefined;
  },
};
