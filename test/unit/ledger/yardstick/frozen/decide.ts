/**
 * The decision about an item of an event. It depends only on the item and on the stored rows, so
 * that the same decision can be applied or only be shown.
 */
import { centsFromDecimal } from '../../../../../src/domain/money.ts';
import { isSameId } from '../../../../../src/domain/pix.ts';
import { decideCorrection } from './decide-correction.ts';
import type { Decision, EventItem, FinalItem } from './decision.ts';
import { decideEnd } from './decide-end.ts';
import { decideExpired } from './expired-charge.ts';
import { decideHeld } from './held-payment.ts';
import { withoutForeignPayee } from './foreign-payee.ts';
import { decideIgnored } from './ignored-item.ts';
import { matchItem, mayBeOfOtherSend } from './match.ts';
import {
  checkPayee,
  decideConflicting,
  decideDuplicate,
  decidePaidAgain,
  decideUnmatched,
  isOtherPayment,
} from './received-pix.ts';
import { decideRefund } from './refunds.ts';
import { findSides, type TwoSides } from './sides.ts';
import type { CandidateRow, Candidates } from '../../../../../src/ledger/transaction-repository.ts';

/**
 * Decides how an item changes the stored transactions. The function is pure.
 * @param facts the stored rows that the item may concern; empty for an item that needs none.
 * @returns one decision, or two for an item that reports the end of a send and the payment of a
 *   charge, or a refund between two users: apply both.
 */
export function decide(reported: EventItem, stored: Candidates): readonly Decision[] {
  const candidates = withoutSharedIds(reported, stored.candidates);
  const item = withoutForeignPayee(reported.item, candidates);
  const { status } = item;
  const facts = { ...stored, candidates };
  if (item.dispute) {
    const { endToEnd } = item.ids;
    return [{ kind: 'dispute', report: { ...item.dispute, endToEnd } }];
  }
  if (item.kind === 'held') return [decideHeld(item, candidates)];
  if (item.kind === 'ignored' || status === null || status === 'PROCESSING') {
    return [decideIgnored(item, candidates)];
  }
  if (item.kind === 'expired') return [decideExpired(reported, candidates)];
  if (item.kind === 'refund') return decideRefund({ ...reported, status }, candidates);
  const sides = findSides({ ...reported, status }, candidates);
  switch (sides.kind) {
    case 'one':
      return [decideSide(sides.side, facts)];
    case 'two':
      return decideTwoSides(sides, facts);
    case 'unclear':
      return [{ kind: 'flag', transaction: sides.charge, reason: 'ids_disagree' }];
  }
}

/** Decides about one side of a payment. */
function decideSide(final: FinalItem, facts: Candidates): Decision {
  const { item, status, eventId } = final;
  const match = checkPayee(item, matchItem(item, facts.candidates), facts);
  switch (match.kind) {
    case 'transaction': {
      const correction = decideCorrection(final, match.transaction);
      if (correction) return correction;
      if (isPaidWithoutId(final, match.transaction)) {
        return decidePaidAgain(final, match.transaction, facts);
      }
      const decision = decideEnd(final, match.transaction);
      return decision.kind === 'flag' ? decideConflicting(final, decision, facts) : decision;
    }
    case 'identifies': {
      const { transaction, endToEnd } = match;
      if (status === 'COMPLETED' && isOtherPayment(item, transaction)) {
        return decideUnmatched(final, facts);
      }
      return status === 'COMPLETED'
        ? { kind: 'identify', transaction, endToEnd, eventId }
        : decideEnd(final, transaction);
    }
    case 'contradiction': {
      const { transaction, reason } = match;
      const flag = { kind: 'flag', transaction, reason } as const;
      const isOther =
        reason === 'other_end_to_end' ||
        (reason === 'amount_mismatch' && mayBeOfOtherSend(item, transaction));
      if (!isOther) return decideConflicting(final, flag, facts);
      // The payment's own transaction may be stored later, as after a loss of commits.
      return { kind: 'skip', result: 'parked', reason, transaction, reportNow: flag };
    }
    case 'paid_before':
      return decideDuplicate(item, match.transaction);
    case 'none':
      return decideUnmatched(final, facts);
  }
}

/** Whether an item without an end-to-end id reports the payment of a charge that is paid. */
function isPaidWithoutId({ item, status }: FinalItem, candidate: CandidateRow): boolean {
  const isPaid = candidate.operation === 'CHARGE' && candidate.status === 'COMPLETED';
  return isPaid && status === 'COMPLETED' && item.ids.endToEnd === null;
}

/**
 * Decides about the side of the payer, and if the payment was made, about the side of the payee. A
 * send that is stored as failed, and is reported as completed without proof, may have been received
 * all the same.
 */
function decideTwoSides(
  { sent, received, isCertain }: TwoSides,
  facts: Candidates,
): readonly Decision[] {
  const ofSend = decideSide(sent, facts);
  const isContradicted = ofSend.kind === 'flag' && ofSend.reason === 'contradicts_final_status';
  const wasMade = isSettled(ofSend) || (!isCertain && isContradicted);
  if (!wasMade) return [ofSend];
  const ofReceived = decideSide(received, facts);
  const wasReceived = isCertain || isSettled(ofReceived) || ofReceived.kind === 'record';
  return wasReceived ? [ofSend, ofReceived] : [ofSend];
}

/** Whether a decision ends a transaction, or finds that it has already ended in this way. */
function isSettled(decision: Decision): boolean {
  const { kind } = decision;
  return kind === 'move' || kind === 'correct' || (kind === 'skip' && decision.result !== 'parked');
}

/**
 * Removes the ids that do not identify a transaction. Another channel may use the same request ids,
 * so a send or a charge that was stored after the event was received can only be named by an id
 * that no other payment has. If such a later send has the request id and the amount of the item,
 * that request id names no send at all: clocks of processes differ, and any of them may be meant.
 */
function withoutSharedIds(
  { item: { ids, amountCents }, receivedAt }: EventItem,
  candidates: readonly CandidateRow[],
): readonly CandidateRow[] {
  const isLater = ({ operation, createdAt }: CandidateRow): boolean =>
    (operation === 'SEND' || operation === 'CHARGE') && createdAt > receivedAt;
  const isUnique = (one: CandidateRow): boolean =>
    isSameId(one.endToEnd, ids.endToEnd) ||
    (one.operation === 'CHARGE' && ids.transactionIdentification !== null);
  const isShared = candidates.some(
    (one) =>
      isLater(one) &&
      one.operation === 'SEND' &&
      isSameId(one.idempotencyKey, ids.clientRequestId) &&
      centsFromDecimal(one.amount) === amountCents,
  );
  return candidates.map((one) => {
    if (isUnique(one)) return one;
    if (isLater(one)) return { ...one, idempotencyKey: null, providerTxid: null };
    return isShared && one.operation === 'SEND' ? { ...one, idempotencyKey: null } : one;
  });
}
