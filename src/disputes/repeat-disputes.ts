import { providerSession } from '../auth/banking-sessions.ts';
import { offers } from '../config/config.ts';
import type { Context } from '../context/context.ts';
import { jobCallOptions, type JobHandler } from '../jobs/job.ts';
import type { CallOptions } from '../provider/provider.ts';
import { SealError } from '../security/sealing.ts';
import { callProvider, checkDispute } from './call-provider.ts';
import { findPendingDisputes, storeCheck, type PendingDispute } from './dispute-repository.ts';

/** Disputes of one run; the rest waits for the next one. */
const batchSize = 50;

/**
 * Repeats the calls about disputes whose outcome is unknown, or that were not sent, and then reads
 * open disputes, whose events may be lost: in the active session of their user. A reading that
 * fails ends the run, because other jobs call the provider too.
 */
export const repeatDisputes: JobHandler = {
  everyMs: 60_000,
  async run(context, job) {
    if (!offers(context.config, 'disputes')) return;
    const options = jobCallOptions(job);
    for (const pending of await findPendingDisputes(context, batchSize)) {
      if (context.stopping.aborted) return;
      if (!(await repeat(context, pending, options))) return;
    }
  },
};

/**
 * A token that no key opens any more must not hold up the others.
 * @returns false when the provider could not be asked about an open dispute.
 */
async function repeat(
  context: Context,
  { dispute, session: stored }: PendingDispute,
  options: CallOptions,
): Promise<boolean> {
  const { transactionId, status, withdrawalRequestedAt } = dispute;
  try {
    const caller = { session: providerSession(context, stored), options };
    const isDecidedByBank = status === 'OPEN' && withdrawalRequestedAt === null;
    if (isDecidedByBank) return await checkDispute(context, dispute, caller);
    await callProvider(context, dispute, caller);
  } catch (error) {
    if (!(error instanceof SealError)) throw error;
    await storeCheck(context, transactionId);
    context.log.error({ error, transactionId }, 'a dispute could not be repeated');
  }
  return true;
}
