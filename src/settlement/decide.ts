/**
 * The decision about an item of an event. It depends only on the item and on the stored rows, so
 * that the same decision can be applied or only be shown.
 */
import { normalisePixKey } from '../domain/pix-key.ts';
import { phasesOpenToFailure, phasesOpenToSettlement } from '../domain/pix.ts';
import { decideCorrection } from './correction.ts';
import {
  unreadReasons,
  type IgnoredBecause,
  type WebhookItem,
} from '../provider/webhook-events.ts';
import type { Move } from '../pix/move-repository.ts';
import {
  contradictedInEvent,
  endedBy,
  type Decision,
  type EventItem,
  type FinalItem,
} from './decision.ts';
import { decideExpired } from './expired-charge.ts';
import { chargeNamed, chargePaid, matchItem, isOfOtherPayment, openNamed } from './match.ts';
import { decideRefund } from './refunds.ts';
import {
  checkPayee,
  decideConflicting,
  decideDuplicate,
  decidePaidAgain,
  decideUnmatched,
  isOtherPayment,
} from './received-pix.ts';
import type { CandidateRow, Facts } from './transaction-repository.ts';

/**
 * Decides how an item changes the stored transactions. The function is pure.
 * @param facts the stored rows that the item may concern; empty for an item that needs none.
 * @returns one decision, or two for an item that reports the end of a send and the payment of a
 *   charge, or a refund between two users: apply both.
 */
export function decide(of: EventItem, stored: Facts): readonly Decision[] {
  const { item } = of;
  const { status } = item;
  const candidates = stored.candidates.map((one) => asNamed(of, one));
  const facts = { ...stored, candidates };
  if (item.kind === 'ignored' || status === null || status === 'PROCESSING') {
    return [decideIgnored(item, candidates)];
  }
  if (item.kind === 'expired') return [decideExpired(of, candidates)];
  if (item.kind === 'refund') return decideRefund(of, candidates);
  const final = { ...of, item: directed(item, candidates), status };
  const charge = chargeOrSend(final, candidates);
  if (charge) return [{ kind: 'flag', transaction: charge, reason: 'ids_disagree' }];
  if (!paysCharge(final, candidates)) {
    return final.item === item
      ? [decideFinal(final, facts)]
      : decideBothSides({ ...final, item }, facts);
  }
  const asReceived = { ...final, item: { ...item, kind: 'received' } } as const;
  if (!isForSend(item, candidates)) return [decideFinal(asReceived, facts)];
  const ofSend = decideFinal(final, facts);
  return isSettled(ofSend) ? [ofSend, decideFinal(asReceived, facts)] : [ofSend];
}

/**
 * A send or a charge that was stored after the event was received can only be named by an id that
 * no other payment has, because another channel may use the same request ids: the decision gets it
 * without its other ids.
 */
function asNamed({ item: { ids }, receivedAt }: EventItem, one: CandidateRow): CandidateRow {
  const isRequested = one.operation === 'SEND' || one.operation === 'CHARGE';
  const isUnique =
    (ids.endToEnd !== null && ids.endToEnd === one.end_to_end) ||
    (one.operation === 'CHARGE' && ids.transactionIdentification !== null);
  const isOlder = !isRequested || isUnique || one.created_at <= receivedAt;
  return isOlder ? one : { ...one, idempotency_key: null, provider_txid: null };
}

/**
 * Whether the decision about an item depends on stored rows: for most ignored items it does not.
 */
export function needsFacts({ kind, status, ids, ignoredBecause }: WebhookItem): boolean {
  const isIgnored = kind === 'ignored' || status === null || status === 'PROCESSING';
  if (!isIgnored) return true;
  const reason = ignoredBecause ?? 'processing';
  const mayContradict =
    reason === 'not_received' || reason === 'contradictory_member' || notUnderstood.has(reason);
  return mayContradict && Object.values(ids).some((id) => id !== null);
}

/**
 * Decides an item in the list of received PIX that settles a send. If its payee is
 * another user, it was also received: the provider may report both sides in one item.
 */
function decideBothSides(asReceived: FinalItem, facts: Facts): readonly Decision[] {
  const asSent = { ...asReceived, item: { ...asReceived.item, kind: 'payment' } } as const;
  const ofSend = decideFinal(asSent, facts);
  // A send that is stored as failed, and is reported as completed without proof, may have been
  // received all the same.
  const isContradicted = ofSend.kind === 'flag' && ofSend.reason === 'contradicts_final_status';
  if (!isSettled(ofSend) && !isContradicted) return [ofSend];
  const received = decideFinal(asReceived, facts);
  return isSettled(received) || received.kind === 'record' ? [ofSend, received] : [ofSend];
}

/** Whether a decision ends a transaction, or finds that it has already ended in this way. */
function isSettled(decision: Decision): boolean {
  const { kind } = decision;
  return kind === 'move' || kind === 'correct' || (kind === 'skip' && !isParked(decision));
}

/**
 * Finds the direction of an item in the list of received PIX that does not report one: it is the
 * payment of a send if that send has its end-to-end id and its key.
 */
function directed(item: WebhookItem, candidates: readonly CandidateRow[]): WebhookItem {
  const { endToEnd, transactionIdentification } = item.ids;
  const { key } = item.payee;
  if (!item.isUndirected || endToEnd === null || key === null) return item;
  const isSent = candidates.some(
    (one) =>
      one.operation === 'SEND' &&
      one.end_to_end === endToEnd &&
      one.pix_key === normalisePixKey(key).key,
  );
  return isSent && transactionIdentification === null ? { ...item, kind: 'payment' } : item;
}

function isParked({ result }: { readonly result: string }): boolean {
  return result === 'parked';
}

/**
 * Whether the payment of an item has paid a charge. It has not if a send has the item's client
 * request id: the events of the payer contain that id and concern only the send.
 */
function paysCharge(final: FinalItem, candidates: readonly CandidateRow[]): boolean {
  if (final.status !== 'COMPLETED' || isOfPayer(final, candidates)) return false;
  return chargePaid(final.item, candidates) !== undefined;
}

/**
 * Whether the item's client request id is that of a send. Several users may use the same id: with
 * another end-to-end id, the send is another user's.
 */
function isOfPayer({ item }: FinalItem, candidates: readonly CandidateRow[]): boolean {
  const { clientRequestId, endToEnd } = item.ids;
  return candidates.some(
    (one) =>
      one.operation === 'SEND' &&
      one.idempotency_key === clientRequestId &&
      (endToEnd === null || one.end_to_end === null || one.end_to_end === endToEnd),
  );
}

/**
 * Chooses the charge that an item names by its identification and its amount, if it names a send
 * only by a client request id. Another user's payment may have the same id, so it proves neither.
 */
function chargeOrSend(
  final: FinalItem,
  candidates: readonly CandidateRow[],
): CandidateRow | undefined {
  const isByKeyAlone = final.item.ids.endToEnd === null && isOfPayer(final, candidates);
  return isByKeyAlone ? chargePaid(final.item, candidates) : undefined;
}

/**
 * Whether an item also reports a send: if a user pays another user, both sides have the same
 * end-to-end id. A client request id shows that the item concerns the payer's side alone.
 */
function isForSend({ ids }: WebhookItem, candidates: readonly CandidateRow[]): boolean {
  return ids.clientRequestId === null && candidates.some(({ operation }) => operation === 'SEND');
}

function decideFinal(final: FinalItem, facts: Facts): Decision {
  const { item, status, eventId } = final;
  const match = checkPayee(item, matchItem(item, facts.candidates), facts);
  switch (match.kind) {
    case 'transaction': {
      const correction = decideCorrection(final, match.transaction);
      if (correction) return correction;
      if (isPaidWithoutId(final, match.transaction)) {
        return decidePaidAgain(final, match.transaction, facts);
      }
      const decision = decideMatch(final, match.transaction);
      return decision.kind === 'flag' ? decideConflicting(final, decision, facts) : decision;
    }
    case 'identifies': {
      const { transaction, endToEnd } = match;
      if (status === 'COMPLETED' && isOtherPayment(item, transaction)) {
        return decideUnmatched(final, facts);
      }
      return status === 'COMPLETED'
        ? { kind: 'identify', transaction, endToEnd, eventId }
        : decideMatch(final, transaction);
    }
    case 'contradiction': {
      const { transaction, reason } = match;
      return decideConflicting(final, { kind: 'flag', transaction, reason }, facts);
    }
    case 'paid_before':
      return decideDuplicate(item, match.transaction);
    case 'none':
      return decideUnmatched(final, facts);
  }
}

/** Whether an item without an end-to-end id reports the payment of a charge that is paid. */
function isPaidWithoutId(
  { item, status }: FinalItem,
  { operation, ...row }: CandidateRow,
): boolean {
  const isPaid = operation === 'CHARGE' && row.status === 'COMPLETED';
  return isPaid && status === 'COMPLETED' && item.ids.endToEnd === null;
}

/** Reasons for which an item is not understood although it may end an open transaction. */
const notUnderstood: ReadonlySet<IgnoredBecause> = new Set([
  ...unreadReasons,
  'reversal',
] satisfies IgnoredBecause[]);

/**
 * An item that moves nothing may still contradict a received PIX or concern an open transaction.
 */
function decideIgnored(item: WebhookItem, candidates: readonly CandidateRow[]): Decision {
  const reason = item.ignoredBecause ?? 'processing';
  const ignored: Decision = { kind: 'skip', result: 'ignored', reason };
  if (reason === 'contradictory_member') {
    return { kind: 'suspect', reason, transaction: openNamed(item, candidates) };
  }
  if (!needsFacts(item)) return ignored;
  const received = reason === 'not_received' ? receivedAlready(item, candidates) : undefined;
  if (received) return { kind: 'flag', transaction: received, reason: 'contradicts_final_status' };
  // A failed receipt may be the end of a send; for an open charge it has no meaning.
  const sends = candidates.filter(({ operation }) => operation === 'SEND');
  const transaction =
    openNamed(item, reason === 'not_received' ? sends : candidates) ??
    (mayBeRefund.has(reason) ? completedBy(item, candidates) : undefined);
  const isSend = transaction?.operation === 'SEND';
  if (isSend && item.status === 'FAILED' && isOfOtherPayment(item, transaction)) {
    return { kind: 'flag', transaction, reason: 'other_provider_id' };
  }
  return transaction ? { kind: 'unread', transaction, reason } : ignored;
}

/** Reasons for which an item about a completed transaction may be a refund that is lost. */
const mayBeRefund: ReadonlySet<string> = new Set([
  'reversal',
  'unreadable_amount',
] satisfies IgnoredBecause[]);

/** @returns the completed transaction with the end-to-end id of an item. */
function completedBy(
  { ids: { endToEnd } }: WebhookItem,
  candidates: readonly CandidateRow[],
): CandidateRow | undefined {
  if (endToEnd === null) return undefined;
  return candidates.find((one) => one.status === 'COMPLETED' && one.end_to_end === endToEnd);
}

/** @returns the transaction that the now failed PIX had completed; without an id, its charge. */
function receivedAlready(
  item: WebhookItem,
  candidates: readonly CandidateRow[],
): CandidateRow | undefined {
  const { endToEnd } = item.ids;
  const received = candidates.filter(
    ({ operation, status }) => operation !== 'SEND' && status === 'COMPLETED',
  );
  return endToEnd === null
    ? chargeNamed(item, received)
    : received.find(({ end_to_end: stored }) => stored === endToEnd);
}

function decideMatch(final: FinalItem, transaction: CandidateRow): Decision {
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
  // Before PAYING no payment can have been sent, and during PAYING another attempt may be sent:
  // the transaction may still reach the phase that this item fits.
  const reason = transaction.phase === 'PAYING' ? 'still_paying' : 'not_paying_yet';
  return { kind: 'skip', result: 'parked', reason, transaction };
}

function buildSettlement({ status, item, eventId }: FinalItem, transaction: CandidateRow): Move {
  const charge = transaction.operation === 'CHARGE';
  const unsure = transaction.outcome === null || transaction.outcome === 'unknown';
  const ofSend = status === 'FAILED' ? phasesOpenToFailure : phasesOpenToSettlement;
  return {
    // A charge can be paid as soon as the provider has made it, whether or not its answer arrived.
    from: charge ? ['RESERVED', ...phasesOpenToSettlement] : ofSend,
    to: 'SETTLED',
    status,
    ...(unsure && { outcome: status === 'COMPLETED' ? 'accepted' : 'rejected' }),
    ...(status === 'FAILED' && { failureCode: failureCode(item) }),
    endToEnd: charge ? item.ids.endToEnd : null,
    providerTxid: item.ids.providerTxid,
    timeline: [endedBy(eventId, status)],
  };
}

/** @returns the failure code of a transaction: the provider's reason, if it reports one. */
function failureCode({ reason }: WebhookItem): string {
  return reason ?? 'PROVIDER_REJECTED';
}
