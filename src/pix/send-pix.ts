import { randomUUIDv7 } from 'node:crypto';
import { callerSession } from '../auth/banking-sessions.ts';
import { toAppError } from '../auth/provider-failure.ts';
import type { Context } from '../context/context.ts';
import type { RefusedCall, RequestFacts, TokenOperation } from '../context/operation.ts';
import type { Payer } from '../domain/principal.ts';
import { AppError, invalidField, type Text } from '../errors.ts';
import type { VerifiedToken } from '../process/access-tokens.ts';
import { notUnderstood, ProviderError } from '../provider/errors.ts';
import type { PaymentOrder, ProviderSession } from '../provider/provider.ts';
import { noteAnalysis } from './analysis-repository.ts';
import { claimCheckedSend } from './claim-checked-send.ts';
import {
  findCodePayee,
  openRequestedCode,
  parseCodePayment,
  refuseEndedCode,
} from './code-payment.ts';
import type { ConfirmedCode } from './confirmed-code.ts';
import { isSameOwner, openLookUp, readLookUp, type LookUp } from './confirmed-payee.ts';
import { PaymentAttempts } from './payment-attempts.ts';
import { outcomeOfFailure, outcomeOfReceipt } from './payment-outcome.ts';
import { beginPaying, type PayingSend, type TimedStep } from './payment-repository.ts';
import { parsePayment, termsFingerprint } from './payment-terms.ts';
import type { PixTransaction } from './pix-transaction-repository.ts';
import { recordOutcome } from './record-outcome.ts';
import { readOutcomeOfKey, readReplay } from './replay-repository.ts';
import type { SendReservation } from './reservation-repository.ts';
import { pixReply } from './transaction-reply.ts';
import {
  failChangedPayee,
  failLookUp,
  failStart,
  releaseClaim,
  resolveUnstartedSend,
  type ClaimedSend,
} from './unpaid-send.ts';

/**
 * Sends a PIX. Each step is stored before the next one is taken (`domain/pix.ts` explains the
 * phases), so that a crash at any point leaves a state that shows what may have happened:
 *
 * 1. the idempotency key is claimed: RESERVED;
 * 2. the directory returns the owner of the PIX key, and the end-to-end id;
 * 3. that id and the attempt are stored: RESOLVED, PAYING;
 * 4. the payment is sent, with the same ids in every attempt of the provider layer; each further
 *    attempt is stored too, and is made only while the send is in PAYING under our claim;
 * 5. the outcome is stored: ACCEPTED, REJECTED, UNKNOWN, or FAILED because nothing was sent.
 *
 * An unknown outcome is answered by 200 PROCESSING: a 502 would invite a new key and a second
 * payment.
 */
export const sendPix: TokenOperation<'sendPix'> = {
  access: 'token',
  checksSession: true,
  refusalHeaders: () => ({ 'Pix-Outcome': 'unknown' }),
  completeRefusal,
  async run(context, { input, token, request }) {
    const code = openRequestedCode(context, token.userId, input.body);
    const terms = code ? parseCodePayment(code, input.body) : parsePayment(input.body);
    const { pixKey, amountCents, description, txid } = terms;
    const clientRequestId = input.headers['Idempotency-Key'];
    const reservation = {
      id: randomUUIDv7(),
      idempotencyKey: clientRequestId,
      pixKey,
      amountCents,
      description,
      fingerprint: termsFingerprint(terms),
      code,
    };
    request.traceTransaction?.(reservation.id);
    const { lookup_id: lookupId } = input.body;
    const payee = { userId: token.userId, key: pixKey };
    // Most sends have no look-up: to open an empty one would throw on the hot path.
    const confirmed =
      code ?? (lookupId === undefined ? null : openLookUp(context, payee, lookupId));
    const refusal = code
      ? refuseEndedCode(code, context.clock.now())
      : lookupId !== undefined && confirmed === null && invalidField('lookup_id', unusableLookUp);
    if (refusal) return replayOrRefuse(context, token, { reservation, refusal });
    const claim = await claimCheckedSend(context, token, {
      reservation,
      options: request.callOptions,
    });
    if (claim.result === 'replay') return pixReply(claim.transaction, { replayed: true });

    const { transaction } = claim;
    const payment = { key: pixKey, amountCents, description, txid };
    const byCode = code && { isByDynamicCode: true as const };
    const order = { ...payment, ...byCode, clientRequestId, payer: claim.account };
    const session = await openSession(context, claim.payer, transaction);
    const send: Send = { transaction, order, session, request, confirmed, code };
    const result = await context.outcomes.track(transaction.id, () => executeSend(context, send));
    return pixReply(result, { replayed: claim.resumed });
  },
};

/** A send whose key this request has acquired. */
interface Send extends ClaimedSend {
  readonly order: Omit<PaymentOrder, 'endToEnd'>;
  readonly session: ProviderSession;
  readonly request: RequestFacts;
  /** The look-up of the dynamic code that is paid; null: a key or a static code is. */
  readonly code: ConfirmedCode | null;
}

/**
 * Opens the payer's session at the provider. If that fails the claim is released: the same request
 * resumes the send after a new login. The outcome is unknown then, because another process may have
 * resumed it already.
 */
async function openSession(
  context: Context,
  payer: Payer,
  transaction: PixTransaction,
): Promise<ProviderSession> {
  try {
    return callerSession(context, payer);
  } catch (error) {
    await releaseClaim(context, transaction);
    throw error;
  }
}

/**
 * Takes the steps 2 to 5.
 * @returns the transaction after the payment, or as another process has stored it.
 */
async function executeSend(context: Context, send: Send): Promise<PixTransaction> {
  const { transaction } = send;
  const found = storedLookUp(transaction) ?? (await findPayee(context, send));
  if (found === null) return resolveUnstartedSend(context, send, null);
  context.outcomes.noteEndToEnd(transaction.id, found.endToEnd);
  const step = { ...found, at: context.clock.now() };
  const paying = await startPaying(context, send, step);
  return paying ? pay(context, send, paying) : resolveUnstartedSend(context, send, step);
}

/** A resumed send keeps its end-to-end id and the stored owner. */
function storedLookUp({ endToEnd }: PixTransaction): Pick<LookUp, 'endToEnd'> | null {
  return endToEnd === null ? null : { endToEnd };
}

/**
 * Finds the payee: by the confirmed look-up while it is fresh, otherwise by a new one. The payer
 * has confirmed one owner of the key, so the payment fails if the key may have another one since.
 * @returns null when another process has moved the transaction.
 */
async function findPayee(context: Context, send: Send): Promise<LookUp | null> {
  const { confirmed } = send;
  if (confirmed?.isFresh) return confirmed;
  if (send.code) return findCodePayee(context, send, send.code);
  const found = await lookUp(context, send);
  if (found === null || confirmed === null || isSameOwner(confirmed, found)) return found;
  return failChangedPayee(context, send);
}

/**
 * Looks the key up in the directory. No money has moved if this fails, so the transaction fails.
 * @returns what was found, or null when another process has moved the transaction.
 */
async function lookUp(context: Context, send: Send): Promise<LookUp | null> {
  const { order, session, request } = send;
  try {
    const owner = await context.provider.lookUpKey({
      session,
      payerId: order.payer.document,
      key: order.key,
      ...request.callOptions,
    });
    return readLookUp(owner);
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error;
    return failLookUp(context, send, error);
  }
}

/** If two processes reach this step with the same transaction, the database admits one of them. */
async function startPaying(
  context: Context,
  send: Send,
  step: TimedStep,
): Promise<PayingSend | null> {
  try {
    return await beginPaying(context, send.transaction, step);
  } catch (error) {
    return failStart(context, send, { step, error });
  }
}

/** Takes the steps 4 and 5. */
async function pay(context: Context, send: Send, paying: PayingSend): Promise<PixTransaction> {
  const { session, request } = send;
  const order: PaymentOrder = { ...send.order, endToEnd: paying.endToEnd };
  const attempts = new PaymentAttempts(context, paying);
  const options = attempts.limit(request.callOptions);
  const { log } = request;
  try {
    const receipt = await context.provider.pay({ session, order, ...options });
    const outcome = outcomeOfReceipt(context, paying, { receipt, attempt: attempts.made });
    const stored = await recordOutcome(context, paying, { ...outcome, log });
    return receipt.isUnderAnalysis && stored.phase === 'ACCEPTED'
      ? await noteHeld(context, stored, log)
      : stored;
  } catch (error) {
    // The payment may have been sent before a defect of our own, which proves nothing about it.
    const failure = error instanceof ProviderError ? error : notUnderstood(error);
    if (failure.outcome === 'unknown') context.metrics.unknownOutcomes.inc();
    const outcome = outcomeOfFailure({ failure, attempt: attempts.made });
    const stored = await recordOutcome(context, paying, { ...outcome, log });
    return replyTo(failure, stored);
  }
}

/** Notes that the provider analyses a payment. It only informs: a failure to store it is logged. */
async function noteHeld(
  context: Context,
  stored: PixTransaction,
  log: RequestFacts['log'],
): Promise<PixTransaction> {
  try {
    const isHeld = await noteAnalysis(context, stored.id);
    return isHeld ? { ...stored, heldAt: context.clock.now() } : stored;
  } catch (error) {
    log.error({ error, transactionId: stored.id }, 'an analysis was not noted');
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
  throw toAppError(failure, { 'Pix-Outcome': outcome });
}

/** What cannot be paid now is refused; the repeat of a stored send finds it. */
async function replayOrRefuse(
  context: Context,
  token: VerifiedToken,
  refused: { readonly reservation: SendReservation; readonly refusal: AppError },
) {
  const replayed = await readReplay(context, token, refused.reservation);
  if (replayed) return pixReply(replayed, { replayed: true });
  throw refused.refusal;
}

const unusableLookUp: Text = {
  en: 'This look-up cannot be used for this payment. Look the key up again.',
  pt: 'Esta consulta não vale para este pagamento. Consulte a chave Pix de novo.',
};

/**
 * Adds the outcome to a refusal of invalid fields: that of the payment with the key, which a repeat
 * with another body must not hide, or `not_sent` when no payment has the key. Without a valid key,
 * and while the account cannot pay, the outcome is unknown: a new key must not appear safe.
 */
async function completeRefusal(
  context: Context,
  { error, token, headers }: RefusedCall<'sendPix'>,
): Promise<AppError> {
  const { code, text, fields = {} } = error;
  const isComplete = error.headers['Pix-Outcome'] !== undefined;
  const isKnown = code === 'VALIDATION_FAILED' || code === 'NOT_AVAILABLE';
  if (!isKnown || isComplete || headers === null) return error;
  if (Object.hasOwn(fields, 'account')) return error;
  const outcome = await readOutcomeOfKey(context, token, headers['Idempotency-Key']);
  return new AppError(code, { text, fields, headers: { 'Pix-Outcome': outcome } });
}
