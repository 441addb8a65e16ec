import { randomUUIDv7 } from 'node:crypto';
import type { Context } from '../context/context.ts';
import type { RequestFacts, TokenOperation } from '../context/operation.ts';
import { invalidField, type AppError, type Text } from '../errors.ts';
import type { VerifiedToken } from '../process/access-tokens.ts';
import { ProviderError } from '../provider/errors.ts';
import type { PaymentOrder, ProviderSession } from '../provider/provider.ts';
import { claimCheckedOrder } from './claim-checked-order.ts';
import {
  findCodePayee,
  openRequestedCode,
  parseCodePayment,
  refuseEndedCode,
} from './code-payment.ts';
import type { ConfirmedCode } from './confirmed-code.ts';
import { isSameOwner, openLookUp, readLookUp, type LookUp } from './confirmed-payee.ts';
import type { RequestedClaim } from './idempotency.ts';
import { makePayment, openSession, type AcquiredOrder } from './make-payment.ts';
import { completeOrderRefusal, unknownOutcome } from './order-refusal.ts';
import { parsePayment, termsFingerprint } from './payment-terms.ts';
import type { PixTransaction } from './pix-transaction-repository.ts';
import { readReplay } from './replay-repository.ts';
import { reserveSend, type SendReservation } from './reservation-repository.ts';
import { pixReply } from './transaction-reply.ts';
import { failChangedPayee, failLookUp, failStart, type ClaimedSend } from './unpaid-send.ts';
import { resolveUnstarted } from './unstarted-order.ts';

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
  refusalHeaders: () => unknownOutcome,
  completeRefusal: (context, call) => completeOrderRefusal(context, call, 'SEND'),
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
    const claim = await claimCheckedOrder(context, token, {
      ...claimOfSend(context, token, reservation),
      options: request.callOptions,
    });
    if (claim.result === 'replay') return pixReply(claim.transaction, { replayed: true });

    const { transaction } = claim;
    const payment = { key: pixKey, amountCents, description, txid };
    const byCode = code && { isByDynamicCode: true as const };
    const order = { ...payment, ...byCode, clientRequestId, payer: claim.account };
    const session = await openSession(context, claim.reserved.payer, transaction);
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
 * The claim of the key of a send.
 * @public For the tests.
 */
export function claimOfSend(
  context: Context,
  token: VerifiedToken,
  order: SendReservation,
): RequestedClaim {
  return {
    operation: 'SEND',
    order,
    readReplay: () => readReplay(context, token, order),
    reserve: () => reserveSend(context, token, order),
  };
}

/** Takes the steps 2 to 5. */
async function executeSend(context: Context, send: Send): Promise<PixTransaction> {
  const { transaction, order, session, request } = send;
  const found = storedLookUp(transaction) ?? (await findPayee(context, send));
  if (found === null) return resolveUnstarted(context, transaction, null);
  const acquired: AcquiredOrder = {
    transaction,
    request,
    send: (endToEnd, options) =>
      context.provider.pay({ session, order: { ...order, endToEnd }, ...options }),
    failStart: (failed) => failStart(context, send, failed),
  };
  return makePayment(context, acquired, found);
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
