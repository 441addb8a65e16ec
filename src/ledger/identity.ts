/**
 * Which transaction a report is about, and how certain that is. The functions are pure.
 *
 * Own ids name one payment of all: the end-to-end id, the return id, the txid of a charge, and the
 * request id together with the provider's id. The request id alone and the provider's id alone are
 * weak: other users and other channels may have the same one. Weak ids may complete a payment, and
 * never fail it. The provider's id names nothing alone unless the shape of its message declares it.
 */
import { isSameId, isSameReturn, namesCharge, type PixType } from '../domain/pix.ts';
import { isOtherPixKey, normalisePixKey } from '../domain/pix-key.ts';
import { fitsMask } from '../domain/tax-id.ts';
import type { Facts, Report, Stored } from './report.ts';
import { returnRequestId } from './return-ids.ts';

/**
 * The transactions with the ids by which a report can name them. Another channel may use the same
 * request ids, so what was stored after the report came has only the ids that no other payment has.
 * If such a later send has the request id and the amount of the report, that request id names no
 * send at all: clocks of processes differ, and any of them may be meant.
 */
export function knownBefore({ ids, amountCents, receivedAt }: Report, facts: Facts): Facts {
  const isLater = ({ type, createdAt }: Stored): boolean =>
    (type === 'SEND' || type === 'CHARGE') && createdAt > receivedAt;
  const isOwn = (one: Stored): boolean =>
    isSameId(one.endToEnd, ids.endToEnd) || (one.type === 'CHARGE' && ids.txid !== null);
  const isShared = facts.stored.some(
    (one) =>
      isLater(one) &&
      one.type === 'SEND' &&
      isSameId(one.requestId, ids.requestId) &&
      one.amountCents === amountCents,
  );
  const stored = facts.stored.map((one): Stored => {
    if (isOwn(one)) return one;
    if (isLater(one)) return { ...one, requestId: null, providerTxid: null };
    return isShared && one.type === 'SEND' ? { ...one, requestId: null } : one;
  });
  return { ...facts, stored };
}

/** Whether a report names a transaction only by an id that other payments may have. */
export function isWeak({ ids }: Report, named: Stored): boolean {
  const isByTxid = named.type === 'CHARGE' && ids.txid !== null;
  const isByBoth =
    isSameId(named.requestId, ids.requestId) && isSameId(named.providerTxid, ids.providerTxid);
  return !isByTxid && !isByBoth && !isSameId(named.endToEnd, ids.endToEnd);
}

/** Why a report that names a send cannot be about it; null: it can. */
export function findClash(
  report: Report,
  send: Stored,
): 'ids_disagree' | 'other_provider_id' | null {
  const { ids } = report;
  const disagree =
    isOtherId(ids.endToEnd, send.endToEnd) || isOtherId(ids.requestId, send.requestId);
  if (disagree) return 'ids_disagree';
  return hasOtherProviderId(report, send) ? 'other_provider_id' : null;
}

/**
 * Whether a report names a transaction, but by an id that other payments may have, and has another
 * id of the provider: it is about one of them.
 */
export function hasOtherProviderId(report: Report, named: Stored): boolean {
  return isWeak(report, named) && isOtherId(report.ids.providerTxid, named.providerTxid);
}

/**
 * The send that a report names. The end-to-end id and the provider's id each identify one payment.
 * The request id is unique for a user only: it decides when no other id names a send, and it is
 * that of one send, or of only one with the amount. A send that failed before it was sent counts,
 * too: a wrong report may name it.
 */
export function findSend(report: Report, { stored, isCut }: Facts): Stored | null {
  const { ids, amountCents, isNamedAlone } = report;
  const sends = ofType(stored, 'SEND');
  const byOwnId =
    sends.find((one) => isSameId(one.endToEnd, ids.endToEnd)) ??
    onlyOne(
      sends.filter(
        (one) =>
          isSameId(one.providerTxid, ids.providerTxid) &&
          (isNamedAlone || isSameId(one.requestId, ids.requestId)),
      ),
    );
  if (byOwnId || isCut) return byOwnId ?? null;
  const byRequest = sends.filter(
    (one) =>
      isSameId(one.requestId, ids.requestId) && (ids.endToEnd === null || one.endToEnd === null),
  );
  if (byRequest.length < 2) return byRequest[0] ?? null;
  return onlyOne(byRequest.filter((one) => one.amountCents === amountCents));
}

/**
 * Whether a report about a payment names another payee's key than the send that it is about: then
 * it claims nothing. The payee of money that came in is compared with its owner.
 */
export function namesOtherPayee(report: Report, facts: Facts): boolean {
  const { about, payee, amountCents } = report;
  if (about !== 'payment' || (payee.key === null && !payee.isContradictory)) return false;
  const send = findSend(report, facts);
  if (send === null) return false;
  const isUnsure =
    findClash(report, send) === null &&
    isWeak(report, send) &&
    send.status === 'PROCESSING' &&
    amountCents === null;
  if (isUnsure) return false;
  return (
    payee.isContradictory === true ||
    (send.payeeKey !== null && isOtherPixKey(payee.key, send.payeeKey))
  );
}

/**
 * Whether the request id of a report is that of a send. Several users may use the same one: with
 * another end-to-end id, the send is another user's.
 */
export function isOfPayer({ ids }: Report, { stored }: Facts): boolean {
  return ofType(stored, 'SEND').some(
    (one) => isSameId(one.requestId, ids.requestId) && !isOtherId(ids.endToEnd, one.endToEnd),
  );
}

/** The charge that a report names, paid or not: by its txid, or without it by the provider's id. */
export function findCharge(
  { ids, isNamedAlone }: Report,
  stored: readonly Stored[],
): Stored | null {
  const isNamed = (one: Stored): boolean =>
    one.txid !== null &&
    (ids.txid === null
      ? isNamedAlone && isSameId(ids.providerTxid, one.providerTxid)
      : namesCharge(ids.txid, one.txid));
  return ofType(stored, 'CHARGE').find(isNamed) ?? null;
}

/** The charge that money may pay: one that another payment has paid is not meant. */
export function findPayable(report: Report, { stored }: Facts): Stored | null {
  const free = stored.filter((one) => !isOtherId(report.ids.endToEnd, one.endToEnd));
  return findCharge(report, free);
}

/** The transaction of a type that has the end-to-end id of a report. */
export function findByEndToEnd({ ids }: Report, { stored }: Facts, type: PixType): Stored | null {
  return ofType(stored, type).find((one) => isSameId(one.endToEnd, ids.endToEnd)) ?? null;
}

/** The money of a report that was recorded without a charge, perhaps without its end-to-end id. */
export function findRecorded(report: Report, facts: Facts): Stored | null {
  const unidentified = ofType(facts.stored, 'RECEIVED').find(
    (one) => one.endToEnd === null && isSameId(one.providerTxid, report.ids.providerTxid),
  );
  return findByEndToEnd(report, facts, 'RECEIVED') ?? unidentified ?? null;
}

/**
 * The return made here that a report is about: by its return id, whose minute differs where the row
 * of the return was lost and it was requested again, or by its request id and amount.
 */
export function findReturn({ ids, amountCents }: Report, { stored }: Facts): Stored | null {
  const made = ofType(stored, 'REFUND_OUT').filter(({ requestId }) => requestId !== null);
  const found =
    made.find((one) => isSameId(one.endToEnd, ids.returnId)) ??
    made.find((one) => isSameReturn(one.endToEnd, ids.returnId)) ??
    made.find(
      ({ userId, requestId, ...one }) =>
        isSameId(returnRequestId({ userId, idempotencyKey: requestId ?? '' }), ids.requestId) &&
        one.amountCents === amountCents,
    );
  return found ?? null;
}

/** The open transaction that a report which moves nothing may concern: one id is enough. */
export function findOpen(report: Report, stored: readonly Stored[]): Stored | null {
  const { ids } = report;
  const open = stored.filter(({ status }) => status === 'PROCESSING');
  return (
    open.find((one) => isSameId(one.endToEnd, ids.endToEnd)) ??
    findCharge(report, open) ??
    open.find((one) => isSameId(one.providerTxid, ids.providerTxid)) ??
    onlyOne(open.filter((one) => isSameId(one.requestId, ids.requestId)))
  );
}

/**
 * Whether a report is about another payment than the one that has completed a charge: the
 * provider's ids of both are known, and the report's is not that of the charge itself.
 */
export function isOtherPayment({ ids: { providerTxid } }: Report, charge: Stored): boolean {
  const paid = charge.endedBy.providerTxid;
  const isOfCharge = isSameId(paid, providerTxid) || isSameId(charge.providerTxid, providerTxid);
  return providerTxid !== null && paid !== null && !isOfCharge;
}

/** Whether a report certainly repeats the payment that has completed a charge. */
export function isSamePayment({ source, ids }: Report, { endedBy }: Stored): boolean {
  return (
    isSameId(endedBy.eventId, source.eventId) || isSameId(endedBy.providerTxid, ids.providerTxid)
  );
}

/**
 * Whether every identifier of the payee is that of a charge or of its owner. The key may also be
 * another one that the provider lists for the owner, but not one that it lists for another account.
 */
export function isForOwner({ payee }: Report, payees: Facts['payees'], charge: Stored): boolean {
  const { key, document, agency, accountNumber, isContradictory } = payee;
  const { owner } = charge;
  const holders = payees.filter(({ hasKey }) => hasKey);
  const isHeldByOwner = holders.some(({ userId }) => userId === charge.userId);
  const isOwnKey = key !== null && charge.payeeKey === normalisePixKey(key).key;
  return (
    isContradictory !== true &&
    (key === null || isHeldByOwner || (isOwnKey && holders.length === 0)) &&
    isSameNumber(document, owner?.document ?? null) &&
    mayBeDocument(owner?.document ?? null, payee.maskedDocument) &&
    isSameAgency(agency, owner?.agency ?? null) &&
    isSameNumber(accountNumber, owner?.accountNumber ?? null)
  );
}

/**
 * @param charge the charge that a report names, if it names one: then only its owner is the payee.
 * @returns the one user whom the money of a report is for, or null: two would be a guess.
 */
export function findPayee(report: Report, { payees }: Facts, charge: Stored | null): number | null {
  if (charge) return isForOwner(report, payees, charge) ? charge.userId : null;
  const [first, second] = payees;
  return first?.agrees && !second?.agrees ? first.userId : null;
}

/** Whether a report names its payee well enough to correct a charge. */
export function namesPayee({ payee }: Report): boolean {
  const { key, document, agency, accountNumber } = payee;
  return key !== null || document !== null || (agency !== null && accountNumber !== null);
}

/** Compares numbers without punctuation, because a number in JSON has lost its leading zeros. */
function isSameNumber(reported: string | null, stored: string | null): boolean {
  const bare = (text: string): string => text.replace(/[^0-9A-Z]/gi, '').replace(/^0+/, '');
  return reported === null || (stored !== null && bare(reported) === bare(stored));
}

/** A masked document says nothing of an owner whose document has the digits that it shows. */
function mayBeDocument(stored: string | null, masked: string | undefined): boolean {
  return stored === null || masked === undefined || fitsMask(stored, masked);
}

/** The reported agency has no digit after a hyphen; the stored one is as the provider writes it. */
function isSameAgency(reported: string | null, stored: string | null): boolean {
  const number = stored?.split('-', 1)[0] ?? null;
  return isSameNumber(reported, stored) || isSameNumber(reported, number);
}

function ofType(stored: readonly Stored[], type: PixType): readonly Stored[] {
  return stored.filter((one) => one.type === type);
}

/** @returns the only one; null if there are several, because the id is then ambiguous. */
function onlyOne(some: readonly Stored[]): Stored | null {
  return some.length === 1 ? (some[0] ?? null) : null;
}

function isOtherId(reported: string | null, stored: string | null): boolean {
  return reported !== null && stored !== null && reported !== stored;
}
