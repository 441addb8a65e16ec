/** Stores the outcome of a payment that was sent, or provably was not sent. */
import type { Context } from '../context/context.ts';
import { storeWithRetries } from '../process/unstored-outcomes.ts';
import type { Log } from '../telemetry/log.ts';
import { resolveUnmoved } from './contradicted-outcome.ts';
import { moveTransaction } from '../ledger/move-repository.ts';
import type { Outcome } from './payment-outcome.ts';
import { acceptPayment, type PayingSend } from '../ledger/payment-repository.ts';
import type { PixTransaction } from '../ledger/pix-transaction-repository.ts';

/**
 * Stores the outcome of a payment, however long the database is unavailable: with back-off while
 * the claim lasts, then from the list of this process. A failure to store is no failure of the
 * payment.
 * @param outcome with the log of the request.
 * @returns the transaction as it is stored; while the outcome is not stored, as it was in PAYING.
 */
export async function recordOutcome(
  context: Context,
  paying: PayingSend,
  outcome: Outcome & { readonly log: Log },
): Promise<PixTransaction> {
  const { clock, stopping } = context;
  const { move, check, log } = outcome;
  const store = (): Promise<PixTransaction> => recordOnce(context, paying, outcome);
  try {
    return await storeWithRetries({ clock, stopping, until: paying.claimedUntil }, store);
  } catch (error) {
    log.error({ error, transactionId: paying.id }, 'an outcome waits for the database');
    context.outcomes.keep({ transactionId: paying.id, store });
    // An outcome that is not checked yet may be another payment's receipt.
    const isAccepted = !check && move.outcome === 'accepted';
    return { ...paying, outcome: isAccepted ? 'accepted' : 'unknown' };
  }
}

async function recordOnce(
  context: Context,
  paying: PayingSend,
  { move: unchecked, check, log }: Outcome & { readonly log: Log },
): Promise<PixTransaction> {
  const move = check ? await check() : unchecked;
  // Nearly every payment is accepted: that move has a statement of its own.
  const moved =
    move.to === 'ACCEPTED'
      ? await acceptPayment(context, paying, {
          providerTxid: move.providerTxid ?? null,
          attempt: move.timeline[0]?.attempt ?? 1,
        })
      : await moveTransaction(context, paying.id, { ...move, endToEnd: paying.endToEnd });
  if (moved) return moved;
  return resolveUnmoved(context, paying, { move, log });
}
