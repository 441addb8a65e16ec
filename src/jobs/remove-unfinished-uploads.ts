import type { JobHandler } from './job.ts';
import { clearAged } from './retention-repository.ts';

/** Longer than any upload takes. */
const keptMs = 60 * 60_000;

/** Removes documents whose upload broke off: they never count, and their chunks take space. */
export const removeUnfinishedUploads: JobHandler = {
  everyMs: 10 * 60_000,
  canWait: true,
  async run(context) {
    const before = new Date(context.clock.now().getTime() - keptMs);
    // A document may have many chunks, which go with it.
    await clearAged(context, { of: 'unfinishedUploads', before, batch: 10 });
    return undefined;
  },
};
