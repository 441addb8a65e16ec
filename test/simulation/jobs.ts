/** The jobs of the service that a history runs. */
import { repeatDisputes } from '../../src/disputes/repeat-disputes.ts';
import type { JobTable } from '../../src/jobs/job.ts';
import { applyRetention } from '../../src/retention/maintenance.ts';
import { settleWebhook, settleWebhookBatch } from '../../src/settlement/settle-webhook.ts';
import { sweepPix } from '../../src/settlement/sweep-pix.ts';

/** The jobs that settle sends; the simulation needs no others without disputes. */
export const sendJobs = {
  'settle-webhook': settleWebhook,
  'settle-webhook-batch': settleWebhookBatch,
  'sweep-pix': sweepPix,
  'apply-retention': applyRetention,
} as const satisfies JobTable;

const disputeJobs = { 'repeat-disputes': repeatDisputes } as const satisfies JobTable;

/** @param jobs replace others with their names. */
export function listJobs(hasDisputes: boolean, jobs: JobTable = sendJobs): JobTable {
  return { ...(hasDisputes && disputeJobs), ...jobs };
}
