/**
 * What an item of an event asks for, decided from what is stored. Nothing here writes, so that the
 * same decision can be carried out or only be shown.
 */
import type { LocalContext } from '../context.ts';
import { findCandidates } from '../db/queries/find-candidates.ts';
import type { CandidateRow } from '../db/queries/pix-row.ts';
import { normalisePixKey } from '../domain/pix-key.ts';
import { phasesOpenToFailure, phasesOpenToSettlement } from '../domain/pix.ts';
import { chargeNamed, chargePaid, findMeant, openNamed } from '../domain/settlement.ts';
import type { IgnoredBecause, ProviderEvent } from '../provider/webhook-events.ts';
import type { Move } from '../pix/transactions.ts';
import { failureCodeOf, type Decision, type Told } from './event-kinds.ts';
import { agreedByPayee, decideBeside, decideOnKnown, decideUnmatched } from './received-pix.ts';

/**
 * Decides what becomes of an item.
 * @param imagined transactions as they would stand; they count in place of the stored ones.
 * @returns one decision, or two where it tells how a send of ours ended and that it paid a charge
 *   of ours: each is to be carried out.
 */
export async function decide(
  context: LocalContext,
  { eventId, item }: Pick<Told, 'eventId' | 'item'>,
  imagined: readonly CandidateRow[] = [],
): Promise<readonly Decision[]> {
  const { status } = item;
  if (item.kind === 'ignored' || status === null || status === 'PROCESSING') {
    return [await decideIgnored(context, item, imagined)];
  }
  const candidates = await candidatesFor(context, item, imagined);
  const told = { eventId, item: directed(item, candidates), status };
  const charge = chargeOrSend(told, candidates);
  if (charge) return [{ kind: 'flag', transaction: charge, reason: 'ids_disagree' }];
  if (!paysCharge(told, candidates)) {
    return told.item === item
      ? [await decideTold(context, told, candidates)]
      : decideBothSides(context, { ...told, item }, candidates);
  }
  const asReceived = { ...told, item: { ...item, kind: 'received' } } as const;
  if (!isSendOf(item, candidates)) return [await decideTold(context, asReceived, candidates)];
  const ofSend = await decideTold(context, told, candidates);
  return isSettled(ofSend) ? [ofSend, await decideTold(context, asReceived, candidates)] : [ofSend];
}

/**
 * What stands where received PIX stand and settles a send of ours has come in as well, where its
 * key is another user's: one item may be all that the provider tells of both sides.
 */
async function decideBothSides(
  context: LocalContext,
  asReceived: Told,
  candidates: readonly CandidateRow[],
): Promise<readonly Decision[]> {
  const asSent = { ...asReceived, item: { ...asReceived.item, kind: 'payment' } } as const;
  const ofSend = await decideTold(context, asSent, candidates);
  // A send that was called failed, and is told to be through, has come in all the same.
  const isContradicted = ofSend.kind === 'flag' && ofSend.reason === 'contradicts_final_status';
  if (!isSettled(ofSend) && !isContradicted) return [ofSend];
  const received = await decideTold(context, asReceived, candidates);
  return received.kind === 'record' ? [ofSend, received] : [ofSend];
}

/** Whether a decision finds the end of a transaction, or that it has ended so. */
function isSettled(decision: Decision): boolean {
  return decision.kind === 'move' || (decision.kind === 'leave' && !isParked(decision));
}

/**
 * What stands where received PIX stand, and does not say that it came in, is the payment of a send
 * of ours that has its end-to-end id and went to its key.
 */
function directed(item: ProviderEvent, candidates: readonly CandidateRow[]): ProviderEvent {
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
 * Whether a payment that an item tells of has paid a charge: where no send of ours is told by the
 * key that it was made with. That key is in the payer's events, which tell of the send alone.
 */
function paysCharge(told: Told, candidates: readonly CandidateRow[]): boolean {
  if (told.status !== 'COMPLETED' || isOfPayer(told, candidates)) return false;
  return chargePaid(told.item, candidates) !== undefined;
}

/** Keys are each user's own: a payment of another end-to-end id is another user's. */
function isOfPayer({ item }: Told, candidates: readonly CandidateRow[]): boolean {
  const { clientRequestId, endToEnd } = item.ids;
  return candidates.some(
    (one) =>
      one.operation === 'SEND' &&
      one.idempotency_key === clientRequestId &&
      (endToEnd === null || one.end_to_end === null || one.end_to_end === endToEnd),
  );
}

/**
 * The charge of an item that names it, by its identification and its amount, and a send by nothing
 * but a key, which another user's payment may have as well: it tells neither.
 */
function chargeOrSend(told: Told, candidates: readonly CandidateRow[]): CandidateRow | undefined {
  const isByKeyAlone = told.item.ids.endToEnd === null && isOfPayer(told, candidates);
  return isByKeyAlone ? chargePaid(told.item, candidates) : undefined;
}

/**
 * Whether it tells of a send as well: a user may pay another one, and both sides have one
 * end-to-end id. Somebody else's key says that it is the other side that speaks.
 */
function isSendOf({ ids }: ProviderEvent, candidates: readonly CandidateRow[]): boolean {
  return ids.clientRequestId === null && candidates.some(({ operation }) => operation === 'SEND');
}

async function decideTold(
  context: LocalContext,
  told: Told,
  candidates: readonly CandidateRow[],
): Promise<Decision> {
  const { item, status, eventId } = told;
  const match = await agreedByPayee(context, item, findMeant(item, candidates));
  switch (match.kind) {
    case 'transaction': {
      const decision = decideOn(told, match.transaction);
      if (decision.kind !== 'flag') return decision;
      return decideBeside(context, told, { flag: decision, candidates });
    }
    case 'identifies': {
      const { transaction, endToEnd } = match;
      return status === 'COMPLETED'
        ? { kind: 'identify', transaction, endToEnd, eventId }
        : decideOn(told, transaction);
    }
    case 'contradiction': {
      const { transaction, reason } = match;
      return decideBeside(context, told, {
        flag: { kind: 'flag', transaction, reason },
        candidates,
      });
    }
    case 'paid_before':
      return decideOnKnown(item, match.transaction);
    case 'none':
      return decideUnmatched(context, item, candidates);
  }
}

/** What was not understood, and may be the end of a transaction that waits for it. */
const notUnderstood: ReadonlySet<IgnoredBecause> = new Set([
  'unknown_event',
  'unknown_status',
  'contradictory_status',
  'contradictory_id',
  'unreadable_amount',
  'reversal',
  'duplicate',
] satisfies IgnoredBecause[]);

/** What moves nothing may still contradict what has come in, or speak of what is open. */
async function decideIgnored(
  context: LocalContext,
  item: ProviderEvent,
  imagined: readonly CandidateRow[],
): Promise<Decision> {
  const reason = item.ignoredBecause ?? 'processing';
  const ignored: Decision = { kind: 'leave', result: 'ignored', reason };
  const isToBeSeen = reason === 'not_received' || notUnderstood.has(reason);
  if (!isToBeSeen || Object.values(item.ids).every((id) => id === null)) return ignored;
  const candidates = await candidatesFor(context, item, imagined);
  const cameIn = reason === 'not_received' ? cameInAlready(item, candidates) : undefined;
  if (cameIn) return { kind: 'flag', transaction: cameIn, reason: 'contradicts_final_status' };
  // That nothing came in is news of a send, whose end it may be, and none of an open charge.
  const sends = candidates.filter(({ operation }) => operation === 'SEND');
  const transaction = openNamed(item, reason === 'not_received' ? sends : candidates);
  return transaction ? { kind: 'unread', transaction, reason } : ignored;
}

/** What has come in by the very PIX that has failed now; without an id, the charge it was for. */
function cameInAlready(
  item: ProviderEvent,
  candidates: readonly CandidateRow[],
): CandidateRow | undefined {
  const { endToEnd } = item.ids;
  const cameIn = candidates.filter(
    ({ operation, status }) => operation !== 'SEND' && status === 'COMPLETED',
  );
  return endToEnd === null
    ? chargeNamed(item, cameIn)
    : cameIn.find(({ end_to_end: stored }) => stored === endToEnd);
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
  if (imagined.length === 0) return stored;
  const found = new Set(stored.map(({ id }) => id));
  const meant = imagined.filter(
    (one) =>
      found.has(one.id) ||
      (ids.endToEnd !== null && one.end_to_end === ids.endToEnd) ||
      (ids.providerTxid !== null && one.provider_txid === ids.providerTxid),
  );
  const isMeant = new Set(meant.map(({ id }) => id));
  return [...meant, ...stored.filter(({ id }) => !isMeant.has(id))];
}

function decideOn(told: Told, transaction: CandidateRow): Decision {
  if (transaction.status === told.status) return { kind: 'leave', result: 'already', transaction };
  if (transaction.status !== 'PROCESSING') {
    return { kind: 'flag', transaction, reason: 'contradicts_final_status' };
  }
  const move = settlementOf(told, transaction);
  const isDoubtful = told.status === 'FAILED' && transaction.repeated;
  if (isDoubtful && move.from.includes(transaction.phase)) {
    return { kind: 'flag', transaction, reason: 'failed_after_repeat' };
  }
  if (move.from.includes(transaction.phase)) return { kind: 'move', transaction, move };
  // Before PAYING no payment of ours can have left, and during PAYING another attempt may leave:
  // the transaction may still come to where this fits.
  const reason = transaction.phase === 'PAYING' ? 'still_paying' : 'not_paying_yet';
  return { kind: 'leave', result: 'parked', reason, transaction };
}

function settlementOf({ status, item, eventId }: Told, transaction: CandidateRow): Move {
  const charge = transaction.operation === 'CHARGE';
  const unsure = transaction.outcome === null || transaction.outcome === 'unknown';
  const ofSend = status === 'FAILED' ? phasesOpenToFailure : phasesOpenToSettlement;
  return {
    // A charge can be paid as soon as the provider has made it, whether or not we heard of it.
    from: charge ? ['RESERVED', ...phasesOpenToSettlement] : ofSend,
    to: 'SETTLED',
    status,
    ...(unsure && { outcome: status === 'COMPLETED' ? 'accepted' : 'rejected' }),
    ...(status === 'FAILED' && { failureCode: failureCodeOf(item) }),
    endToEnd: charge ? item.ids.endToEnd : null,
    providerTxid: item.ids.providerTxid,
    timeline: [{ phase: 'SETTLED', eventId, note: status }],
  };
}
