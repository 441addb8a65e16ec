/** The one table by which the bank's word ends an order or a charge. It is pure. */
import {
  failedAfterRepeat,
  foundAfterLossNote,
  isBeforePaying,
  isOrder,
  isSameReturn,
  isSameId,
  phasesBeforePaying,
  phasesOpenToFailure,
  phasesOpenToSettlement,
  type Source,
} from '../domain/pix.ts';
import { namesPayee } from './identity.ts';
import type { Move, TimelineEntry } from './move-repository.ts';
import type { Correction, FinalReport, MoveVerdict, Stored, Verdict } from './report.ts';
import { conflict, waitsFor } from './verdicts.ts';

/**
 * Judges the end of a transaction that a report names without a contradiction. The first rule that
 * fits holds.
 */
export function judgeEnd(report: FinalReport, named: Stored): Verdict {
  const { status } = report;
  const hasFailed = status === 'FAILED';
  const correction = judgeCorrection(report, named);
  if (correction) return correction;
  if (named.status === status) return { kind: 'already', transaction: named };
  if (report.isContradicted) return conflict(named, 'contradicted_in_event');
  if (named.status !== 'PROCESSING') return conflict(named, 'contradicts_final_status');
  if (isOrder(named.type) && isBeforePaying(named.phase)) {
    // Only its row and the provider know a return id: the commit of PAYING was lost.
    const isLost = named.type === 'REFUND_OUT' && !hasFailed;
    return isLost ? endLost(report, named) : waitsFor(named, 'not_paying_yet');
  }
  // Another attempt may be sent.
  if (isOrder(named.type) && hasFailed && named.phase === 'PAYING')
    return waitsFor(named, 'still_paying');
  // It may be the failure of one attempt only, while another one was executed.
  if (hasFailed && named.hasOpenAttempt) return conflict(named, failedAfterRepeat);
  return end(report, named);
}

/**
 * A FAILED transaction that was paid. A wrong COMPLETED cannot be taken back, so it needs more than
 * what ends an open one: for a send the same end-to-end id and amount, for a return the same return
 * id and amount, for a charge its txid, the same amount and a payee that the report identifies.
 */
function judgeCorrection(report: FinalReport, named: Stored): Correction | null {
  const { status, amountCents, ids } = report;
  if (status !== 'COMPLETED' || named.status !== 'FAILED') return null;
  if (amountCents !== named.amountCents || !isProved(report, named)) return null;
  const endToEnd = named.type === 'REFUND_OUT' ? null : ids.endToEnd;
  return { kind: 'correct', transaction: named, endToEnd, providerTxid: ids.providerTxid };
}

function isProved(report: FinalReport, { type, endToEnd }: Stored): boolean {
  const { ids } = report;
  if (type === 'REFUND_OUT') return isSameReturn(ids.returnId, endToEnd);
  return type === 'CHARGE'
    ? ids.txid !== null && namesPayee(report)
    : isSameId(ids.endToEnd, endToEnd);
}

function endLost(report: FinalReport, named: Stored): MoveVerdict {
  const { move } = end(report, named);
  const paying = { phase: 'PAYING', note: foundAfterLossNote } as const;
  const timeline = [paying, ...move.timeline];
  const lost = { ...move, from: phasesBeforePaying, timeline };
  return { kind: 'move', transaction: named, move: lost };
}

function end(report: FinalReport, named: Stored): MoveVerdict {
  const { status, ids, failureCode, source } = report;
  const isCharge = named.type === 'CHARGE';
  const isUnsure = named.outcome === null || named.outcome === 'unknown';
  const ofOrder = status === 'FAILED' ? phasesOpenToFailure : phasesOpenToSettlement;
  const move: Move = {
    // A charge can be paid as soon as the provider has created it, even if its response was lost.
    from: isCharge ? phasesOpenOfCharge : ofOrder,
    to: 'SETTLED',
    status,
    // Also for an accepted send: since it was read, a failover may have lost the acceptance.
    ...(status === 'COMPLETED' && { outcome: 'accepted' }),
    ...(status === 'FAILED' && {
      failureCode: failureCode ?? 'PROVIDER_REJECTED',
      ...(isUnsure && { outcome: 'rejected' }),
    }),
    endToEnd: isCharge ? ids.endToEnd : null,
    providerTxid: ids.providerTxid,
    timeline: [endedBy(source, status)],
  };
  return { kind: 'move', transaction: named, move };
}

/** The phases of a charge that the bank's word may end. */
export const phasesOpenOfCharge = ['RESERVED', ...phasesOpenToSettlement] as const;

/**
 * The row of a timeline for the end of a transaction.
 * @param word what an event says; another source is named by its own note.
 */
export function endedBy({ eventId, note }: Source, word: string): TimelineEntry {
  return { phase: 'SETTLED', ...(eventId === null ? { note } : { eventId, note: word }) };
}
