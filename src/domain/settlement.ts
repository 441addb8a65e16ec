/**
 * Which transaction an item of a webhook means. It moves one only when an id matches and the
 * amount does, where the item carries one: money is not moved on half a match. The provider's own
 * id alone matches only together with the amount.
 */
import { centsFromDecimal } from './money.ts';

/** The status of a stored event; `received`: not looked at yet. */
export type WebhookEventStatus =
  'received' | 'processed' | 'ignored' | 'parked' | 'orphaned' | 'anomaly';

/** What an item says, as far as it tells the transaction. */
export interface SettlementItem {
  readonly kind: 'payment' | 'received' | 'ignored';
  readonly ids: {
    readonly endToEnd: string | null;
    readonly clientRequestId: string | null;
    readonly transactionIdentification: string | null;
    readonly providerTxid: string | null;
  };
  readonly amountCents: number | null;
}

/** A stored transaction that shares an id with the item. */
export interface SettlementCandidate {
  readonly id: string;
  readonly operation: 'SEND' | 'CHARGE' | 'RECEIVED';
  readonly status: string;
  readonly amount: string;
  readonly idempotency_key: string | null;
  readonly end_to_end: string | null;
  readonly transaction_identification: string | null;
  readonly provider_txid: string | null;
}

/**
 * So many candidates are looked for. Where there are as many, there may be more that are not seen,
 * and nothing can be told from being the only one.
 */
export const mostCandidates = 20;

export type Match<Candidate> =
  | { readonly kind: 'transaction'; readonly transaction: Candidate }
  /**
   * The charge was completed by an event that did not say which payment it was. The first payment
   * that names it is taken for that one, so that each further payment is told from it.
   */
  | { readonly kind: 'identifies'; readonly transaction: Candidate; readonly endToEnd: string }
  /** The ids say yes and something else says no: for a person to look at. */
  | {
      readonly kind: 'contradiction';
      readonly transaction: Candidate;
      readonly reason: 'amount_mismatch' | 'ids_disagree' | 'other_end_to_end' | 'payee_disagrees';
    }
  /** A received PIX that has completed a charge already: nothing more came in. */
  | { readonly kind: 'paid_before'; readonly transaction: Candidate }
  | { readonly kind: 'none' };

/**
 * @param item what the provider tells.
 * @param candidates the stored transactions that share an id with it.
 * @returns the transaction that is meant, or why none is moved.
 */
export function findMeant<Candidate extends SettlementCandidate>(
  item: SettlementItem,
  candidates: readonly Candidate[],
): Match<Candidate> {
  const meant =
    item.kind === 'received' ? meantCharge(item, candidates) : meantSend(item, candidates);
  if (!meant) {
    const other = item.kind === 'payment' ? sendOfOtherPayment(item, candidates) : undefined;
    if (other) return { kind: 'contradiction', transaction: other, reason: 'other_end_to_end' };
    const paid = item.kind === 'received' ? paidCharge(item, candidates) : undefined;
    return paid ? { kind: 'paid_before', transaction: paid } : { kind: 'none' };
  }
  if (disagree(item, meant)) {
    return { kind: 'contradiction', transaction: meant, reason: 'ids_disagree' };
  }
  const wouldChange = meant.status === 'PROCESSING' || isUnidentified(item, meant);
  if (wouldChange && item.amountCents === null && isByProviderIdAlone(item, meant)) {
    return { kind: 'none' };
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

/** Whether no id that this service has given out or taken over ties an item to a transaction. */
function isByProviderIdAlone({ ids }: SettlementItem, meant: SettlementCandidate): boolean {
  return (
    ids.transactionIdentification === null &&
    !isSame(meant.end_to_end, ids.endToEnd) &&
    !isSame(meant.idempotency_key, ids.clientRequestId)
  );
}

/** @returns the PIX that an item tells of, where it was recorded without a charge. */
export function recordOf<Candidate extends SettlementCandidate>(
  { ids }: SettlementItem,
  candidates: readonly Candidate[],
): Candidate | undefined {
  return candidates.find(
    ({ operation, end_to_end: endToEnd }) =>
      operation === 'RECEIVED' && ids.endToEnd !== null && endToEnd === ids.endToEnd,
  );
}

function isUnidentified({ kind }: SettlementItem, meant: SettlementCandidate): boolean {
  return kind === 'received' && meant.status === 'COMPLETED' && meant.end_to_end === null;
}

/**
 * The end-to-end id and the provider's id are each one payment's. The client's request id is unique
 * to a user only: it decides where it is the only sign and points at one transaction. Of several it
 * is the one that alone has the amount. One that failed before it left counts among them, because a
 * false event may be about that one.
 */
function meantSend<Candidate extends SettlementCandidate>(
  { ids, amountCents }: SettlementItem,
  candidates: readonly Candidate[],
): Candidate | undefined {
  const sends = candidates.filter(({ operation }) => operation === 'SEND');
  const byOwnId =
    sends.find((send) => ids.endToEnd !== null && send.end_to_end === ids.endToEnd) ??
    onlyOne(sends.filter((send) => isSame(send.provider_txid, ids.providerTxid)));
  if (byOwnId) return byOwnId;
  if (candidates.length >= mostCandidates) return undefined;
  const byRequest = sends.filter(
    (send) =>
      send.idempotency_key === ids.clientRequestId &&
      (ids.endToEnd === null || send.end_to_end === null),
  );
  if (byRequest.length < 2) return byRequest[0];
  return onlyOne(byRequest.filter(({ amount }) => amountCents === centsFromDecimal(amount)));
}

/**
 * An open send whose key and amount are those of a payment with another end-to-end id, which is no
 * send's here. Either another holder of the key has paid, or this send has been paid under an id
 * whose record was lost, perhaps to a customer for whom it has come in: a person has to look.
 */
function sendOfOtherPayment<Candidate extends SettlementCandidate>(
  { ids, amountCents }: SettlementItem,
  candidates: readonly Candidate[],
): Candidate | undefined {
  const { endToEnd, clientRequestId } = ids;
  if (endToEnd === null || amountCents === null) return undefined;
  const sends = candidates.filter(({ operation }) => operation === 'SEND');
  if (sends.some((one) => one.end_to_end === endToEnd)) return undefined;
  return sends.find(
    (one) =>
      one.status === 'PROCESSING' &&
      one.end_to_end !== null &&
      isSame(one.idempotency_key, clientRequestId) &&
      amountCents === centsFromDecimal(one.amount),
  );
}

/** Where an id stands for several, it tells none of them. */
function onlyOne<Candidate>(candidates: readonly Candidate[]): Candidate | undefined {
  return candidates.length === 1 ? candidates[0] : undefined;
}

function isSame(stored: string | null, told: string | null): boolean {
  return told !== null && told === stored;
}

/**
 * A charge is known by its identification. One that is completed already was paid by another PIX,
 * unless the end-to-end id is the same: a reusable code may be paid many times, and each further
 * payment is received on its own.
 */
function meantCharge<Candidate extends SettlementCandidate>(
  { ids }: SettlementItem,
  candidates: readonly Candidate[],
): Candidate | undefined {
  return candidates.find(
    (charge) =>
      isNamed(charge, ids) && (charge.end_to_end === null || charge.end_to_end === ids.endToEnd),
  );
}

/**
 * The charge that an item of a received PIX names, paid or not: its owner is who received it.
 * @returns undefined when it names none of the candidates.
 */
export function chargeNamed<Candidate extends SettlementCandidate>(
  { ids }: SettlementItem,
  candidates: readonly Candidate[],
): Candidate | undefined {
  return candidates.find((candidate) => isNamed(candidate, ids));
}

/**
 * The charge that an item pays which speaks of a payment, and does not say which way it went. Only
 * its identification and its amount together say so much.
 */
export function chargePaid<Candidate extends SettlementCandidate>(
  { kind, ids, amountCents }: SettlementItem,
  candidates: readonly Candidate[],
): Candidate | undefined {
  if (kind !== 'payment' || ids.transactionIdentification === null) return undefined;
  const charge = chargeNamed({ kind, ids, amountCents }, candidates);
  return charge && amountCents === centsFromDecimal(charge.amount) ? charge : undefined;
}

/**
 * The open transaction that an item speaks of which was not understood. It moves nothing, so one id
 * is enough.
 */
export function openNamed<Candidate extends SettlementCandidate>(
  item: SettlementItem,
  candidates: readonly Candidate[],
): Candidate | undefined {
  const { endToEnd, clientRequestId, providerTxid } = item.ids;
  const open = candidates.filter(({ status }) => status === 'PROCESSING');
  const byOwnId =
    open.find((one) => isSame(one.end_to_end, endToEnd)) ??
    chargeNamed(item, open) ??
    open.find((one) => isSame(one.provider_txid, providerTxid));
  return byOwnId ?? onlyOne(open.filter((one) => isSame(one.idempotency_key, clientRequestId)));
}

/** A static code carries the first 25 of the 26 characters: there is no room for more in it. */
export const staticTxidLength = 25;

/** By its identification, or by the provider's own id where the item carries no other. */
function isNamed(charge: SettlementCandidate, ids: SettlementItem['ids']): boolean {
  const { operation, transaction_identification: stored, provider_txid: providerTxid } = charge;
  if (operation !== 'CHARGE' || stored === null) return false;
  const told = ids.transactionIdentification;
  if (told === null) return ids.providerTxid !== null && ids.providerTxid === providerTxid;
  return told === stored || told === stored.slice(0, staticTxidLength);
}

/** The charge that this payment has completed: the item may not name it, or name it otherwise. */
function paidCharge<Candidate extends SettlementCandidate>(
  { ids }: SettlementItem,
  candidates: readonly Candidate[],
): Candidate | undefined {
  return candidates.find(
    ({ operation, end_to_end: endToEnd }) =>
      operation === 'CHARGE' && ids.endToEnd !== null && endToEnd === ids.endToEnd,
  );
}

/** Two ids of one item that belong to different payments. */
function disagree({ ids, kind }: SettlementItem, meant: SettlementCandidate): boolean {
  if (kind === 'received') return false;
  const differs = (told: string | null, stored: string | null): boolean =>
    told !== null && stored !== null && told !== stored;
  return (
    differs(ids.endToEnd, meant.end_to_end) || differs(ids.clientRequestId, meant.idempotency_key)
  );
}
