import { providerSession } from '../auth/banking-sessions.ts';
import { offers } from '../config/config.ts';
import type { Context } from '../context/context.ts';
import { jobCallOptions, type JobHandler } from '../jobs/job.ts';
import type { CallOptions } from '../provider/provider.ts';
import { SealError } from '../security/sealing.ts';
import { callProvider, checkDispute } from './call-provider.ts';
import { findPendingDisputes, type PendingDispute } from './dispute-repository.ts';

/** Disputes of one run; the rest waits for the next one. */
const batchSize = 50;

/**
 * Repeats the calls about disputes whose outcome is unknown, or that were not sent, and reads open
 * disputes, whose events may be lost: in the active session of their user.
 */
export const repeatDisputes: JobHandler = {
  everyMs: 60_000,
  async run(context, job) {
    if (!offers(context.config, 'disputes')) return;
    const options = jobCallOptions(job);
    for (const pending of await findPendingDisputes(context, batchSize)) {
      if (context.stopping.aborted) return;
      await repeat(context, pending, options);
    }
  },
};

/** A token that no key opens any more must not hold up the others. */
async function repeat(
  context: Context,
  { dispute, session: stored }: PendingDispute,
  options: CallOptions,
): Promise<void> {
  const isDecidedByBank = dispute.status === 'OPEN' && dispute.withdrawalRequestedAt === null;
  try {
    const caller = { session: providerSession(context, stored), options };
    await (isDecidedByBank ? checkDispute : callProvider)(context, dispute, caller);
  } catch (error) {
    if (!(error instanceof SealError)) throw error;
    const facts = { error, transactionId: dispute.transactionId };
    context.log.error(facts, 'a dispute could not be repeated');
  }
}
