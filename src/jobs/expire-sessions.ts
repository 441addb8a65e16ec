import type { JobHandler } from './job.ts';
import { clearAged } from './retention-repository.ts';

/**
 * Ends banking sessions whose provider token has expired, and destroys the token. They admit no
 * one by then: every request checks the time itself.
 */
export const expireSessions: JobHandler = {
  everyMs: 60_000,
  canWait: true,
  async run(context) {
    await clearAged(context, { of: 'sessions', before: context.clock.now(), batch: 1_000 });
    return undefined;
  },
};
