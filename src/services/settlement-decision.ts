/**
 * What an item of an event asks for, decided from what is stored. Nothing here writes, so that the
 * same decision can be carried out or only be shown.
 */
import type { LocalContext } from '../context.ts';
import { findPayees, type PayeeRow } from '../db/queries/find-payees.ts';
import { findCandidates } from '../db/queries/find-candidates.ts';
import type { CandidateRow } from '../db/queries/pix-row.ts';
import { centsFromDecimal } from '../domain/money.ts';
import { phasesOpenToSettlement, type PixStatus } from '../domain/pix.ts';
import { chargeNamed, findMeant } from '../domain/settlement.ts';
import type { ProviderEvent } from '../provider/webhook-events.ts';
import type { Move } from './pix-transactions.ts';

/** A PIX that came in without a charge that it completes. */
export interface ReceivedPix {
  readonly userId: number;
  readonly amountCents: number;
  readonly pixKey: string | null;
  readonly endToEnd: string;
  readonly providerTxid: string | null;
}

export type Decision =
  /** Nothing is to be done, or not yet. */
  | {
      readonly kind: 'leave';
      readonly result: 'ignored' | 'already' | 'parked';
      readonly reason?: string;
      readonly transaction?: CandidateRow;
    }
  | { readonly kind: 'move'; readonly transaction: CandidateRow; readonly move: Move }
  | { readonly kind: 'record'; readonly received: ReceivedPix }
  /** The end-to-end id of the payment that completed a charge is known now. */
  | {
      readonly kind: 'identify';
      readonly transaction: CandidateRow;
      readonly endToEnd: string;
      readonly eventId: string;
    }
  /** It contradicts what is stored: for a person to look at. */
  | { readonly kind: 'flag'; readonly transaction: CandidateRow; readonly reason: string };

/** An item that says how something ended, and the event that it stands in. */
interface Told {
  readonly eventId: string;
  readonly item: ProviderEvent;
  readonly status: Exclude<PixStatus, 'PROCESSING'>;
}

/**
 * Decides what becomes of an item.
 * @param imagined transactions as they would stand; they count in place of the stored ones.
 */
export async function decide(
  context: LocalContext,
  { eventId, item }: Pick<Told, 'eventId' | 'item'>,
  imagined: readonly CandidateRow[] = [],
): Promise<Decision> {
  const { status } = item;
  if (item.kind === 'ignored' || status === null || status === 'PROCESSING') {
    return { kind: 'leave', result: 'ignored', reason: item.ignoredBecause ?? 'processing' };
  }
  const candidates = await candidatesFor(context, item, imagined);
  const match = findMeant(item, candidates);
  switch (match.kind) {
    case 'transaction':
      return decideOn({ eventId, item, status }, match.transaction);
    case 'identifies': {
      const { transaction, endToEnd } = match;
      return status === 'COMPLETED'
        ? { kind: 'identify', transaction, endToEnd, eventId }
        : decideOn({ eventId, item, status }, transaction);
    }
    case 'contradiction':
      return { kind: 'flag', transaction: match.transaction, reason: match.reason };
    case 'paid_before':
      return decideOnKnown(item, match.transaction);
    case 'none':
      return decideUnmatched(context, item, candidates);
  }
}

async function candidatesFor(
  context: LocalContext,
  { ids }: ProviderEvent,
  imagined: readonly CandidateRow[],
): Promise<CandidateRow[]> {
  const stored = await context.db.query<CandidateRow>(findCandidates, [
    ids.endToEnd,
    ids.clientRequestId,
    ids.transactionIdentification,
    ids.providerTxid,
  ]);
  const isImagined = new Set(imagined.map(({ id }) => id));
  return [...imagined, ...stored.filter(({ id }) => !isImagined.has(id))];
}

function decideOn(told: Told, transaction: CandidateRow): Decision {
  if (transaction.status === told.status) return { kind: 'leave', result: 'already', transaction };
  if (transaction.status !== 'PROCESSING') {
    return { kind: 'flag', transaction, reason: 'contradicts_final_status' };
  }
  const move = settlementOf(told, transaction);
  if (move.from.includes(transaction.phase)) return { kind: 'move', transaction, move };
  // No payment of ours can have left yet: the transaction may still come to where this fits.
  return { kind: 'leave', result: 'parked', reason: 'not_paying_yet', transaction };
}

function settlementOf({ status, item, eventId }: Told, transaction: CandidateRow): Move {
  const charge = transaction.operation === 'CHARGE';
  const unsure = transaction.outcome === null || transaction.outcome === 'unknown';
  return {
    // A charge can be paid as soon as the provider has made it, whether or not we heard of it.
    from: charge ? ['RESERVED', ...phasesOpenToSettlement] : phasesOpenToSettlement,
    to: 'SETTLED',
    status,
    ...(unsure && { outcome: status === 'COMPLETED' ? 'accepted' : 'rejected' }),
    ...(status === 'FAILED' && { failureCode: failureCodeOf(item) }),
    endToEnd: charge ? item.ids.endToEnd : null,
    providerTxid: item.ids.providerTxid,
    timeline: [{ phase: 'SETTLED', eventId, note: status }],
  };
}

/** Why a transaction failed: the provider's reason, where it gives one. */
export function failureCodeOf({ reason }: Pick<ProviderEvent, 'reason'>): string {
  return reason ?? 'PROVIDER_REJECTED';
}

/** One end-to-end id is one payment: what it has brought is told once more, or told otherwise. */
function decideOnKnown({ amountCents }: ProviderEvent, transaction: CandidateRow): Decision {
  const agrees = amountCents === null || amountCents === centsFromDecimal(transaction.amount);
  return agrees
    ? { kind: 'leave', result: 'already', transaction }
    : { kind: 'flag', transaction, reason: 'amount_mismatch' };
}

/**
 * A PIX that came in and completes no charge is recorded: for the owner of the charge that it pays
 * once more, or for the account that it names.
 */
async function decideUnmatched(
  context: LocalContext,
  item: ProviderEvent,
  candidates: readonly CandidateRow[],
): Promise<Decision> {
  const unmatched: Decision = { kind: 'leave', result: 'parked', reason: 'no_match' };
  const { endToEnd, providerTxid } = item.ids;
  if (item.kind !== 'received' || item.status !== 'COMPLETED' || endToEnd === null) {
    return unmatched;
  }
  const known = candidates.find(
    (one) => one.operation === 'RECEIVED' && one.end_to_end === endToEnd,
  );
  if (known) return decideOnKnown(item, known);
  const { amountCents } = item;
  if (amountCents === null || amountCents <= 0) return unmatched;
  const userId = chargeNamed(item, candidates)?.user_id ?? (await payeeOf(context, item));
  if (userId === null) return unmatched;
  const { key: pixKey } = item.payee;
  return { kind: 'record', received: { userId, amountCents, pixKey, endToEnd, providerTxid } };
}

/** @returns the one user whose account an item names, or null: two would be a guess. */
async function payeeOf(context: LocalContext, { payee }: ProviderEvent): Promise<number | null> {
  const { document, accountNumber, key } = payee;
  const payees = await context.db.query<PayeeRow>(findPayees, [document, accountNumber, key]);
  return payees.length === 1 ? (payees[0]?.user_id ?? null) : null;
}
