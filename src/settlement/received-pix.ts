/** The decision about a received PIX that completes no charge. It is pure. */
import { centsFromDecimal } from '../domain/money.ts';
import { chargeNamed, recordOf, type Match } from '../domain/settlement.ts';
import type { WebhookItem } from '../provider/webhook-events.ts';
import type { Decision, FinalItem, Flag } from './decision.ts';
import type { CandidateRow, Facts, PayeeRow, ReceivedPix } from './transaction-repository.ts';

/** One end-to-end id is one payment: the item repeats what is recorded, or contradicts it. */
export function decideOnKnown({ amountCents }: WebhookItem, transaction: CandidateRow): Decision {
  const agrees = amountCents === null || amountCents === centsFromDecimal(transaction.amount);
  return agrees
    ? { kind: 'skip', result: 'already', transaction }
    : { kind: 'flag', transaction, reason: 'amount_mismatch' };
}

/**
 * A PIX that contradicts the charge that it names, by its amount or because the charge has failed,
 * was received all the same: it is recorded, once, for the owner of the charge. It is not recorded
 * if it names another account, or if the same payment has been recorded under another event.
 * @param flag what is flagged of the charge.
 */
export function decideBeside(
  { item, status }: FinalItem,
  flag: Flag,
  { candidates, payees }: Facts,
): Decision {
  const { endToEnd } = item.ids;
  if (item.kind !== 'received' || status !== 'COMPLETED' || endToEnd === null) return flag;
  const known = recordOf(item, candidates);
  if (known) {
    const ofKnown = decideOnKnown(item, known);
    return ofKnown.kind === 'flag' ? ofKnown : { ...flag, recorded: known };
  }
  const hasPaid = candidates.some(
    (one) => one.operation === 'CHARGE' && one.end_to_end === endToEnd,
  );
  const { transaction, reason } = flag;
  const userId = payeeOf(payees, transaction);
  const received = userId === null ? null : receivedBy(userId, item, endToEnd);
  const isRecorded = received !== null && !hasPaid;
  return isRecorded ? { kind: 'record', received, beside: { transaction, reason } } : flag;
}

/**
 * Compares a match with the payee that the item names: the identification of one user's charge
 * and, in every identifier, another user's account belong to two payments. Identifiers that name
 * no account for certain do not count against the identification.
 * @returns the match, or that the item contradicts it.
 */
export function agreedByPayee(
  { kind }: WebhookItem,
  match: Match<CandidateRow>,
  { payees }: Facts,
): Match<CandidateRow> {
  const isOfCharge = match.kind === 'transaction' || match.kind === 'identifies';
  if (!isOfCharge || kind !== 'received') return match;
  const { transaction } = match;
  const userId = clearPayee(payees);
  return userId === null || userId === transaction.user_id
    ? match
    : { kind: 'contradiction', transaction, reason: 'payee_disagrees' };
}

function receivedBy(userId: number, item: WebhookItem, endToEnd: string): ReceivedPix | null {
  const { amountCents, payee, ids } = item;
  if (amountCents === null || amountCents <= 0) return null;
  const { providerTxid } = ids;
  return { userId, amountCents, pixKey: payee.key, endToEnd, providerTxid, at: item.at ?? null };
}

/**
 * A received PIX that completes no charge is recorded: for the owner of the charge that it pays
 * once more, or for the account that it names.
 */
export function decideUnmatched(item: WebhookItem, { candidates, payees }: Facts): Decision {
  const unmatched = { kind: 'skip', result: 'parked', reason: 'no_match' } as const;
  const { endToEnd } = item.ids;
  const again = receiptOf(item, candidates);
  if (again) return decideOnKnown(item, again);
  if (item.kind !== 'received' || item.status !== 'COMPLETED' || endToEnd === null) {
    return unmatched;
  }
  const known = recordOf(item, candidates);
  if (known) {
    const decision = decideOnKnown(item, known);
    const waits = decision.kind === 'flag' && mayNameCharge(item);
    return waits ? { ...unmatched, meanwhile: decision } : decision;
  }
  const userId = payeeOf(payees, chargeNamed(item, candidates));
  const received = userId === null ? null : receivedBy(userId, item, endToEnd);
  return received === null ? unmatched : { kind: 'record', received };
}

/**
 * The received PIX that an item reports once more without saying which way it went: no send has its
 * end-to-end id.
 */
function receiptOf(
  { kind, status, ids }: WebhookItem,
  candidates: readonly CandidateRow[],
): CandidateRow | undefined {
  const isReceipt =
    kind === 'payment' &&
    status === 'COMPLETED' &&
    ids.endToEnd !== null &&
    ids.clientRequestId === null &&
    candidates.every(({ operation }) => operation !== 'SEND');
  return isReceipt ? candidates.find((one) => one.end_to_end === ids.endToEnd) : undefined;
}

/** The charge may get an id yet: what was recorded first need not be what is right. */
function mayNameCharge({ ids }: WebhookItem): boolean {
  return ids.transactionIdentification !== null || ids.providerTxid !== null;
}

/**
 * @param charge the charge that the item names, if it names one: its owner is the payee then,
 *   unless the item names another account.
 * @returns the one user whom an item names, or null: two would be a guess.
 */
function payeeOf(payees: readonly PayeeRow[], charge?: CandidateRow): number | null {
  const clear = clearPayee(payees);
  if (!charge) return clear;
  const named = clear === null ? payees.map((one) => one.user_id) : [clear];
  return named.every((userId) => userId === charge.user_id) ? charge.user_id : null;
}

/** Whether an item names a user's account, and no other, as its payee. */
export function namesPayee({ payees }: Pick<Facts, 'payees'>, userId: number): boolean {
  return clearPayee(payees) === userId;
}

/** The one user whom every identifier names, or null: two would be a guess. */
function clearPayee([first, second]: readonly PayeeRow[]): number | null {
  return first?.agrees && !second?.agrees ? first.user_id : null;
}
