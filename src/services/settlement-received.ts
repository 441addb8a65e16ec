/** What is decided about a PIX that came in and completes no charge. */
import type { LocalContext } from '../context.ts';
import { findPayees, type PayeeRow } from '../db/queries/find-payees.ts';
import type { CandidateRow } from '../db/queries/pix-row.ts';
import { centsFromDecimal } from '../domain/money.ts';
import { chargeNamed, recordOf } from '../domain/settlement.ts';
import type { ProviderEvent } from '../provider/webhook-events.ts';
import type { Decision, Flag, ReceivedPix, Told } from './settlement-kinds.ts';

/** One end-to-end id is one payment: what it has brought is told once more, or told otherwise. */
export function decideOnKnown({ amountCents }: ProviderEvent, transaction: CandidateRow): Decision {
  const agrees = amountCents === null || amountCents === centsFromDecimal(transaction.amount);
  return agrees
    ? { kind: 'leave', result: 'already', transaction }
    : { kind: 'flag', transaction, reason: 'amount_mismatch' };
}

/**
 * A PIX that contradicts the charge that it names, by its amount or because the charge has failed,
 * has come in all the same: it is recorded, once, for the account that it names or for the owner of
 * the charge. Not if it has brought something already: then it is one payment told otherwise.
 * @param flag what is flagged of the charge.
 */
export async function decideBeside(
  context: LocalContext,
  { item, status }: Told,
  { flag, candidates }: { flag: Flag; candidates: readonly CandidateRow[] },
): Promise<Decision> {
  const { endToEnd } = item.ids;
  if (item.kind !== 'received' || status !== 'COMPLETED' || endToEnd === null) return flag;
  const known = recordOf(item, candidates);
  if (known) {
    const told = decideOnKnown(item, known);
    return told.kind === 'flag' ? told : flag;
  }
  const hasPaid = candidates.some(
    (one) => one.operation === 'CHARGE' && one.end_to_end === endToEnd,
  );
  const { transaction, reason } = flag;
  const userId = (await payeeOf(context, item)) ?? transaction.user_id;
  const received = receivedBy(userId, item, endToEnd);
  const isRecorded = received !== null && !hasPaid;
  return isRecorded ? { kind: 'record', received, beside: { transaction, reason } } : flag;
}

function receivedBy(userId: number, item: ProviderEvent, endToEnd: string): ReceivedPix | null {
  const { amountCents, payee, ids } = item;
  if (amountCents === null || amountCents <= 0) return null;
  return { userId, amountCents, pixKey: payee.key, endToEnd, providerTxid: ids.providerTxid };
}

/**
 * A PIX that came in and completes no charge is recorded: for the owner of the charge that it pays
 * once more, or for the account that it names.
 */
export async function decideUnmatched(
  context: LocalContext,
  item: ProviderEvent,
  candidates: readonly CandidateRow[],
): Promise<Decision> {
  const unmatched = { kind: 'leave', result: 'parked', reason: 'no_match' } as const;
  const { endToEnd } = item.ids;
  const told = toldOfReceipt(item, candidates);
  if (told) return decideOnKnown(item, told);
  if (item.kind !== 'received' || item.status !== 'COMPLETED' || endToEnd === null) {
    return unmatched;
  }
  const known = recordOf(item, candidates);
  if (known) {
    const decision = decideOnKnown(item, known);
    const waits = decision.kind === 'flag' && mayNameCharge(item);
    return waits ? { ...unmatched, meanwhile: decision } : decision;
  }
  const userId = chargeNamed(item, candidates)?.user_id ?? (await payeeOf(context, item));
  const received = userId === null ? null : receivedBy(userId, item, endToEnd);
  return received === null ? unmatched : { kind: 'record', received };
}

/**
 * What a PIX has brought that came in, told once more by an item that does not say which way it
 * went: no send of ours has its end-to-end id.
 */
function toldOfReceipt(
  { kind, status, ids }: ProviderEvent,
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
function mayNameCharge({ ids }: ProviderEvent): boolean {
  return ids.transactionIdentification !== null || ids.providerTxid !== null;
}

/** @returns the one user whose account an item names, or null: two would be a guess. */
async function payeeOf(context: LocalContext, { payee }: ProviderEvent): Promise<number | null> {
  const { document, accountNumber, key } = payee;
  const payees = await context.db.query<PayeeRow>(findPayees, [document, accountNumber, key]);
  return payees.length === 1 ? (payees[0]?.user_id ?? null) : null;
}
