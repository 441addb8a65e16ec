import { dayMs } from '../clock.ts';
import { settleForJob } from '../settlement/settle-event.ts';
import { queueReceived } from './event-repository.ts';
import type { JobHandler } from '../jobs/job.ts';
import { maxRetryMs } from '../jobs/runner.ts';

/** A payment must not stay open because the database was away for some hours. */
const retryForMs = dayMs;

// From the tenth run on, a pause is at least half of the longest one.
const maxAttempts = 10 + retryForMs / (maxRetryMs / 2);

/** Applies a stored webhook event to the transactions that it means. */
export const settleWebhook: JobHandler = {
  maxAttempts,
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

/**
 * The job that events share whose first attempts are made where they were stored. It runs again
 * only after a failure or the death of that process: then each event gets a job of its own.
 */
export const settleWebhookBatch: JobHandler = {
  maxAttempts,
  async run(context, { payload: { eventIds } }) {
    if (!isListOfTexts(eventIds)) throw new TypeError('a job of events names none');
    await queueReceived(context, eventIds);
    return { leavesNoRow: true };
  },
};

function isListOfTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((one) => typeof one === 'string');
}
