/**
 * Makes the payment of an order whose key is claimed: the steps that a send and a return share.
 * `domain/pix.ts` explains the phases.
 *
 * 0. The order waits for its turn, because each attempt opens a connection.
 * 1. The id of the order and the attempt are stored: PAYING.
 * 2. The order is sent, with the same ids in every attempt of the provider layer; each further
 *    attempt is stored too, and is made only while the order is in PAYING under our claim.
 * 3. The outcome is stored: ACCEPTED, REJECTED, UNKNOWN, or FAILED because nothing was sent.
 */
import { callerSession } from '../auth/banking-sessions.ts';
import { toAppError } from '../auth/provider-failure.ts';
import type { Context } from '../context/context.ts';
import type { RequestFacts } from '../context/operation.ts';
import type { Payer } from '../domain/principal.ts';
import { AppError } from '../errors.ts';
import { notUnderstood, ProviderError } from '../provider/errors.ts';
import type { CallOptions, PaymentReceipt, ProviderSession } from '../provider/provider.ts';
import { noteAnalysis } from '../ledger/analysis-repository.ts';
import { forgetPayee } from '../ledger/erasure-repository.ts';
import { PaymentAttempts } from './payment-attempts.ts';
import { beginPaying, type PayingSend, type PayingStep } from '../ledger/payment-repository.ts';
import type { PixTransaction } from '../ledger/pix-transaction-repository.ts';
import { recordOutcome } from './record-outcome.ts';
import { allowResume } from '../ledger/refused-session-repository.ts';
import { releaseClaim } from './release-claim.ts';
import { resolveUnstarted } from './unstarted-order.ts';

/** The step to PAYING, without its time. */
export type FoundPayee = Omit<PayingStep, 'at'>;

/** An order whose key this request has claimed, and what its kind does. */
export interface ClaimedOrder {
  readonly transaction: PixTransaction;
  readonly request: RequestFacts;
  /** Whether the payer knows who is paid: by a confirmed look-up, or from a received payment. */
  readonly isPayeeKnown: boolean;
  /** Sends it to the provider, under the id of the step. */
  send(endToEnd: string, options: CallOptions): Promise<PaymentReceipt>;
  /**
   * Handles a step to PAYING that was not confirmed.
   * @returns what to begin with instead; null when another process has moved the transaction.
   * @throws the error, or a refusal.
   */
  failStart(failed: {
    readonly step: PayingStep;
    readonly error: unknown;
  }): Promise<FoundPayee | null>;
}

/**
 * Makes the payment of an order.
 * @returns the transaction after the payment, or as another process has stored it.
 * @throws AppError the refusal, with what is known of the payment; BUSY when too many wait.
 */
export async function makePayment(
  context: Context,
  order: ClaimedOrder,
  found: FoundPayee,
): Promise<PixTransaction> {
  const { transaction, failStart } = order;
  await takeTurn(context, transaction);
  context.outcomes.noteEndToEnd(transaction.id, found.endToEnd);
  const step = { ...found, at: context.clock.now() };
  let paying: PayingSend | null;
  try {
    // If two processes reach this step with the same transaction, the database admits one of them.
    paying = await beginPaying(context, transaction, step);
  } catch (error) {
    const instead = await failStart({ step, error });
    if (instead) return makePayment(context, order, instead);
    paying = null;
  }
  if (paying) return pay(context, order, paying);
  // A resumed order may have been sent: only its first step shows that nothing was.
  const own = transaction.phase === 'UNKNOWN' ? null : step;
  return resolveUnstarted(context, transaction, own);
}

/**
 * Waits until this process may open a connection to the bank.
 * @throws AppError BUSY when too many orders wait: the same request resumes the order.
 */
async function takeTurn(context: Context, transaction: PixTransaction): Promise<void> {
  if (await context.paymentTurns.wait(context.stopping)) return;
  await releaseClaim(context, transaction);
  throw new AppError('BUSY', {
    order: { outcome: 'unknown' },
    headers: { 'Retry-After': '5' },
  });
}

/** Takes the steps 2 and 3 of an order that this request has taken to PAYING. */
export async function pay(
  context: Context,
  { request, send, isPayeeKnown }: ClaimedOrder,
  paying: PayingSend,
): Promise<PixTransaction> {
  const attempts = new PaymentAttempts(context, paying);
  const options = attempts.limit(request.callOptions);
  try {
    const receipt = await send(paying.endToEnd, options);
    const response = { said: receipt, attempt: attempts.made, request };
    const stored = await recordOutcome(context, paying, response);
    return receipt.isUnderAnalysis && stored.phase === 'ACCEPTED'
      ? await noteHeld(context, stored, request)
      : stored;
  } catch (error) {
    // The payment may have been sent before a defect of our own, which proves nothing about it.
    const thrown = error instanceof ProviderError ? error : notUnderstood(error);
    const failure = doubtedIfResumed(paying, thrown);
    if (failure.outcome === 'unknown') context.metrics.unknownOutcomes.inc();
    const response = { said: failure, attempt: attempts.made, request };
    const stored = await recordOutcome(context, paying, response);
    if (failure.outcome === 'not_sent' && !isPayeeKnown) {
      await storeBeside(request, stored, (id) => forgetPayee(context, id));
    }
    // If it cannot be stored, an event or the statement ends the payment.
    if (isSessionRefused(context, failure)) {
      await storeBeside(request, stored, (id) => allowResume(context, id));
    }
    return replyTo(failure, stored);
  }
}

/** That an attempt of a resumed payment was not sent says nothing of the attempts before it. */
function doubtedIfResumed({ attemptsBefore }: PayingSend, failure: ProviderError): ProviderError {
  if (attemptsBefore === 0 || failure.outcome !== 'not_sent') return failure;
  const { code, statusClass, attempts } = failure;
  const doubt = new ProviderError({ outcome: 'unknown', code, statusClass, cause: failure });
  return Object.assign(doubt, { attempts, lastAttempt: failure.lastAttempt ?? failure });
}

/** Whether the payment may be resumed: the bank has refused the session, and recognises repeats. */
function isSessionRefused({ config }: Context, { code, outcome }: ProviderError): boolean {
  return code === 'TOKEN_REFUSED' && outcome === 'unknown' && config.provider.paymentRetries > 0;
}

/** Stores what a payment does not depend on: a failure to store it is logged. */
async function storeBeside(
  request: RequestFacts,
  { id: transactionId }: PixTransaction,
  work: (id: string) => Promise<void>,
): Promise<void> {
  try {
    await work(transactionId);
  } catch (error) {
    request.log.error(
      { error, transactionId },
      'what follows from a failed payment was not stored',
    );
  }
}

/** Notes that the provider analyses a payment. It only informs: a failure to store it is logged. */
async function noteHeld(
  context: Context,
  stored: PixTransaction,
  request: RequestFacts,
): Promise<PixTransaction> {
  try {
    const isHeld = await noteAnalysis(context, stored.id);
    return isHeld ? { ...stored, heldAt: context.clock.now() } : stored;
  } catch (error) {
    request.log.error({ error, transactionId: stored.id }, 'an analysis was not noted');
    return stored;
  }
}

/**
 * @returns the transaction as it is stored, if it says more than the failure, or if a repeat would
 *   get it: the payment may have been settled meanwhile, or the refusal could not be stored.
 * @throws AppError otherwise, and when the provider has ended the banking session: 401.
 */
function replyTo(failure: ProviderError, stored: PixTransaction): PixTransaction {
  const { code, outcome } = failure;
  const isEnded = code === 'TOKEN_REFUSED' && stored.status === 'PROCESSING';
  if (outcome === 'unknown' ? !isEnded : stored.status !== 'FAILED') return stored;
  throw toAppError(failure, { outcome, stored });
}

/**
 * Opens the payer's session at the provider. If that fails the claim is released: the same request
 * resumes the order after a new login. The outcome is unknown then, because another process may
 * have resumed it already.
 */
export async function openSession(
  context: Context,
  payer: Payer,
  transaction: PixTransaction,
): Promise<ProviderSession> {
  try {
    return callerSession(context, payer);
  } catch (error) {
    if (transaction.phase !== 'PAYING') await releaseClaim(context, transaction);
    throw error;
  }
}
