import { dayMs } from '../clock.ts';
import { forgetAddresses, purgeThrottle as purgeWindows } from '../db/queries/retention.ts';
import { knownAddressDays } from '../auth/user-repository.ts';
import { inBatches } from './in-batches.ts';
import type { JobHandler } from './job.ts';

/** Deletes counters of windows that have ended, and addresses that no user knows any more. */
export const purgeThrottle: JobHandler = {
  everyMs: 5 * 60_000,
  canWait: true,
  async run(context) {
    const now = context.clock.now();
    await inBatches(context, { statement: purgeWindows, parameters: [now], batch: 1_000 });
    await inBatches(context, {
      statement: forgetAddresses,
      parameters: [new Date(now.getTime() - knownAddressDays * dayMs)],
      batch: 1_000,
    });
    return undefined;
  },
};
