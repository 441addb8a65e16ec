/** The decision about a received PIX that completes no charge. It is pure. */
import { centsFromDecimal } from '../../../../../src/domain/money.ts';
import { isSameId } from '../../../../../src/domain/pix.ts';
import { normalisePixKey } from '../../../../../src/domain/pix-key.ts';
import type { WebhookItem } from '../../../../../src/provider/webhook-events.ts';
import type { Decision, FinalItem, Flag } from './decision.ts';
import { chargeNamed, findRecorded, type Match } from './match.ts';
import type {
  CandidateRow,
  Candidates,
  ReceivedPix,
} from '../../../../../src/ledger/transaction-repository.ts';
import type { PayeeRow } from '../../../../../src/ledger/payee-repository.ts';

/** One end-to-end id is one payment: the item repeats what is recorded, or contradicts it. */
export function decideDuplicate({ amountCents }: WebhookItem, transaction: CandidateRow): Decision {
  const agrees = amountCents === null || amountCents === centsFromDecimal(transaction.amount);
  return agrees
    ? { kind: 'skip', result: 'already', transaction }
    : { kind: 'flag', transaction, reason: 'amount_mismatch' };
}

/**
 * A PIX that contradicts the charge that it names, by its amount or because the charge has failed,
 * was received all the same: it is recorded, once, for the owner of the charge. It is not recorded
 * if its payee is not the owner, or if the same payment has been recorded under another event.
 * @param flag what is flagged of the charge.
 */
export function decideConflicting(
  { item, status }: FinalItem,
  flag: Flag,
  { candidates, payees }: Candidates,
): Decision {
  const { endToEnd } = item.ids;
  if (item.kind !== 'received' || status !== 'COMPLETED' || endToEnd === null) return flag;
  const known = findRecorded(item, candidates);
  if (known) {
    const ofKnown = decideDuplicate(item, known);
    return ofKnown.kind === 'flag' ? ofKnown : flag;
  }
  const hasPaid = candidates.some(
    (one) => one.operation === 'CHARGE' && isSameId(one.endToEnd, endToEnd),
  );
  const { transaction, reason } = flag;
  const userId = soleMatch(item, payees, transaction);
  const received = userId === null ? null : receivedBy(userId, item);
  const isRecorded = received !== null && !hasPaid;
  return isRecorded ? { kind: 'record', received, flaggedCharge: { transaction, reason } } : flag;
}

/**
 * Compares a match with the payee that the item names: money for somebody else does not pay a
 * charge, although it has the identification of the charge.
 * @returns the match, or that the item contradicts it.
 */
export function checkPayee(item: WebhookItem, match: Match, { payees }: Candidates): Match {
  const isOfCharge = match.kind === 'transaction' || match.kind === 'identifies';
  if (!isOfCharge || item.kind !== 'received') return match;
  const { transaction } = match;
  return isForOwner(item, payees, transaction)
    ? match
    : { kind: 'contradiction', transaction, reason: 'payee_disagrees' };
}

/**
 * Whether every identifier of the payee is that of a charge or of its owner. The key may also be
 * another one that the provider has listed for the owner, but not one that it lists for another
 * account.
 */
function isForOwner(
  { payee }: WebhookItem,
  payees: readonly PayeeRow[],
  { userId, pixKey: ownKey, owner }: CandidateRow,
): boolean {
  const { key, document, agency, accountNumber, isContradictory } = payee;
  const [ownAgency = null, ownNumber = null, ownDocument = null] = owner ?? [];
  const holders = payees.filter((one) => one.hasKey);
  const isHeldByOwner = holders.some((one) => one.userId === userId);
  const isOwnKey = key !== null && ownKey === normalisePixKey(key).key;
  return (
    isContradictory !== true &&
    (key === null || isHeldByOwner || (isOwnKey && holders.length === 0)) &&
    isSameNumber(document, ownDocument) &&
    isSameNumber(agency, ownAgency) &&
    isSameNumber(accountNumber, ownNumber)
  );
}

/** Compares numbers without punctuation, because a number in JSON has lost its leading zeros. */
function isSameNumber(reported: string | null, stored: string | null): boolean {
  const bare = (text: string): string => text.replace(/[^0-9A-Z]/gi, '').replace(/^0+/, '');
  return reported === null || (stored !== null && bare(reported) === bare(stored));
}

function receivedBy(userId: number, item: WebhookItem): ReceivedPix | null {
  const { amountCents, payee, ids } = item;
  if (amountCents === null || amountCents <= 0) return null;
  const { endToEnd, providerTxid } = ids;
  return { userId, amountCents, pixKey: payee.key, endToEnd, providerTxid, at: item.at ?? null };
}

/**
 * Decides a payment that names a completed charge and cannot be the one that completed it for
 * certain. A static code may be paid many times: a payment with another id of the provider is
 * recorded, and without one a person must decide. A dynamic code is paid once.
 */
export function decidePaidAgain(
  { eventId, item, settledId }: FinalItem,
  charge: CandidateRow,
  { candidates }: Candidates,
): Decision {
  const already = { kind: 'skip', result: 'already', transaction: charge } as const;
  const known = findRecorded(item, candidates);
  if (known) return decideDuplicate(item, known);
  if (settledId === charge.id) return already;
  const isOther = isOtherPayment(item, charge);
  const isStatic = charge.expiresAt === null;
  const received = isOther && isStatic ? receivedBy(charge.userId, item) : null;
  if (received) return { kind: 'record', received };
  const isCertain = !isOther && (!isStatic || isSamePayment(eventId, item, charge));
  return isCertain
    ? already
    : { kind: 'flag', transaction: charge, reason: 'paid_again_without_id' };
}

/** Whether an item certainly reports the payment that has completed a charge. */
function isSamePayment(eventId: string | null, { ids }: WebhookItem, { paidBy: by }: CandidateRow) {
  const [paidByEvent = null, paidTxid = null] = by ?? [];
  return isSameId(paidByEvent, eventId) || isSameId(paidTxid, ids.providerTxid);
}

/**
 * Whether an item reports another payment than the one that has completed a charge: the provider's
 * ids of both are known, and the item's is not that of the charge itself.
 */
export function isOtherPayment({ ids }: WebhookItem, charge: CandidateRow): boolean {
  const { providerTxid } = ids;
  const [, paidTxid = null] = charge.paidBy ?? [];
  const isOfCharge =
    isSameId(paidTxid, providerTxid) || isSameId(charge.providerTxid, providerTxid);
  return providerTxid !== null && paidTxid !== null && !isOfCharge;
}

/**
 * A received PIX that completes no charge is recorded: for the owner of the charge that it pays
 * once more, or for the account that it names.
 */
export function decideUnmatched(
  { eventId, item }: FinalItem,
  { candidates, payees }: Candidates,
): Decision {
  const unmatched = { kind: 'skip', result: 'parked', reason: 'no_match' } as const;
  const { endToEnd } = item.ids;
  const again = findReceipt(item, candidates);
  if (again) return decideDuplicate(item, again);
  if (item.kind !== 'received' || item.status !== 'COMPLETED' || endToEnd === null) {
    return unmatched;
  }
  const known = findRecorded(item, candidates);
  if (known) {
    const decision = decideDuplicate(item, known);
    const waits = decision.kind === 'flag' && mayNameCharge(item);
    if (waits) return { ...unmatched, reportNow: decision };
    const isIdentified = known.endToEnd !== null || decision.kind === 'flag';
    return isIdentified ? decision : { kind: 'identify', transaction: known, endToEnd, eventId };
  }
  const userId = soleMatch(item, payees, chargeNamed(item, candidates));
  const received = userId === null ? null : receivedBy(userId, item);
  return received === null ? unmatched : { kind: 'record', received };
}

/**
 * The received PIX that an item reports once more without saying which way it went: no send has its
 * end-to-end id.
 */
function findReceipt(
  { kind, status, ids }: WebhookItem,
  candidates: readonly CandidateRow[],
): CandidateRow | undefined {
  const isReceipt =
    kind === 'payment' &&
    status === 'COMPLETED' &&
    ids.endToEnd !== null &&
    ids.clientRequestId === null &&
    candidates.every(({ operation }) => operation !== 'SEND');
  return isReceipt ? candidates.find((one) => isSameId(one.endToEnd, ids.endToEnd)) : undefined;
}

/** The charge may get an id yet: what was recorded first need not be what is right. */
function mayNameCharge({ ids }: WebhookItem): boolean {
  return ids.transactionIdentification !== null || ids.providerTxid !== null;
}

/**
 * @param charge the charge that the item names, if it names one: then only its owner is the payee.
 * @returns the one user whom an item names, or null: two would be a guess.
 */
function soleMatch(
  item: WebhookItem,
  payees: readonly PayeeRow[],
  charge?: CandidateRow,
): number | null {
  if (!charge) return uniquePayee(payees);
  return isForOwner(item, payees, charge) ? charge.userId : null;
}

/** The one user whom every identifier names, or null: two would be a guess. */
function uniquePayee([first, second]: readonly PayeeRow[]): number | null {
  return first?.agrees && !second?.agrees ? first.userId : null;
}
