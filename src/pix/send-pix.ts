import { randomUUIDv7 } from 'node:crypto';
import type { SendPixRequest } from '../../contract/types.ts';
import type { Context } from '../context.ts';
import { centsFromNumber } from '../domain/money.ts';
import { normalisePixKey } from '../domain/pix-key.ts';
import { isBeforePaying, phasesBeforePaying, type PixOutcome } from '../domain/pix.ts';
import { isConstraintViolation } from '../db/unavailable.ts';
import type { AppError } from '../errors.ts';
import { notUnderstood, ProviderError } from '../provider/errors.ts';
import type { PaymentOrder, ProviderSession } from '../provider/provider.ts';
import { callerSession } from '../auth/banking-sessions.ts';
import { outcomeOfFailure, outcomeOfReceipt } from './payment-answer.ts';
import { failUnsentLater, recordOutcome } from './payment-outcome.ts';
import { PaymentAttempts } from './payment-attempts.ts';
import { pixReply } from './transaction-reply.ts';
import { inactiveAccount } from '../accounts/payer-account.ts';
import { claimSend, fingerprintOf, giveUp } from './idempotency.ts';
import {
  beginPaying,
  type BeginningPayment,
  moveTransaction,
  rereadTransaction,
  type Move,
  type PayingRow,
  type PixTransactionRow,
} from './transactions.ts';
import type { Payer } from '../auth/principal.ts';
import { toAppError } from '../auth/provider-failure.ts';
import type { RequestFacts, TokenOperation } from '../http/operation.ts';

/**
 * Sends a PIX. Each step is written down before the next one is taken (the phases are explained in
 * `domain/pix.ts`), so that a death at any point leaves a state that tells what may have happened:
 *
 * 1. the idempotency key is claimed: RESERVED;
 * 2. the directory is asked whose key it is, and gives the end-to-end id;
 * 3. that id and the attempt are stored: RESOLVED, PAYING;
 * 4. the payment is sent, with the same ids however often the provider layer tries; each further
 *    attempt is stored too, and leaves only while the transaction stands in PAYING under our claim;
 * 5. what became of it is stored: ACCEPTED, REJECTED, UNKNOWN, or failed because nothing was sent.
 *
 * An unknown outcome answers 200 PROCESSING: a 502 would invite a new key and a second payment.
 */
export const sendPix: TokenOperation<'sendPix'> = {
  access: 'token',
  checksSession: true,
  refusalHeaders: (error) => ({ 'Pix-Outcome': outcomeOfRefusal(error) }),
  async run(context, { input, token, request }) {
    const asked = readBody(input.body);
    const clientRequestId = input.headers['Idempotency-Key'];
    const claim = await claimSend(context, token, {
      ...asked,
      id: randomUUIDv7(),
      idempotencyKey: clientRequestId,
      fingerprint: fingerprintOf([asked.pixKey, asked.amountCents, asked.description]),
    });
    if (claim.work === 'theirs') return pixReply(claim.transaction, { replayed: true });

    const { pixKey: key, ...terms } = asked;
    const order = { ...terms, key, clientRequestId, payer: claim.account };
    const session = await sessionOf(context, claim.payer, claim.transaction);
    const work: Send = { transaction: claim.transaction, order, session, request };
    const ended = await context.outcomes.follow(claim.transaction.id, () =>
      carryOut(context, work),
    );
    return pixReply(ended, { replayed: claim.resumed });
  },
};

/**
 * What a refusal says of the payment that has the key, where nobody has looked for it. A request
 * whose own fields are faulty can be no repeat of one that was sent. Any other one can, also one
 * that was cut on its way: it must not read as leave to take a new key.
 */
function outcomeOfRefusal({ code, fields = {} }: AppError): PixOutcome {
  const isFaulty = code === 'VALIDATION_FAILED' && !Object.hasOwn(fields, 'account');
  return isFaulty ? 'not_sent' : 'unknown';
}

/** A send that is ours to carry out. */
interface Send {
  readonly transaction: PixTransactionRow;
  readonly order: Omit<PaymentOrder, 'endToEnd'>;
  readonly session: ProviderSession;
  readonly request: RequestFacts;
}

function readBody(body: SendPixRequest) {
  return {
    pixKey: normalisePixKey(body.pix_key).key,
    // The contract has checked the range and the decimals.
    amountCents: centsFromNumber(body.amount) ?? 0,
    description: body.description ?? null,
  };
}

/**
 * Opens the payer's session at the provider. Where that fails the claim is let go: the same request
 * goes on with it after a new login. The outcome is not known then, because somebody else may have
 * gone on by now.
 */
async function sessionOf(
  context: Context,
  payer: Payer,
  transaction: PixTransactionRow,
): Promise<ProviderSession> {
  try {
    return callerSession(context, payer);
  } catch (error) {
    await moveTransaction(context, transaction.id, letGo);
    throw error;
  }
}

const letGo: Move = { from: ['RESERVED'], to: 'RESERVED', status: 'PROCESSING', timeline: [] };

/** @returns the transaction as it stands after the payment, or as another process has left it. */
async function carryOut(context: Context, send: Send): Promise<PixTransactionRow> {
  const endToEnd = send.transaction.end_to_end ?? (await lookUp(context, send));
  const begins = endToEnd === null ? null : { endToEnd, at: context.clock.now() };
  const paying = begins && (await beginToPay(context, send, begins));
  if (!paying) return standing(context, send, begins);
  return pay(context, { ...send, transaction: paying }, paying);
}

/**
 * A send that could not be taken to PAYING: another process has moved it, or it stands where it
 * stood because its account was blocked meanwhile. One with the end-to-end id of our own look-up
 * was taken to PAYING after all, by a statement that we had given up, and others have called it
 * unknown since: nothing has left.
 */
async function standing(
  context: Context,
  send: Send,
  begun: Required<BeginningPayment> | null,
): Promise<PixTransactionRow> {
  const stored = await rereadTransaction(context, send.transaction).catch((error: unknown) => {
    if (begun) failUnsentLater(context, send.transaction, begun);
    throw error;
  });
  const isOurs = begun !== null && stored.end_to_end === begun.endToEnd;
  if (isOurs && stored.phase === 'UNKNOWN') failUnsentLater(context, send.transaction, begun);
  if (!isBeforePaying(stored.phase)) return stored;
  return (await giveUp(context, stored, inactiveAccount('BLOCKED'))).transaction;
}

/**
 * Asks the directory. No money has moved when this fails, so the transaction fails with it.
 * @returns the end-to-end id, or null when another process has taken the transaction further.
 */
async function lookUp(context: Context, send: Send): Promise<string | null> {
  const { order, session, request } = send;
  try {
    const owner = await context.provider.lookUpKey({
      session,
      payerId: order.payer.document,
      key: order.key,
      ...request.callOptions,
    });
    return owner.endToEnd;
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error;
    const failed = await moveTransaction(context, send.transaction.id, lookUpFailed(error));
    if (!failed) return null;
    throw toAppError(error, { 'Pix-Outcome': 'not_sent' });
  }
}

function lookUpFailed(error: ProviderError): Move {
  return {
    from: phasesBeforePaying,
    to: 'SETTLED',
    status: 'FAILED',
    outcome: 'not_sent',
    failureCode: error.code,
    timeline: [{ phase: 'SETTLED', ...answerOf(error), note: 'look_up_failed' }],
  };
}

/** Of two processes that get here with one transaction, the database lets one go on. */
async function beginToPay(
  context: Context,
  send: Send,
  begins: Required<BeginningPayment>,
): Promise<PayingRow | null> {
  try {
    return await beginPaying(context, send.transaction, begins);
  } catch (error) {
    if (isConstraintViolation(error)) return refuseUsedEndToEnd(context, send, error);
    failUnsentLater(context, send.transaction, begins);
    throw error;
  }
}

/** One end-to-end id is one transfer (BCB, Manual de Padrões do Pix): a second use is none. */
async function refuseUsedEndToEnd(context: Context, send: Send, cause: unknown): Promise<null> {
  const failure = new ProviderError({
    outcome: 'rejected',
    code: 'PROVIDER_INVALID_RESPONSE',
    statusClass: 'invalid',
    cause,
  });
  const failed = await moveTransaction(context, send.transaction.id, lookUpFailed(failure));
  if (!failed) return null;
  throw toAppError(failure, { 'Pix-Outcome': 'not_sent' });
}

async function pay(context: Context, send: Send, paying: PayingRow): Promise<PixTransactionRow> {
  const order: PaymentOrder = { ...send.order, endToEnd: paying.end_to_end ?? '' };
  const attempts = new PaymentAttempts(context, paying);
  const options = attempts.optionsOf(send.request.callOptions);
  const { log } = send.request;
  try {
    const receipt = await context.provider.pay({ session: send.session, order, ...options });
    const outcome = outcomeOfReceipt(context, paying, { receipt, attempt: attempts.made });
    return await recordOutcome(context, paying, { ...outcome, log });
  } catch (error) {
    // A fault of our own after the payment may have left proves nothing about it.
    const failure = error instanceof ProviderError ? error : notUnderstood(error);
    if (failure.outcome === 'unknown') context.metrics.unknownOutcomes.inc();
    const outcome = outcomeOfFailure(context, paying, { failure, attempt: attempts.made });
    const stored = await recordOutcome(context, paying, { ...outcome, log });
    const isUnknown = failure.outcome === 'unknown';
    // The answer is the stored state where that says more, or where a repeat would be told it: the
    // payment may have been settled meanwhile, or the refusal could not be stored.
    if (isUnknown ? stored.phase !== 'REJECTED' : stored.status !== 'FAILED') return stored;
    throw toAppError(failure, { 'Pix-Outcome': isUnknown ? 'rejected' : failure.outcome });
  }
}

/** What the timeline tells of a call that failed. */
function answerOf({ statusClass: providerStatus, attempts: attempt }: ProviderError) {
  return { providerStatus, attempt };
}
