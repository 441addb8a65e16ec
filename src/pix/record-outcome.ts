/** Stores the outcome of a payment that was sent, or provably was not sent. */
import type { Context } from '../context/context.ts';
import { maxCallMs } from '../domain/call-duration.ts';
import { receivedByPayee } from '../domain/pix.ts';
import { judgeFailure, judgeReceipt, judgeUnmoved } from '../ledger/judge-response.ts';
import { noticeLostCommit, rereadTransaction } from '../ledger/lost-commits.ts';
import { moveTransaction, type Move } from '../ledger/move-repository.ts';
import {
  acceptPayment,
  findSameKeySend,
  hasReachedPayee,
  isSettledByEvent,
  type PayingSend,
} from '../ledger/payment-repository.ts';
import { noteAnomaly, type PixTransaction } from '../ledger/pix-transaction-repository.ts';
import { storeWithRetries } from '../process/unstored-outcomes.ts';
import type { ProviderError } from '../provider/errors.ts';
import type { PaymentReceipt } from '../provider/provider.ts';
import type { Log } from '../telemetry/log.ts';

/** The response to a payment, or why there is none. */
export interface PaymentEnd {
  /** The receipt of the bank, or the failure. */
  readonly said: PaymentReceipt | ProviderError;
  /** The number of attempts that were made. */
  readonly attempt: number;
  /** What logs for the request; its log is made when it is first used. */
  readonly request: { readonly log: Log };
}

/**
 * Stores the outcome of a payment, however long the database is unavailable: with back-off while
 * the claim lasts, then from the list of this process. A failure to store is no failure of the
 * payment.
 * @returns the transaction as it is stored; while the outcome is not stored, as it was in PAYING,
 *   with the outcome.
 */
export async function recordOutcome(
  context: Context,
  paying: PayingSend,
  response: PaymentEnd,
): Promise<PixTransaction> {
  const { clock, stopping } = context;
  const { said, request } = response;
  const store = (): Promise<PixTransaction> => recordOnce(context, paying, response);
  try {
    return await storeWithRetries({ clock, stopping, until: paying.claimedUntil }, store);
  } catch (error) {
    request.log.error({ error, transactionId: paying.id }, 'an outcome waits for the database');
    context.outcomes.keep({ transactionId: paying.id, store });
    // A receipt that is not checked yet may be another payment's.
    const isAccepted = !(said instanceof Error) && !mayBeShared(paying, said);
    return { ...paying, outcome: isAccepted ? 'accepted' : 'unknown' };
  }
}

async function recordOnce(
  context: Context,
  paying: PayingSend,
  { said, attempt, request }: PaymentEnd,
): Promise<PixTransaction> {
  const { endToEnd } = paying;
  const move =
    said instanceof Error
      ? judgeFailure(said, { attempt, isReceived: false })
      : judgeReceipt(said, { attempt, mayBeOther: await mayBeOfOtherUser(context, paying, said) });
  const isFailed = said instanceof Error && move.status === 'FAILED';
  if (isFailed) await hasReachedPayee(context, paying.id);
  const givesLookUpBack = move.outcome === 'accepted' && paying.tookLookUp === true;
  // Nearly every payment is accepted: that move has a statement of its own.
  const moved =
    move.to === 'ACCEPTED'
      ? await acceptPayment(context, paying, { providerTxid: move.providerTxid ?? null, attempt })
      : await moveTransaction(context, paying.id, { ...move, endToEnd, givesLookUpBack });
  if (moved) return moved;
  const received = isFailed && (await storeUnfailed(context, paying, { said, attempt }));
  if (received) return received;
  const unmoved = { endToEnd, move, request };
  const stored = await noteContradiction(context, paying, unmoved);
  if (stored.endToEnd !== endToEnd) {
    const committedAt = new Date(
      paying.claimedUntil.getTime() - maxCallMs(context.config.provider),
    );
    await noticeLostCommit(context, { missing: 'the step to PAYING', committedAt });
  }
  return stored;
}

/** Whether a receipt names the payment only by a request id that other users may have. */
function mayBeShared(paying: PayingSend, { isByRequestAlone }: PaymentReceipt): boolean {
  return isByRequestAlone === true && paying.operation !== 'REFUND_OUT';
}

/** Whether a receipt may be that of another user's send with the same key, which is noted. */
async function mayBeOfOtherUser(
  context: Context,
  paying: PayingSend,
  receipt: PaymentReceipt,
): Promise<boolean> {
  if (!mayBeShared(paying, receipt)) return false;
  const otherId = await findSameKeySend(context, paying);
  if (otherId === null) return false;
  const says = "the provider's answer may be about another user's payment";
  await noteConflict(context, paying, { reason: `same_key_as ${otherId}`, says });
  return true;
}

interface Failure {
  readonly said: ProviderError;
  readonly attempt: number;
}

/**
 * Stores the failure of a send that does not fail although it may be moved: its payee has received
 * it.
 * @returns null: it was moved meanwhile.
 */
async function storeUnfailed(
  context: Context,
  paying: PayingSend,
  { said, attempt }: Failure,
): Promise<PixTransaction | null> {
  const { id, endToEnd } = paying;
  const move = { ...judgeFailure(said, { attempt, isReceived: true }), endToEnd };
  const moved = await moveTransaction(context, id, move);
  if (!moved) return null;
  const says = 'a payment has failed that its payee has received';
  await noteConflict(context, paying, { reason: receivedByPayee, says });
  return moved;
}

async function noteConflict(
  context: Context,
  { id: transactionId }: PayingSend,
  { reason, says }: { readonly reason: string; readonly says: string },
): Promise<void> {
  const anomaly = { transactionId, eventId: null, reason };
  if (!(await noteAnomaly(context, anomaly))) return;
  context.metrics.pixAnomalies.inc();
  context.log.error(anomaly, says);
}

/** A move that was not made. */
interface MoveOfPayment {
  /** The end-to-end id of the payment. */
  readonly endToEnd: string;
  readonly move: Move;
  readonly request: PaymentEnd['request'];
}

/**
 * Notes a conflict where an outcome contradicts the stored transaction, which was moved meanwhile:
 * by an event, by an operator, or by a failover that has lost the record of the payment.
 * @returns the transaction as it is stored.
 */
export async function noteContradiction(
  context: Context,
  transaction: PixTransaction,
  { request, ...unmoved }: MoveOfPayment,
): Promise<PixTransaction> {
  const stored = await rereadTransaction(context, transaction);
  const settledByEvent = stored.status === 'FAILED' && (await isSettledByEvent(context, stored.id));
  const reason = judgeUnmoved({ ...unmoved, stored, isSettledByEvent: settledByEvent });
  if (reason !== null) {
    const isNew = await noteAnomaly(context, { transactionId: stored.id, eventId: null, reason });
    if (isNew) context.metrics.pixAnomalies.inc();
    const facts = { transactionId: stored.id, reason, stored: stored.status };
    request.log.error(facts, 'the outcome contradicts a settled payment');
  }
  return stored;
}
