import { dayMs } from '../clock.ts';
import type { JobHandler } from './job.ts';
import { clearAged } from './retention-repository.ts';

/** A year: long enough to look into a complaint. */
const securityEventDays = 365;

/**
 * Deletes what is kept for a number of days only: the payloads of settled webhook events, which
 * hold personal data, jobs that are done, app events that were delivered, and security events.
 */
export const applyRetention: JobHandler = {
  everyMs: 60 * 60_000,
  canWait: true,
  async run(context) {
    const { config, clock, log } = context;
    const before = (days: number): Date => new Date(clock.now().getTime() - days * dayMs);
    const payloads = await clearAged(context, {
      of: 'payloads',
      before: before(config.retention.webhookPayloads),
      batch: 500,
    });
    const jobs = await clearAged(context, {
      of: 'doneJobs',
      before: before(config.retention.finishedJobs),
      batch: 1_000,
    });
    await clearAged(context, {
      of: 'appEvents',
      before: before(config.retention.finishedJobs),
      batch: 1_000,
    });
    await clearAged(context, {
      of: 'securityEvents',
      before: before(securityEventDays),
      batch: 1_000,
    });
    if (payloads + jobs > 0) log.info({ payloads, jobs }, 'retention was applied');
    return undefined;
  },
};
