import { expireSessions as statement } from '../db/queries/retention.ts';
import { inBatches } from './in-batches.ts';
import type { JobHandler } from './job.ts';

/**
 * Ends banking sessions whose provider token has expired, and destroys the token. They let nobody
 * in by then: every request looks at the time itself.
 */
export const expireSessions: JobHandler = {
  everyMs: 60_000,
  canWait: true,
  async run(context) {
    await inBatches(context, { statement, parameters: [context.clock.now()], batch: 1_000 });
    return undefined;
  },
};
