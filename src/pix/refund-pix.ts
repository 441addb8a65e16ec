import { randomUUIDv7 } from 'node:crypto';
import { offers } from '../config/config.ts';
import type { Context } from '../context/context.ts';
import type { RequestFacts, TokenOperation } from '../context/operation.ts';
import { centsFromNumber, formatReais, numberFromCents } from '../domain/money.ts';
import { maxReturnDays } from '../domain/pix.ts';
import { AppError, invalidField, type Text } from '../errors.ts';
import type { VerifiedToken } from '../process/access-tokens.ts';
import type { ProviderSession, RefundOrder } from '../provider/provider.ts';
import { claimCheckedOrder } from './claim-checked-order.ts';
import { computeFingerprint, type RequestedClaim, type ReservedOrder } from './idempotency.ts';
import { makePayment, openSession, type AcquiredOrder } from './make-payment.ts';
import { completeOrderRefusal, unknownOutcome } from './order-refusal.ts';
import type { PixTransaction } from './pix-transaction-repository.ts';
import { newReturnIdFor, returnRequestId } from './return-ids.ts';
import {
  claimReturn,
  type ReservedReturn,
  type ReturnReservation,
} from './return-reservation-repository.ts';
import { returnReply } from './transaction-reply.ts';
import { scheduleUnsentFailure } from './unstarted-order.ts';

/**
 * Returns a received PIX, whole or in part. A return takes the phases of a send (`send-pix.ts`)
 * without a look-up: its return id is stored with RESERVED, which also counts its amount towards
 * the payment, so that all returns together never exceed it.
 */
export const refundPix: TokenOperation<'refundPix'> = {
  access: 'token',
  checksSession: true,
  refusalHeaders: () => unknownOutcome,
  completeRefusal: (context, call) => completeOrderRefusal(context, call, 'REFUND_OUT'),
  async run(context, { input, token, request }) {
    if (!offers(context.config, 'refund')) throw new AppError('NOT_AVAILABLE');
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
    };
    request.traceTransaction?.(order.id);
    const claim = await claimCheckedOrder(context, token, {
      ...claimOfReturn(context, token, order),
      options: request.callOptions,
    });
    if (claim.result === 'replay') return returnReply(claim.transaction, { replayed: true });

    const { transaction, resumed, reserved, account } = claim;
    const session = await openSession(context, reserved.payer, transaction);
    const ordered: RefundOrder = {
      returnId: transaction.endToEnd ?? order.returnId,
      clientRequestId: returnRequestId(key),
      endToEnd: reserved.originalEndToEnd ?? '',
      amountCents,
      account,
    };
    const work: AcquiredReturn = { transaction, order: ordered, session, request };
    const made = await context.outcomes.track(transaction.id, () => executeReturn(context, work));
    return returnReply(made, { replayed: resumed });
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
      return reserved && { ...reserved, refuse: () => refuse(reserved) };
    },
  };
}

/** A return whose key this request has acquired. */
interface AcquiredReturn {
  readonly transaction: PixTransaction;
  readonly order: RefundOrder;
  readonly session: ProviderSession;
  readonly request: RequestFacts;
}

function executeReturn(
  context: Context,
  { transaction, order, session, request }: AcquiredReturn,
): Promise<PixTransaction> {
  const acquired: AcquiredOrder = {
    transaction,
    request,
    send: (returnId, options) =>
      context.provider.refund({ session, order: { ...order, returnId }, ...options }),
    failStart({ step, error }) {
      scheduleUnsentFailure(context, transaction, step);
      throw error;
    },
  };
  return makePayment(context, acquired, { endToEnd: order.returnId });
}

const notReceived: Text = {
  en: 'Only a Pix that you received can be returned.',
  pt: 'Só um Pix recebido pode ser devolvido.',
};

const notCompleted: Text = {
  en: 'This Pix was not received yet.',
  pt: 'Este Pix ainda não foi recebido.',
};

const tooLate: Text = {
  en: `A Pix can be returned within ${maxReturnDays} days after it was received.`,
  pt: `Um Pix pode ser devolvido em até ${maxReturnDays} dias após o recebimento.`,
};

/**
 * Refuses what cannot be returned. The outcome is unknown where the same request may pass later.
 * @throws AppError NOT_FOUND, or VALIDATION_FAILED for `transactionId` or `amount`.
 */
function refuse({ refusal, leftCents }: ReservedReturn): void {
  switch (refusal) {
    case null:
      return;
    case 'not_found':
      throw new AppError('NOT_FOUND');
    case 'not_received':
      throw invalidField('transactionId', notReceived);
    case 'too_late':
      throw invalidField('transactionId', tooLate);
    case 'not_completed':
      throw passesLater('transactionId', notCompleted);
    case 'too_much':
      throw passesLater('amount', overLeft(leftCents ?? 0));
  }
}

function passesLater(field: string, text: Text): AppError {
  return new AppError('VALIDATION_FAILED', {
    fields: { [field]: [text] },
    headers: unknownOutcome,
  });
}

function overLeft(leftCents: number): Text {
  const left = numberFromCents(Math.max(0, leftCents));
  return {
    en: `The amount exceeds what is left to return: ${formatReais(left, 'en-US')}.`,
    pt: `O valor excede o que resta a devolver: ${formatReais(left, 'pt-BR')}.`,
  };
}
