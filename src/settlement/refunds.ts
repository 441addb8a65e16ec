/** The decision about a refund. It is pure. */
import { centsFromDecimal } from '../domain/money.ts';
import type { RefundType } from '../domain/pix.ts';
import type { WebhookItem } from '../provider/webhook-events.ts';
import type { Decision } from './decision.ts';
import type { CandidateRow } from './transaction-repository.ts';

/**
 * A refund becomes a transaction of its own, of the user whose transaction it refunds: that one has
 * the end-to-end id of the item, and stays as it is. A refund that comes before the end of its
 * transaction waits for it. Where the item does not say which way the money went, and both sides
 * are users, both have the refund.
 */
export function decideRefund(
  item: WebhookItem,
  candidates: readonly CandidateRow[],
): readonly Decision[] {
  const unmatched = { kind: 'skip', result: 'parked', reason: 'no_match' } as const;
  const { refund, ids } = item;
  if (!refund) return [unmatched];
  const ofPayment = candidates.filter((one) => one.end_to_end === ids.endToEnd);
  const sent = ofPayment.find(({ operation }) => operation === 'SEND');
  // Where both are stored, lists show the charge only. Their refunds count together.
  const received =
    ofPayment.find(({ operation }) => operation === 'CHARGE') ??
    ofPayment.find(({ operation }) => operation === 'RECEIVED');
  const decisions = [
    ...(sent && refund.direction !== 'out' ? [refundOf(item, sent, 'REFUND_IN')] : []),
    ...(received && refund.direction !== 'in' ? [refundOf(item, received, 'REFUND_OUT')] : []),
  ];
  return decisions.length > 0 ? decisions : [unmatched];
}

function refundOf(
  { ids, refund, amountCents, at }: WebhookItem,
  transaction: CandidateRow,
  operation: RefundType,
): Decision {
  if (transaction.status === 'PROCESSING') {
    return { kind: 'skip', result: 'parked', reason: 'not_completed_yet', transaction };
  }
  if (transaction.status === 'FAILED') {
    return { kind: 'flag', transaction, reason: 'contradicts_final_status' };
  }
  const cents = amountCents ?? 0;
  if (cents > (centsFromDecimal(transaction.amount) ?? 0)) {
    return { kind: 'flag', transaction, reason: 'refunds_exceed_amount' };
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
