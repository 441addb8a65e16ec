/** What the report of a refund changes. The functions are pure. */
import {
  isReturnId,
  isSameId,
  isSameReturn,
  phasesOpenToSettlement,
  returnedNote,
  type RefundType,
} from '../domain/pix.ts';
import { findByEndToEnd, findCharge, findReturn } from './identity.ts';
import { endedBy, judgeEnd } from './judge-end.ts';
import type { Facts, FinalReport, Stored, Verdict } from './report.ts';
import { conflict, isFailure, unmatched, waitsBeside, waitsFor } from './verdicts.ts';

/**
 * A refund becomes a transaction of its own, of the user whose transaction it refunds: that one has
 * the end-to-end id of the report, and stays as it is. Where the report does not say which way the
 * money went, and both sides are users, both have the refund. A return that a user has made here is
 * a transaction already, which the report ends; only such a one can fail.
 */
export function judgeRefund(report: FinalReport, facts: Facts): readonly Verdict[] {
  const { direction, status } = report;
  const made = direction === 'in' ? null : findReturn(report, facts);
  if (status === 'FAILED') {
    return [made ? judgeReturn(report, facts, made) : { kind: 'ignored', reason: 'not_refunded' }];
  }
  const sent = direction === 'out' ? null : findByEndToEnd(report, facts, 'SEND');
  // Where both are stored, lists show the charge only. Their refunds count together.
  const received =
    findByEndToEnd(report, facts, 'CHARGE') ??
    findByEndToEnd(report, facts, 'RECEIVED') ??
    findPaidOnce(report, facts);
  const verdicts = [
    ...(sent ? judgeRefundOfSend(report, sent) : []),
    ...(made ? [judgeReturn(report, facts, made)] : []),
    ...(received && !made && direction !== 'in' ? [judgeRefunded(report, received)] : []),
  ];
  return verdicts.length > 0 ? verdicts : [unmatched];
}

/**
 * The charge that a refund names without its payment, by the txid alone. A charge that never
 * expires may have many payments, and one whose payment is not known yet waits for it.
 */
function findPaidOnce(report: FinalReport, { stored }: Facts): Stored | null {
  const { endToEnd, txid } = report.ids;
  const charge = endToEnd === null && txid !== null ? findCharge(report, stored) : null;
  const isKnown = charge?.status !== 'COMPLETED' || charge.endToEnd !== null;
  return charge && !charge.isStatic && isKnown ? charge : null;
}

/**
 * The end of a return of this service, if the report has its amount, and names no other return and
 * no other payment than the return gives back. Its own id may stand in both places. By its request
 * id alone a return is never failed.
 */
function judgeReturn(report: FinalReport, { stored }: Facts, made: Stored): Verdict {
  const { returnId, endToEnd } = report.ids;
  const isOwn = (id: string | null): boolean =>
    isSameId(id, made.endToEnd) || isSameReturn(id, made.endToEnd);
  const isNamed = isOwn(returnId);
  const isOfOther =
    endToEnd !== null &&
    !isOwn(endToEnd) &&
    made.originalId !== null &&
    !stored.some((one) => one.id === made.originalId && one.endToEnd === endToEnd);
  if (isOfOther || (!isNamed && isReturnId(returnId))) return conflict(made, 'ids_disagree');
  if (report.amountCents !== made.amountCents) return conflict(made, 'amount_mismatch');
  const verdict = judgeEnd(report, made);
  return !isNamed && isFailure(report, verdict) ? waitsBeside(conflict(made, 'weak_id')) : verdict;
}

/** Money that comes back was paid: it completes a send that is open. */
function judgeRefundOfSend(report: FinalReport, send: Stored): readonly Verdict[] {
  const refunded = judgeRefunded(report, send);
  const mayBePaid = phasesOpenToSettlement.some((phase) => phase === send.phase);
  if (send.status !== 'PROCESSING' || refunded.kind === 'conflict' || !mayBePaid) {
    return [refunded];
  }
  const move = {
    from: phasesOpenToSettlement,
    to: 'SETTLED',
    status: 'COMPLETED',
    outcome: 'accepted',
    timeline: [endedBy(report.source, returnedNote)],
  } as const;
  const completed = { ...send, status: 'COMPLETED' } as const;
  return [{ kind: 'move', transaction: send, move }, judgeRefunded(report, completed)];
}

function judgeRefunded({ ids, amountCents, bookedAt }: FinalReport, payment: Stored): Verdict {
  const cents = amountCents ?? 0;
  if (cents > (payment.amountCents ?? 0)) return conflict(payment, 'refunds_exceed_amount');
  // The payment may have been made: the refund waits for its correction.
  if (payment.status === 'FAILED') {
    return waitsBeside(conflict(payment, 'contradicts_final_status'));
  }
  if (payment.status === 'PROCESSING') return waitsFor(payment, 'not_completed_yet');
  const operation: RefundType = payment.type === 'SEND' ? 'REFUND_IN' : 'REFUND_OUT';
  const { returnId, endToEnd, providerTxid } = ids;
  return {
    kind: 'refund',
    transaction: payment,
    refund: {
      originalId: payment.id,
      endToEnd: endToEnd ?? payment.endToEnd ?? '',
      operation,
      amountCents: cents,
      returnId: returnId ?? '',
      providerTxid,
      at: bookedAt,
    },
  };
}
