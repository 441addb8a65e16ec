import { sealStoredValuesAgain } from './reseal.ts';
import type { JobHandler } from './job.ts';

/** Brings sealed values to the first key of `ENCRYPTION_KEY`, so that the older can be removed. */
export const sealAgain: JobHandler = {
  everyMs: 60 * 60_000,
  async run(context) {
    await sealStoredValuesAgain(context);
    return undefined;
  },
};
