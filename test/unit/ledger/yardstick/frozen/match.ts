/**
 * Matches an item of a webhook with a stored transaction. An item changes a transaction only if an
 * id matches and the amount, if present, matches too. The client's request id or the provider's own
 * id matches only together with the amount, and with no other id of the provider.
 */
import { centsFromDecimal } from '../../../../../src/domain/money.ts';
import { isSameId, namesCharge } from '../../../../../src/domain/pix.ts';
import type { WebhookItem } from '../../../../../src/provider/webhook-events.ts';
import {
  maxCandidates,
  type CandidateRow,
} from '../../../../../src/ledger/transaction-repository.ts';

/** The fields of an item that identify its transaction. */
type NamingItem = Pick<WebhookItem, 'kind' | 'ids' | 'amountCents'>;

export type Match =
  | { readonly kind: 'transaction'; readonly transaction: CandidateRow }
  /**
   * The charge was completed by an event without an end-to-end id. The first payment that names the
   * charge supplies the id, so that further payments can be distinguished from it.
   */
  | { readonly kind: 'identifies'; readonly transaction: CandidateRow; readonly endToEnd: string }
  /** An id matches but another field contradicts it: a person must decide. */
  | {
      readonly kind: 'contradiction';
      readonly transaction: CandidateRow;
      readonly reason:
        | 'amount_mismatch'
        | 'ids_disagree'
        | 'other_end_to_end'
        | 'other_provider_id'
        | 'payee_disagrees';
    }
  /** A received PIX that has already completed a charge: no further money was received. */
  | { readonly kind: 'paid_before'; readonly transaction: CandidateRow }
  | { readonly kind: 'none' };

/**
 * Finds the transaction that an item refers to.
 * @param candidates the stored transactions that share an id with the item.
 * @returns the transaction, or why none is changed.
 */
export function matchItem(item: NamingItem, candidates: readonly CandidateRow[]): Match {
  const meant =
    item.kind === 'received' ? matchCharge(item, candidates) : matchSend(item, candidates);
  if (!meant) {
    const other = item.kind === 'payment' ? sendOfOtherPayment(item, candidates) : undefined;
    if (other) return { kind: 'contradiction', transaction: other, reason: 'other_end_to_end' };
    const paid = item.kind === 'received' ? paidCharge(item, candidates) : undefined;
    return paid ? { kind: 'paid_before', transaction: paid } : { kind: 'none' };
  }
  if (disagree(item, meant)) {
    return { kind: 'contradiction', transaction: meant, reason: 'ids_disagree' };
  }
  if (isOfOtherPayment(item, meant)) {
    return { kind: 'contradiction', transaction: meant, reason: 'other_provider_id' };
  }
  if (isByWeakId(item, meant)) {
    const wouldChange = meant.status === 'PROCESSING' || isUnidentified(item, meant);
    if (wouldChange && item.amountCents === null) return { kind: 'none' };
  }
  if (item.amountCents !== null && item.amountCents !== centsFromDecimal(meant.amount)) {
    return { kind: 'contradiction', transaction: meant, reason: 'amount_mismatch' };
  }
  const { endToEnd } = item.ids;
  if (endToEnd !== null && isUnidentified(item, meant)) {
    return { kind: 'identifies', transaction: meant, endToEnd };
  }
  return { kind: 'transaction', transaction: meant };
}

/**
 * Whether an item matches a transaction by the client's request id alone or by the provider's own
 * id alone: another payment may have it.
 */
function isByWeakId({ ids }: NamingItem, meant: CandidateRow): boolean {
  const isByTxid = meant.operation === 'CHARGE' && ids.transactionIdentification !== null;
  const isByBoth =
    isSameId(meant.idempotencyKey, ids.clientRequestId) &&
    isSameId(meant.providerTxid, ids.providerTxid);
  return !isByTxid && !isByBoth && !isSameId(meant.endToEnd, ids.endToEnd);
}

/**
 * Whether an item names a transaction, but by an id that other payments may have, and has another
 * id of the provider: it is about one of them.
 */
export function isOfOtherPayment(item: NamingItem, named: CandidateRow): boolean {
  return isByWeakId(item, named) && differs(item.ids.providerTxid, named.providerTxid);
}

/**
 * Whether an item with an end-to-end id names a send only by an id that other payments may have: if
 * the amounts differ, it may be about a send that is not stored.
 */
export function mayBeOfOtherSend(item: NamingItem, named: CandidateRow): boolean {
  return named.operation === 'SEND' && item.ids.endToEnd !== null && isByWeakId(item, named);
}

/**
 * Finds the received PIX of an item, if it was recorded without a charge. One that was recorded
 * without an end-to-end id is found by the provider's own id.
 */
export function findRecorded(
  { ids }: NamingItem,
  candidates: readonly CandidateRow[],
): CandidateRow | undefined {
  const records = candidates.filter(({ operation }) => operation === 'RECEIVED');
  return (
    records.find((one) => isSameId(one.endToEnd, ids.endToEnd)) ??
    records.find((one) => one.endToEnd === null && isSameId(one.providerTxid, ids.providerTxid))
  );
}

function isUnidentified({ kind }: NamingItem, meant: CandidateRow): boolean {
  return kind === 'received' && meant.status === 'COMPLETED' && meant.endToEnd === null;
}

/**
 * Finds a send. The end-to-end id and the provider's id each identify one payment. The client's
 * request id is unique per user only: it decides when no other id matches and it finds one send, or
 * only one send with the same amount. Sends that failed before they were sent count too, because an
 * incorrect event may refer to one.
 */
function matchSend(
  { ids, amountCents }: NamingItem,
  candidates: readonly CandidateRow[],
): CandidateRow | undefined {
  const sends = candidates.filter(({ operation }) => operation === 'SEND');
  const byOwnId =
    sends.find((send) => isSameId(send.endToEnd, ids.endToEnd)) ??
    onlyOne(sends.filter((send) => isSameId(send.providerTxid, ids.providerTxid)));
  if (byOwnId) return byOwnId;
  if (candidates.length >= maxCandidates) return undefined;
  const byRequest = sends.filter(
    (send) =>
      isSameId(send.idempotencyKey, ids.clientRequestId) &&
      (ids.endToEnd === null || send.endToEnd === null),
  );
  if (byRequest.length < 2) return byRequest[0];
  return onlyOne(byRequest.filter(({ amount }) => amountCents === centsFromDecimal(amount)));
}

/**
 * Finds an open send with the same key and amount as a payment with a different, unknown end-to-end
 * id. Either another user with the same key has paid, or this send was paid under an id whose
 * record was lost, perhaps to another customer of this service: a person must decide.
 */
function sendOfOtherPayment(
  { ids, amountCents }: NamingItem,
  candidates: readonly CandidateRow[],
): CandidateRow | undefined {
  const { endToEnd, clientRequestId } = ids;
  if (endToEnd === null || amountCents === null) return undefined;
  const sends = candidates.filter(({ operation }) => operation === 'SEND');
  if (sends.some((one) => isSameId(one.endToEnd, endToEnd))) return undefined;
  return sends.find(
    (one) =>
      one.status === 'PROCESSING' &&
      one.endToEnd !== null &&
      isSameId(one.idempotencyKey, clientRequestId) &&
      amountCents === centsFromDecimal(one.amount),
  );
}

/** @returns the only candidate; undefined if several match, because the id is then ambiguous. */
function onlyOne(candidates: readonly CandidateRow[]): CandidateRow | undefined {
  return candidates.length === 1 ? candidates[0] : undefined;
}

/**
 * Finds a charge by its identification. A completed charge does not match a PIX with another
 * end-to-end id: a reusable code may be paid many times, and each further payment is recorded
 * separately.
 */
function matchCharge(
  { ids }: NamingItem,
  candidates: readonly CandidateRow[],
): CandidateRow | undefined {
  return candidates.find(
    (charge) => isNamed(charge, ids) && !differs(ids.endToEnd, charge.endToEnd),
  );
}

/**
 * Finds the charge that a received PIX names, paid or not: its owner received the money.
 * @returns undefined when it names none of the candidates.
 */
export function chargeNamed(
  { ids }: NamingItem,
  candidates: readonly CandidateRow[],
): CandidateRow | undefined {
  return candidates.find((candidate) => isNamed(candidate, ids));
}

/**
 * Finds the charge that an item pays if the item does not state the direction of the payment. Both
 * the identification and the amount must match.
 */
export function chargePaid(
  { kind, ids, amountCents }: NamingItem,
  candidates: readonly CandidateRow[],
): CandidateRow | undefined {
  if (kind !== 'payment' || ids.transactionIdentification === null) return undefined;
  const charge = chargeNamed({ kind, ids, amountCents }, candidates);
  return charge && amountCents === centsFromDecimal(charge.amount) ? charge : undefined;
}

/**
 * Finds the open transaction of an item that could not be read. Since the item changes nothing, one
 * matching id is sufficient.
 */
export function openNamed(
  item: NamingItem,
  candidates: readonly CandidateRow[],
): CandidateRow | undefined {
  const { endToEnd, clientRequestId, providerTxid } = item.ids;
  const open = candidates.filter(({ status }) => status === 'PROCESSING');
  const byOwnId =
    open.find((one) => isSameId(one.endToEnd, endToEnd)) ??
    chargeNamed(item, open) ??
    open.find((one) => isSameId(one.providerTxid, providerTxid));
  return byOwnId ?? onlyOne(open.filter((one) => isSameId(one.idempotencyKey, clientRequestId)));
}

/** Matches by identification, or by the provider's own id if the item has no identification. */
function isNamed(charge: CandidateRow, ids: NamingItem['ids']): boolean {
  const { operation, transactionIdentification: stored, providerTxid } = charge;
  if (operation !== 'CHARGE' || stored === null) return false;
  const reported = ids.transactionIdentification;
  if (reported === null) return isSameId(ids.providerTxid, providerTxid);
  return namesCharge(reported, stored);
}

/** Finds the charge that this payment has completed, even if the item does not name it. */
function paidCharge(
  { ids }: NamingItem,
  candidates: readonly CandidateRow[],
): CandidateRow | undefined {
  return candidates.find(
    ({ operation, endToEnd }) => operation === 'CHARGE' && isSameId(endToEnd, ids.endToEnd),
  );
}

/** Whether the ids of an item belong to different payments. */
function disagree({ ids, kind }: NamingItem, meant: CandidateRow): boolean {
  if (kind === 'received') return false;
  return (
    differs(ids.endToEnd, meant.endToEnd) || differs(ids.clientRequestId, meant.idempotencyKey)
  );
}

function differs(reported: string | null, stored: string | null): boolean {
  return reported !== null && stored !== null && reported !== stored;
}
