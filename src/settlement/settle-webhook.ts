import { enqueueEvent } from './event-queue-repository.ts';
import type { JobHandler } from '../jobs/job.ts';

/**
 * Puts the event of a job into the queue of events. Only release 1.2.0 queues these jobs: it goes
 * with the release after this one.
 */
export const settleWebhook: JobHandler = {
  async run(context, job) {
    const { eventId, waitingSince } = job.payload;
    if (typeof eventId !== 'string') throw new TypeError('a settle-webhook job names no event');
    // An event that an operator has settled again waits again from then on.
    const since = typeof waitingSince === 'string' ? new Date(waitingSince) : null;
    await enqueueEvent(context, eventId, since);
    return undefined;
  },
};
