/**
 * A send by a fresh look-up, which is PAYING in the commit of its claim. What may fail in this
 * process comes before: from then on only the outcome of the call ends it, or that nothing was
 * sent.
 */
import { hasOpenedToken } from '../auth/banking-sessions.ts';
import type { Context } from '../context/context.ts';
import type { PayingSend, PayingStep } from '../ledger/payment-repository.ts';
import type { PixTransaction } from '../ledger/pix-transaction-repository.ts';
import type { FreshLookUp } from '../ledger/reservation-repository.ts';
import type { VerifiedToken } from '../process/access-tokens.ts';
import type { ProviderSession } from '../provider/provider.ts';
import type { ConfirmedLookUp } from './confirmed-payee.ts';
import { openSession } from './make-payment.ts';
import type { ReservedSend } from './reserve-send.ts';
import { scheduleUnsentFailure } from './unstarted-order.ts';

/**
 * @returns the look-up by which the claim of a send may take it to PAYING; null: it is RESERVED
 *   first. The token of the payer must have been opened before, and a service that stops may have
 *   closed its connections to the bank when the claim is stored.
 */
export function findStartingLookUp(
  context: Context,
  { userId }: VerifiedToken,
  confirmed: ConfirmedLookUp | null,
): FreshLookUp | null {
  const isStopping = context.stopping.aborted;
  if (!confirmed?.isFresh || isStopping || !hasOpenedToken(context, userId)) return null;
  return { endToEnd: confirmed.endToEnd, owner: confirmed.owner };
}

interface SendClaim {
  readonly transaction: PixTransaction;
  readonly resumed: boolean;
  readonly reserved: ReservedSend;
}

/** A send that its claim has taken to PAYING. */
export interface BegunSend {
  readonly paying: PayingSend;
  readonly step: PayingStep;
}

function toBegunSend({ transaction, resumed, reserved }: SendClaim): BegunSend | null {
  const { endToEnd, phase } = transaction;
  if (resumed || phase !== 'PAYING' || endToEnd === null) return null;
  const { claimedAt: at, claimedUntil } = reserved;
  const paying = { ...transaction, endToEnd, claimedUntil, attemptsBefore: 0 };
  return { paying, step: { endToEnd, at } };
}

/**
 * Opens the payer's session for a claimed send, as `openSession` does. If that fails, a send in
 * PAYING fails: nothing was sent.
 */
export async function openSendSession(
  context: Context,
  claim: SendClaim,
): Promise<{ readonly session: ProviderSession; readonly begun: BegunSend | null }> {
  const { transaction, reserved } = claim;
  const begun = toBegunSend(claim);
  try {
    return { session: await openSession(context, reserved.payer, transaction), begun };
  } catch (error) {
    if (begun) scheduleUnsentFailure(context, { ...transaction, endToEnd: null }, begun.step);
    throw error;
  }
}
