import { randomUUIDv7 } from 'node:crypto';
import type { Context } from '../context/context.ts';
import type { RequestFacts, TokenOperation } from '../context/operation.ts';
import { isBeforePaying } from '../domain/pix.ts';
import type { PayeeClass } from '../domain/payee-limits.ts';
import type { Text } from '../errors.ts';
import { ProviderError } from '../provider/errors.ts';
import type { PaymentOrder, ProviderSession } from '../provider/provider.ts';
import { findStartingLookUp, openSendSession, type BegunSend } from './begun-send.ts';
import { claimLookedUpSend } from './claim-looked-up-send.ts';
import {
  checkRefusedPayment,
  findCodePayee,
  openRequestedCode,
  parseTerms,
  refuseEndedCode,
  refuseUnreadCode,
  unreadCodeOrder,
  unusable,
} from './code-payment.ts';
import type { ConfirmedCode } from './confirmed-code.ts';
import { countMissingKey } from './directory-budget.ts';
import { isSameOwner, openLookUp, readLookUp, type LookUp } from './confirmed-payee.ts';
import { judgePayee } from './judge-payee.ts';
import { makePayment, pay, type ClaimedOrder, type FoundPayee } from './make-payment.ts';
import { completeOrderRefusal, orderHeaders } from './order-refusal.ts';
import { termsFingerprint } from './payment-terms.ts';
import type { PixTransaction } from '../ledger/pix-transaction-repository.ts';
import { refuseOrder } from './refuse-order.ts';
import { ruleRefusal } from './rule-refusal.ts';
import { asRefused, claimOfSend } from './reserve-send.ts';
import { pixReply } from './transaction-reply.ts';
import {
  failChangedPayee,
  failLookUp,
  failStart,
  isUnspent,
  type ClaimedSend,
} from './unpaid-send.ts';
import { resolveUnstarted } from './unstarted-order.ts';

/**
 * Sends a Pix. Each step is stored before the next one is taken (`domain/pix.ts` explains the
 * phases), so that a crash at any point leaves a state that shows what may have happened:
 *
 * 1. the idempotency key is claimed: RESERVED;
 * 2. the directory returns the owner of the Pix key, and the end-to-end id;
 * 3. that id and the attempt are stored: RESOLVED, PAYING; with a fresh look-up in the commit of
 *    step 1;
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
  refusalHeaders: orderHeaders,
  completeRefusal: (context, call) => completeOrderRefusal(context, call, 'SEND'),
  checkRefused: (context, { body, token }) => checkRefusedPayment(context, token.userId, body),
  run(context, call) {
    const id = randomUUIDv7();
    // A stop waits for the claim, too: it may take the send to PAYING.
    return context.outcomes.track(id, () => claimAndSend(context, call, id));
  },
};

type SendCall = Parameters<TokenOperation<'sendPix'>['run']>[1];

async function claimAndSend(
  context: Context,
  call: SendCall,
  id: string,
): ReturnType<TokenOperation<'sendPix'>['run']> {
  const { input, token, request } = call;
  const reply = { locale: request.locale, now: context.clock.now() };
  const replayed = { ...reply, replayed: true };
  const clientRequestId = input.headers['Idempotency-Key'];
  const code = openRequestedCode(context, token.userId, input.body);
  if (code === unusable) {
    const requested = { id, operation: 'SEND', idempotencyKey: clientRequestId } as const;
    const unread = { ...requested, ...unreadCodeOrder(input.body) };
    const refused = { refusal: refuseUnreadCode, request: unread };
    return pixReply(await refuseOrder(context, token, refused), replayed);
  }
  const claim = await claimRequested(context, call, { id, code });
  if (claim.result === 'replay') return pixReply(claim.transaction, replayed);

  const { transaction, payment, confirmed } = claim;
  const byCode = code && { isByDynamicCode: true as const };
  const order = { ...payment, ...byCode, clientRequestId, payer: claim.account };
  const { session, begun } = await openSendSession(context, claim);
  const isUnjudged = claim.resumed || (claim.reserved.isByPayee && confirmed === null);
  const isJudged = isUnjudged && isBeforePaying(transaction.phase);
  const send: Send = { transaction, order, session, request, confirmed, code, isJudged, begun };
  const result = await context.outcomes.track(transaction.id, () => executeSend(context, send));
  if (result.outcome === 'accepted') context.paidKeys.add(token.userId, payment.key);
  return pixReply(result, { ...reply, replayed: claim.resumed });
}

/**
 * Claims the key of a send with its terms and its confirmed look-up.
 * @returns the claim of this request, or the stored order that has the key. Throws as
 *   `claimLookedUpSend` and `refuseOrder` do.
 */
async function claimRequested(
  context: Context,
  { input, token, request }: SendCall,
  { id, code }: { readonly id: string; readonly code: ConfirmedCode | null },
) {
  const terms = parseTerms(code, input.body);
  const { pixKey, amountCents, description, txid } = terms;
  const reservation = {
    id,
    idempotencyKey: input.headers['Idempotency-Key'],
    pixKey,
    amountCents,
    description,
    fingerprint: termsFingerprint(terms),
    code,
    claims: new Set<number | null>(),
  };
  request.traceTransaction?.(reservation.id);
  const { lookup_id: lookupId } = input.body;
  const payee = { userId: token.userId, key: pixKey };
  // Most sends have no look-up: to open an empty one would throw on the hot path.
  const confirmed = code ?? (lookupId === undefined ? null : openLookUp(context, payee, lookupId));
  const isUnusable = lookupId !== undefined && confirmed === null;
  const paying = findStartingLookUp(context, token, confirmed);
  const { payeeClass = null } = confirmed ?? {};
  const ended = code && refuseEndedCode(code, context.clock.now());
  const refusal = isUnusable ? ruleRefusal('LOOK_UP_UNUSABLE', 'lookup_id', unusableLookUp) : ended;
  if (refusal) {
    const refused = { refusal, request: asRefused(reservation) };
    return { result: 'replay', transaction: await refuseOrder(context, token, refused) } as const;
  }
  const requestedClaim = {
    ...claimOfSend(context, token, { ...reservation, payeeClass, paying }),
    options: request.callOptions,
  };
  const isFresh = confirmed?.isFresh ?? false;
  const looked = { claim: requestedClaim, pixKey, isFresh };
  const claim = await claimLookedUpSend(context, token, looked);
  if (claim.result === 'replay') return claim;
  return { ...claim, payment: { key: pixKey, amountCents, description, txid }, confirmed };
}

/** A send whose key this request has claimed. */
interface Send extends ClaimedSend {
  readonly order: Omit<PaymentOrder, 'endToEnd'>;
  readonly session: ProviderSession;
  readonly request: RequestFacts;
  /** The look-up of the dynamic code that is paid; null: a key or a static code is. */
  readonly code: ConfirmedCode | null;
  /**
   * Whether the limits judge it again: its claim did not know who is paid, or was an earlier one,
   * and the limits or the time have changed since.
   */
  readonly isJudged: boolean;
  /** The send in PAYING, if its claim has taken it there. */
  readonly begun: BegunSend | null;
}

/** Takes the steps 2 to 5. */
async function executeSend(context: Context, send: Send): Promise<PixTransaction> {
  const { transaction, order, session, request } = send;
  const claimed: ClaimedOrder = {
    transaction,
    request,
    isPayeeKnown: send.confirmed !== null,
    send: (endToEnd, options) =>
      context.provider.pay({ session, order: { ...order, endToEnd }, ...options }),
    failStart: async (failed) =>
      (await isUnspent(context, send, failed))
        ? lookUpAnew(context, send)
        : failStart(context, send, failed),
  };
  if (send.begun) {
    context.outcomes.noteEndToEnd(transaction.id, send.begun.step.endToEnd);
    return pay(context, claimed, send.begun.paying);
  }
  const found = storedLookUp(transaction) ?? (await findPayee(context, send));
  const mayPay = found !== null && (await isWithinLimits(context, send, found.payeeClass));
  if (!mayPay) return resolveUnstarted(context, transaction, null);
  return makePayment(context, claimed, found);
}

/** @returns false when another process has moved the transaction. */
async function isWithinLimits(
  context: Context,
  send: Send,
  payeeClass: PayeeClass = 'person',
): Promise<boolean> {
  return !send.isJudged || judgePayee(context, send, payeeClass);
}

/** A resumed send keeps its end-to-end id and the stored owner. */
function storedLookUp({ endToEnd }: PixTransaction): FoundPayee | null {
  return endToEnd === null ? null : { endToEnd };
}

/**
 * Finds the payee: by the confirmed look-up while it is fresh, otherwise by a new one. The payer
 * has confirmed one owner of the key, so the payment fails if the key may have another one since.
 * @returns null when another process has moved the transaction.
 */
async function findPayee(context: Context, send: Send): Promise<LookUp | null> {
  return send.confirmed?.isFresh ? send.confirmed : lookUpAnew(context, send);
}

/** Returns and throws as `findPayee` does. */
async function lookUpAnew(context: Context, send: Send): Promise<LookUp | null> {
  const { confirmed } = send;
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
    return readLookUp(owner, order.payer.document);
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error;
    const isMissing = error.code === 'PIX_KEY_NOT_FOUND';
    const { userId, tookLookUp: isTaken = false } = send.transaction;
    if (isMissing) await countMissingKey(context, userId, { key: order.key, isTaken });
    return failLookUp(context, send, error);
  }
}

const unusableLookUp: Text = {
  en: 'This look-up cannot be used for this payment. Look the key up again.',
  pt: 'Esta consulta não vale para este pagamento. Consulte a chave Pix de novo.',
};
