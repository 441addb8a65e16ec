import { dayMs } from '../clock.ts';
import { deleteDoneJobs, forgetSecurityEvents, purgePayloads } from '../db/queries/retention.ts';
import { inBatches } from './in-batches.ts';
import type { JobHandler } from './job.ts';

/** A year: long enough to look into a complaint. */
const securityEventDays = 365;

/**
 * Lets go of what is kept for a number of days only: the payloads of settled webhook events, which
 * hold personal data, jobs that are done, and security events.
 */
export const applyRetention: JobHandler = {
  everyMs: 60 * 60_000,
  canWait: true,
  async run(context) {
    const { config, clock, log } = context;
    const before = (days: number): Date => new Date(clock.now().getTime() - days * dayMs);
    const payloads = await inBatches(context, {
      statement: purgePayloads,
      parameters: [before(config.retention.webhookPayloads)],
      batch: 500,
    });
    const jobs = await inBatches(context, {
      statement: deleteDoneJobs,
      parameters: [before(config.retention.finishedJobs)],
      batch: 1_000,
    });
    await inBatches(context, {
      statement: forgetSecurityEvents,
      parameters: [before(securityEventDays)],
      batch: 1_000,
    });
    if (payloads + jobs > 0) log.info({ payloads, jobs }, 'retention was applied');
    return undefined;
  },
};
