/** The decision to end a transaction that an item is about. It is pure. */
import {
  foundAfterLossNote,
  isBeforePaying,
  phasesBeforePaying,
  phasesOpenToFailure,
  phasesOpenToSettlement,
} from '../../../../../src/domain/pix.ts';
import type { Move } from '../../../../../src/ledger/move-repository.ts';
import type { WebhookItem } from '../../../../../src/provider/webhook-events.ts';
import { contradictedInEvent, endedBy, type Decision, type FinalItem } from './decision.ts';
import type { CandidateRow } from '../../../../../src/ledger/transaction-repository.ts';

/** Ends the transaction that an item is about, if it is in a phase that the item fits. */
export function decideEnd(final: FinalItem, transaction: CandidateRow): Decision {
  if (transaction.status === final.status) return { kind: 'skip', result: 'already', transaction };
  if (final.isContradicted === true) {
    return { kind: 'flag', transaction, reason: contradictedInEvent };
  }
  if (transaction.status !== 'PROCESSING') {
    return { kind: 'flag', transaction, reason: 'contradicts_final_status' };
  }
  const move = buildSettlement(final, transaction);
  // It may be the failure of one attempt only, while another one was executed.
  const isDoubtful = final.status === 'FAILED' && transaction.repeated;
  if (isDoubtful && move.from.includes(transaction.phase)) {
    return { kind: 'flag', transaction, reason: 'failed_after_repeat' };
  }
  if (move.from.includes(transaction.phase)) return { kind: 'move', transaction, move };
  const lost = buildLostReturn(final, transaction);
  if (lost) return { kind: 'move', transaction, move: lost };
  // Before PAYING no payment can have been sent, and during PAYING another attempt may be sent:
  // the transaction may still reach the phase that this item fits.
  const reason = transaction.phase === 'PAYING' ? 'still_paying' : 'not_paying_yet';
  return { kind: 'skip', result: 'parked', reason, transaction };
}

/**
 * The return id of a return is known to its row and to the provider alone: if it was made although
 * the row is before PAYING, the commit of that step was lost.
 */
function buildLostReturn(final: FinalItem, transaction: CandidateRow): Move | null {
  const { operation, phase } = transaction;
  const isLost =
    operation === 'REFUND_OUT' && isBeforePaying(phase) && final.status === 'COMPLETED';
  if (!isLost) return null;
  const move = buildSettlement(final, transaction);
  const paying = { phase: 'PAYING', note: foundAfterLossNote } as const;
  return { ...move, from: phasesBeforePaying, timeline: [paying, ...move.timeline] };
}

const rejected = { outcome: 'rejected' } as const;

function buildSettlement({ status, item, eventId }: FinalItem, transaction: CandidateRow): Move {
  const charge = transaction.operation === 'CHARGE';
  const unsure = transaction.outcome === null || transaction.outcome === 'unknown';
  const ofSend = status === 'FAILED' ? phasesOpenToFailure : phasesOpenToSettlement;
  return {
    // A charge can be paid as soon as the provider has created it, even if its response was lost.
    from: charge ? ['RESERVED', ...phasesOpenToSettlement] : ofSend,
    to: 'SETTLED',
    status,
    // Also for an accepted send: since it was read, a failover may have lost the acceptance.
    ...(status === 'COMPLETED' && { outcome: 'accepted' }),
    ...(status === 'FAILED' && { failureCode: failureCode(item), ...(unsure && rejected) }),
    endToEnd: charge ? item.ids.endToEnd : null,
    providerTxid: item.ids.providerTxid,
    timeline: [endedBy(eventId, status)],
  };
}

/** @returns the failure code of a transaction: the provider's reason, if it reports one. */
function failureCode({ reason }: WebhookItem): string {
  return reason ?? 'PROVIDER_REJECTED';
}
