/**
 * An outcome that could not be stored, because the transaction was moved meanwhile: by an event, by
 * an operator, or by a failover that has lost the record of the payment.
 */
import type { Context } from '../context/context.ts';
import { maxCallMs } from '../domain/call-duration.ts';
import type { Log } from '../telemetry/log.ts';
import { noticeLostCommit, rereadTransaction } from '../ledger/lost-commits.ts';
import type { Move } from '../ledger/move-repository.ts';
import { isSettledByEvent, type PayingSend } from '../ledger/payment-repository.ts';
import { noteAnomaly, type PixTransaction } from '../ledger/pix-transaction-repository.ts';

/**
 * Notes what the stored transaction contradicts, and a failover that has lost the step to PAYING.
 * @returns the transaction as it is stored.
 */
export async function resolveUnmoved(
  context: Context,
  paying: PayingSend,
  { move, log }: { readonly move: Move; readonly log: Log },
): Promise<PixTransaction> {
  const { endToEnd, claimedUntil } = paying;
  const stored = await noteContradiction(context, paying, { endToEnd, move, log });
  if (stored.endToEnd !== endToEnd) {
    const committedAt = new Date(claimedUntil.getTime() - maxCallMs(context.config.provider));
    await noticeLostCommit(context, { missing: 'the step to PAYING', committedAt });
  }
  return stored;
}

/** The outcome that was not stored. */
interface Unmoved {
  /** The end-to-end id that the outcome is of. */
  readonly endToEnd: string;
  readonly move: Move;
}

/**
 * Notes an anomaly where an outcome contradicts the stored transaction.
 * @returns the transaction as it is stored.
 */
export async function noteContradiction(
  context: Context,
  transaction: PixTransaction,
  { log, ...unmoved }: Unmoved & { readonly log: Log },
): Promise<PixTransaction> {
  const stored = await rereadTransaction(context, transaction);
  const reason = await findContradiction(context, { ...unmoved, stored });
  if (reason !== null) {
    await noteAnomaly(context, { transactionId: stored.id, eventId: null, reason });
    context.metrics.pixAnomalies.inc();
    const facts = { transactionId: stored.id, reason, stored: stored.status };
    log.error(facts, 'the outcome contradicts a settled payment');
  }
  return stored;
}

/**
 * A response that moves nothing contradicts what is stored if it reports another final status. An
 * acceptance contradicts a failure that no event of the provider has reported, such as an
 * operator's decision. A transaction that now has another end-to-end id is another payment. One
 * that has none has failed before PAYING, because a loss of commits took that step: it may be paid.
 * @returns the reason of the anomaly, or null when there is none.
 */
async function findContradiction(
  context: Context,
  { endToEnd, stored, move }: Unmoved & { readonly stored: PixTransaction },
): Promise<string | null> {
  if (stored.status === 'PROCESSING' || stored.status === move.status) return null;
  if (stored.endToEnd === null && stored.status === 'FAILED') return 'left_after_loss';
  if (stored.endToEnd !== endToEnd) return null;
  if (move.status !== 'PROCESSING') return `contradicted_by_${move.status}`;
  if (move.outcome !== 'accepted' || stored.status !== 'FAILED') return null;
  return (await isSettledByEvent(context, stored.id)) ? null : 'contradicted_by_ACCEPTED';
}
