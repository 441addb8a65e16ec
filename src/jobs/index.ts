/** The kinds of jobs. A job is added here, in one line, after its own file. */
import type { JobTable } from './job.ts';
import { settleWebhook } from './settle-webhook.ts';
import { sweepPix } from './sweep-pix.ts';

export const jobs: JobTable = {
  'settle-webhook': settleWebhook,
  'sweep-pix': sweepPix,
};
