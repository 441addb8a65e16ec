import { dayMs } from '../clock.ts';
import { knownAddressDays } from '../auth/user-repository.ts';
import type { JobHandler } from './job.ts';
import { clearAged } from './retention-repository.ts';

/** Deletes counters of windows that have ended, and addresses that no user knows any more. */
export const purgeThrottle: JobHandler = {
  everyMs: 5 * 60_000,
  canWait: true,
  async run(context) {
    const now = context.clock.now();
    await clearAged(context, { of: 'throttle', before: now, batch: 1_000 });
    await clearAged(context, {
      of: 'addresses',
      before: new Date(now.getTime() - knownAddressDays * dayMs),
      batch: 1_000,
    });
    return undefined;
  },
};
