/** The decision about a refund. It is pure. */
import { centsFromDecimal } from '../../../../../src/domain/money.ts';
import {
  isSameId,
  isSameReturn,
  phasesOpenToSettlement,
  returnedNote,
  type RefundType,
} from '../../../../../src/domain/pix.ts';
import type { Move } from '../../../../../src/ledger/move-repository.ts';
import { returnRequestId } from '../../../../../src/ledger/return-ids.ts';
import type { WebhookItem } from '../../../../../src/provider/webhook-events.ts';
import { decideCorrection } from './decide-correction.ts';
import { decideEnd } from './decide-end.ts';
import { endedBy, type Decision, type FinalItem } from './decision.ts';
import type { CandidateRow } from '../../../../../src/ledger/transaction-repository.ts';

/**
 * A refund becomes a transaction of its own, of the user whose transaction it refunds: that one has
 * the end-to-end id of the item, and stays as it is. Money that comes back was paid: it completes a
 * send that is open. Any other refund that comes before its transaction is COMPLETED waits for it.
 * Where the item does not say which way the money went, and both sides are users, both have the
 * refund. A return that the user has made here is a transaction already, which the item ends. Only
 * such a one can fail.
 */
export function decideRefund(
  final: FinalItem,
  candidates: readonly CandidateRow[],
): readonly Decision[] {
  const unmatched = { kind: 'skip', result: 'parked', reason: 'no_match' } as const;
  const { eventId, item, status } = final;
  const { refund, ids } = item;
  if (!refund) return [unmatched];
  const made = refund.direction === 'in' ? undefined : findReturn(item, candidates);
  if (status === 'FAILED') {
    const ignored = { kind: 'skip', result: 'ignored', reason: 'not_refunded' } as const;
    return [made ? decideReturn(final, made) : ignored];
  }
  const ofPayment = candidates.filter((one) => isSameId(one.endToEnd, ids.endToEnd));
  const sent = ofPayment.find(({ operation }) => operation === 'SEND');
  // Where both are stored, lists show the charge only. Their refunds count together.
  const received =
    ofPayment.find(({ operation }) => operation === 'CHARGE') ??
    ofPayment.find(({ operation }) => operation === 'RECEIVED');
  const decisions = [
    ...(sent && refund.direction !== 'out' ? refundOfSend(eventId, item, sent) : []),
    ...(made ? [decideReturn(final, made)] : []),
    ...(!made && received && refund.direction !== 'in'
      ? [decideRefundAmount(item, received, 'REFUND_OUT')]
      : []),
  ];
  return decisions.length > 0 ? decisions : [unmatched];
}

/**
 * Finds the return of this service that an item is about: by its return id, whose minute differs
 * where the row of the return was lost and it was requested again, or by its client request id.
 * The amount decides nothing here: `decideReturn` compares it.
 */
function findReturn(
  { ids, refund, amountCents }: WebhookItem,
  candidates: readonly CandidateRow[],
): CandidateRow | undefined {
  const returns = candidates.filter(
    (one) => one.operation === 'REFUND_OUT' && one.idempotencyKey !== null,
  );
  const returnId = refund?.returnId ?? null;
  return (
    returns.find((one) => isSameId(one.endToEnd, returnId)) ??
    returns.find((one) => isSameReturn(one.endToEnd, returnId)) ??
    returns.find(
      (one) =>
        isSameId(findRequestId(one), ids.clientRequestId) &&
        centsFromDecimal(one.amount) === amountCents,
    )
  );
}

function findRequestId({ userId, idempotencyKey: key }: CandidateRow): string {
  return returnRequestId({ userId, idempotencyKey: key ?? '' });
}

/** The end of a return of this service, if the item has its amount. */
function decideReturn(final: FinalItem, made: CandidateRow): Decision {
  if (final.item.amountCents !== centsFromDecimal(made.amount)) {
    return { kind: 'flag', transaction: made, reason: 'amount_mismatch' };
  }
  return decideCorrection(final, made) ?? decideEnd(final, made);
}

function refundOfSend(eventId: string | null, item: WebhookItem, send: CandidateRow): Decision[] {
  const refund = decideRefundAmount(item, send, 'REFUND_IN');
  const mayBePaid = phasesOpenToSettlement.some((phase) => phase === send.phase);
  if (send.status !== 'PROCESSING' || refund.kind === 'flag' || !mayBePaid) return [refund];
  const move: Move = {
    from: phasesOpenToSettlement,
    to: 'SETTLED',
    status: 'COMPLETED',
    outcome: 'accepted',
    timeline: [endedBy(eventId, returnedNote)],
  };
  const completed = { ...send, status: 'COMPLETED' } as const;
  return [
    { kind: 'move', transaction: send, move },
    decideRefundAmount(item, completed, 'REFUND_IN'),
  ];
}

function decideRefundAmount(
  { ids, refund, amountCents, at }: WebhookItem,
  transaction: CandidateRow,
  operation: RefundType,
): Decision {
  const cents = amountCents ?? 0;
  if (cents > (centsFromDecimal(transaction.amount) ?? 0)) {
    return { kind: 'flag', transaction, reason: 'refunds_exceed_amount' };
  }
  if (transaction.status === 'FAILED') {
    // The payment may have been made: the refund waits for its correction.
    const reason = 'contradicts_final_status';
    const reportNow = { kind: 'flag', transaction, reason } as const;
    return { kind: 'skip', result: 'parked', reason, transaction, reportNow };
  }
  if (transaction.status === 'PROCESSING') {
    return { kind: 'skip', result: 'parked', reason: 'not_completed_yet', transaction };
  }
  return {
    kind: 'refund',
    transaction,
    refund: {
      originalId: transaction.id,
      endToEnd: ids.endToEnd ?? '',
      operation,
      amountCents: cents,
      returnId: refund?.returnId ?? '',
      providerTxid: ids.providerTxid,
      at: at ?? null,
    },
  };
}
