import { randomUUIDv7 } from 'node:crypto';
import { offers } from '../config/config.ts';
import type { Context } from '../context/context.ts';
import type { RequestFacts, TokenOperation } from '../context/operation.ts';
import { centsFromNumber, formatReais, numberFromCents } from '../domain/money.ts';
import { maxReturnDays } from '../domain/pix.ts';
import { AppError, type Text } from '../errors.ts';
import type { VerifiedToken } from '../process/access-tokens.ts';
import type { ProviderSession, RefundOrder } from '../provider/provider.ts';
import { claimCheckedOrder } from './claim-checked-order.ts';
import { computeFingerprint, type RequestedClaim, type ReservedOrder } from './idempotency.ts';
import { makePayment, openSession, type ClaimedOrder } from './make-payment.ts';
import { completeOrderRefusal, orderHeaders } from './order-refusal.ts';
import type { PixTransaction } from '../ledger/pix-transaction-repository.ts';
import type { RefusedRequest } from './refuse-order.ts';
import { ruleRefusal, type OrderRefusal } from './rule-refusal.ts';
import { newReturnIdFor, returnRequestId } from '../ledger/return-ids.ts';
import {
  claimReturn,
  type ReservedReturn,
  type ReturnReservation,
} from '../ledger/return-reservation-repository.ts';
import { returnReply } from './transaction-reply.ts';
import { scheduleUnsentFailure } from './unstarted-order.ts';

/**
 * Returns a received Pix, whole or in part. A return takes the phases of a send (`send-pix.ts`)
 * without a look-up: its return id is stored with RESERVED, which also counts its amount towards
 * the payment, so that all returns together never exceed it.
 */
export const refundPix: TokenOperation<'refundPix'> = {
  access: 'token',
  checksSession: true,
  refusalHeaders: orderHeaders,
  completeRefusal: (context, call) => completeOrderRefusal(context, call, 'REFUND_OUT'),
  async run(context, { input, token, request }) {
    if (!offers(context.config, 'refund')) throw new AppError('NOT_AVAILABLE');
    const reply = { locale: request.locale, now: context.clock.now() };
    const { transactionId } = input.path;
    const idempotencyKey = input.headers['Idempotency-Key'];
    const { amount, reason } = input.body;
    const amountCents = centsFromNumber(amount) ?? 0;
    const key = { userId: token.userId, idempotencyKey };
    const order: ReturnReservation = {
      id: randomUUIDv7(),
      idempotencyKey,
      transactionId,
      amountCents,
      reason,
      fingerprint: computeFingerprint([transactionId.toLowerCase(), amountCents, reason]),
      returnId: newReturnIdFor(
        { ...key, transactionId },
        context.config.provider.ispb,
        context.clock.now(),
      ),
      claims: new Set(),
    };
    request.traceTransaction?.(order.id);
    const claim = await claimCheckedOrder(context, token, {
      ...claimOfReturn(context, token, order),
      options: request.callOptions,
    });
    if (claim.result === 'replay')
      return returnReply(claim.transaction, { ...reply, replayed: true });

    const { transaction, resumed, reserved, account } = claim;
    const session = await openSession(context, reserved.payer, transaction);
    const ordered: RefundOrder = {
      returnId: transaction.endToEnd ?? order.returnId,
      clientRequestId: returnRequestId(key),
      endToEnd: reserved.originalEndToEnd ?? '',
      amountCents,
      account,
    };
    const work: ClaimedReturn = { transaction, order: ordered, session, request };
    const made = await context.outcomes.track(transaction.id, () => executeReturn(context, work));
    return returnReply(made, { ...reply, replayed: resumed });
  },
};

/** The claim of the key of a return. */
function claimOfReturn(
  context: Context,
  token: VerifiedToken,
  order: ReturnReservation,
): RequestedClaim<ReservedOrder & ReservedReturn> {
  return {
    operation: 'REFUND_OUT',
    order,
    async reserve() {
      const reserved = await claimReturn(context, token, order);
      return reserved && { ...reserved, refusal: findRefusal(reserved) };
    },
    asRefused: (reserved) => asRefused(order, reserved),
  };
}

/** A return that is not made. If the user has no such payment, its id is not stored. */
function asRefused(order: ReturnReservation, { unreturnable }: ReservedReturn): RefusedRequest {
  const { id, idempotencyKey, fingerprint, amountCents, reason } = order;
  const request = { id, operation: 'REFUND_OUT', idempotencyKey, fingerprint } as const;
  if (unreturnable === 'not_found') return { ...request, amountCents: null };
  const of = { endToEnd: order.returnId, originalId: order.transactionId };
  return { ...request, ...of, amountCents, description: reason };
}

/** A return whose key this request has claimed. */
interface ClaimedReturn {
  readonly transaction: PixTransaction;
  readonly order: RefundOrder;
  readonly session: ProviderSession;
  readonly request: RequestFacts;
}

function executeReturn(
  context: Context,
  { transaction, order, session, request }: ClaimedReturn,
): Promise<PixTransaction> {
  const claimed: ClaimedOrder = {
    transaction,
    request,
    isPayeeKnown: true,
    send: (returnId, options) =>
      context.provider.refund({ session, order: { ...order, returnId }, ...options }),
    failStart({ step, error }) {
      scheduleUnsentFailure(context, transaction, step);
      throw error;
    },
  };
  return makePayment(context, claimed, { endToEnd: order.returnId });
}

const notReceived: Text = {
  en: 'Only a Pix that you received can be returned.',
  pt: 'Só um Pix recebido pode ser devolvido.',
};

const notCompleted: Text = {
  en: 'This Pix was not received yet.',
  pt: 'Este Pix ainda não foi recebido.',
};

const noEndToEnd: Text = {
  en: 'The bank has reported this Pix without its end-to-end id, which a return needs. It can be returned once the bank has reported the id.',
  pt: 'O banco informou este Pix sem o identificador (end-to-end), que a devolução exige. Ele pode ser devolvido depois que o banco informar o identificador.',
};

const tooLate: Text = {
  en: `A Pix can be returned within ${maxReturnDays} days after it was received.`,
  pt: `Um Pix pode ser devolvido em até ${maxReturnDays} dias após o recebimento.`,
};

/** @returns why a payment cannot be returned; null: it can. */
function findRefusal({ unreturnable, leftCents }: ReservedReturn): OrderRefusal | null {
  switch (unreturnable) {
    case null:
      return null;
    case 'not_found':
      return { error: new AppError('NOT_FOUND'), failureCode: null };
    case 'not_received':
      return ruleRefusal('NOT_RECEIVED', 'transactionId', notReceived);
    case 'too_late':
      return ruleRefusal('RETURN_TOO_LATE', 'transactionId', tooLate);
    case 'no_end_to_end':
      return ruleRefusal('NOT_IDENTIFIED', 'transactionId', noEndToEnd);
    case 'not_completed':
      return ruleRefusal('NOT_RECEIVED_YET', 'transactionId', notCompleted);
    case 'too_much':
      return ruleRefusal('RETURN_TOO_MUCH', 'amount', overLeft(leftCents ?? 0));
  }
}

function overLeft(leftCents: number): Text {
  const left = numberFromCents(Math.max(0, leftCents));
  return {
    en: `The amount exceeds what is left to return: ${formatReais(left, 'en-US')}.`,
    pt: `O valor excede o que resta a devolver: ${formatReais(left, 'pt-BR')}.`,
  };
}
