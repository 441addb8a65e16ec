import type { JobHandler } from './job.ts';

/** Takes back the space of deleted rows in the embedded database; a server does it by itself. */
export const vacuumEmbedded: JobHandler = {
  everyMs: 60 * 60_000,
  canWait: true,
  async run(context) {
    await context.db.vacuum();
    return undefined;
  },
};
