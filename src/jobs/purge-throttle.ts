import { purgeThrottle as statement } from '../db/queries/retention.ts';
import { inBatches } from './in-batches.ts';
import type { JobHandler } from './job.ts';

/** Twice as long as a window counts. */
const keptMs = 2 * 60_000;

/** Deletes counters of attempts that count no more: there is one for everybody who ever tried. */
export const purgeThrottle: JobHandler = {
  everyMs: 5 * 60_000,
  canWait: true,
  async run(context) {
    const before = new Date(context.clock.now().getTime() - keptMs);
    await inBatches(context, { statement, parameters: [before], batch: 1_000 });
    return undefined;
  },
};
