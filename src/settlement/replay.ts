/** Settling a stored event once more for an operator, or only showing what that would do. */
import type { LocalContext } from '../context/context.ts';
import { decimalFromCents } from '../domain/money.ts';
import type { PixStatus } from '../domain/pix.ts';
import type { WebhookItem } from '../provider/webhook-events.ts';
import type { ItemResult } from './apply.ts';
import { contradictedItems, failuresLast } from './contradictions.ts';
import { decide } from './decide.ts';
import { needsFacts } from './ignored-item.ts';
import type { Decision } from './decision.ts';
import { readEvent, mapSettledIds } from './event-reader.ts';
import { findEvent, type WebhookEventStatus } from './event-repository.ts';
import { eventStatus, settleEvent, type Settlement } from './settle-event.ts';
import { loadCandidatesIfNeeded } from './settle-items.ts';
import type { CandidateRow, ReceivedPix } from './transaction-repository.ts';

/** There is nothing to settle from: no such event, or its payload was purged with age. */
export type NothingToReplay =
  { readonly kind: 'missing' } | { readonly kind: 'purged'; readonly status: WebhookEventStatus };

export type Replay = NothingToReplay | ({ readonly kind: 'replayed' } & Settlement);

/**
 * Settles an event again from its stored payload, now, whatever its status: every item is settled
 * again, and what was applied is found applied. What still matches nothing is parked for another
 * day, and its job queued in the same commit.
 */
export async function replayEvent(context: LocalContext, eventId: string): Promise<Replay> {
  const waitingSince = context.clock.now();
  const options = { force: true, queuesJob: true, waitingSince };
  const settlement = await settleEvent(context, eventId, options);
  return settlement ? { kind: 'replayed', ...settlement } : nothingToReplay(context, eventId);
}

async function nothingToReplay(context: LocalContext, eventId: string): Promise<NothingToReplay> {
  const event = await findEvent(context, eventId);
  return event ? { kind: 'purged', status: event.status } : { kind: 'missing' };
}

/** What a replay would make of one item. */
export interface ItemPreview {
  /** The item's place in the payload, from 0; an item about two transactions has two previews. */
  readonly index: number;
  /** The provider's word for the event, printable and cut. */
  readonly name: string;
  readonly result: ItemResult;
  readonly reason?: string;
  /** The transaction that is meant; none where one would be made. */
  readonly transactionId?: string;
  /** Its status before and after; `from` is null where the transaction would be made. */
  readonly from?: PixStatus | null;
  readonly to?: PixStatus;
}

export type Preview =
  | NothingToReplay
  | {
      readonly kind: 'preview';
      /** The status of the event, and its status after a replay. */
      readonly status: WebhookEventStatus;
      readonly statusAfter: WebhookEventStatus;
      readonly items: readonly ItemPreview[];
    };

/**
 * Says what a replay of an event would do, item by item, each as if those before it had been
 * carried out. It changes, counts and logs nothing.
 */
export async function previewEvent(context: LocalContext, eventId: string): Promise<Preview> {
  const event = await findEvent(context, eventId);
  if (!event) return { kind: 'missing' };
  const read = await readEvent(context.dialects, event);
  if (!read) return { kind: 'purged', status: event.status };
  const settledIds = mapSettledIds(read);
  const contradicted = contradictedItems(read.items);
  const { receivedAt } = read;
  const items: ItemPreview[] = [];
  // The newest first: of two that represent one transaction the later one counts.
  const imagined: CandidateRow[] = [];
  for (const item of failuresLast(read.items)) {
    const { index, name } = item;
    const { candidates, payees } = await loadCandidatesIfNeeded(context, item);
    const facts = { candidates: withImagined(item, candidates, imagined), payees };
    const settledId = settledIds.get(index);
    const isContradicted = contradicted.has(index);
    const of = { eventId, item, receivedAt, isContradicted, settledId };
    for (const decision of decide(of, facts)) {
      items.push({ index, name, ...shown(decision, settledId) });
      const after = imagine(decision);
      if (after) imagined.unshift(after);
    }
  }
  items.sort((one, other) => one.index - other.index);
  return { kind: 'preview', status: event.status, statusAfter: eventStatus(items), items };
}

/** The candidates of an item; imagined transactions count in place of the stored ones. */
function withImagined(
  item: WebhookItem,
  stored: readonly CandidateRow[],
  imagined: readonly CandidateRow[],
): readonly CandidateRow[] {
  if (imagined.length === 0 || !needsFacts(item)) return stored;
  const { endToEnd, providerTxid } = item.ids;
  const found = new Set(stored.map(({ id }) => id));
  const meant = imagined.filter(
    (one) =>
      found.has(one.id) ||
      (endToEnd !== null && one.end_to_end === endToEnd) ||
      (providerTxid !== null && one.provider_txid === providerTxid),
  );
  const isMeant = new Set(meant.map(({ id }) => id));
  return [...meant, ...stored.filter(({ id }) => !isMeant.has(id))];
}

function shown(decision: Decision, settledId?: string): Omit<ItemPreview, 'index' | 'name'> {
  switch (decision.kind) {
    case 'move': {
      const { transaction, move } = decision;
      const { id: transactionId, status: from } = transaction;
      return { result: 'applied', transactionId, from, to: move.status };
    }
    case 'identify':
      return { result: 'already', ...unmoved(decision.transaction) };
    case 'refund':
      return settledId === undefined
        ? { result: 'applied', from: null, to: 'COMPLETED' }
        : { result: 'already', transactionId: settledId, from: 'COMPLETED', to: 'COMPLETED' };
    case 'record':
      return decision.beside
        ? shown({ kind: 'flag', ...decision.beside })
        : { result: 'applied', from: null, to: 'COMPLETED' };
    case 'unread':
      return { result: 'ignored', reason: decision.reason, ...unmoved(decision.transaction) };
    case 'suspect':
    case 'flag':
      return { result: 'anomaly', reason: decision.reason, ...unmoved(decision.transaction) };
    case 'correct': {
      const { id: transactionId, status: from } = decision.transaction;
      return { result: 'anomaly', reason: 'corrected', transactionId, from, to: 'COMPLETED' };
    }
    case 'skip': {
      const { result, reason, transaction } = decision;
      return { result, ...(reason !== undefined && { reason }), ...unmoved(transaction) };
    }
  }
}

function unmoved(transaction: CandidateRow | undefined) {
  if (!transaction) return {};
  const { id: transactionId, status } = transaction;
  return { ...(transactionId !== notMade && { transactionId }), from: status, to: status };
}

/** In place of the id of a transaction that is only imagined. */
const notMade = '';

/** @returns the transaction as it would be afterwards, or null where nothing would change. */
function imagine(decision: Decision): CandidateRow | null {
  if (decision.kind === 'move') {
    const { transaction, move } = decision;
    return {
      ...transaction,
      phase: move.to,
      status: move.status,
      end_to_end: move.endToEnd ?? transaction.end_to_end,
      provider_txid: move.providerTxid ?? transaction.provider_txid,
    };
  }
  if (decision.kind === 'identify') {
    return { ...decision.transaction, end_to_end: decision.endToEnd };
  }
  if (decision.kind === 'correct') {
    const { transaction, endToEnd, providerTxid } = decision;
    return {
      ...transaction,
      phase: 'SETTLED',
      status: 'COMPLETED',
      end_to_end: endToEnd ?? transaction.end_to_end,
      provider_txid: providerTxid ?? transaction.provider_txid,
    };
  }
  return decision.kind === 'record' ? imagineReceived(decision.received) : null;
}

function imagineReceived(received: ReceivedPix): CandidateRow {
  return {
    id: notMade,
    user_id: received.userId,
    ...({
      operation: 'RECEIVED',
      status: 'COMPLETED',
      phase: 'SETTLED',
      outcome: 'accepted',
    } as const),
    amount: decimalFromCents(received.amountCents),
    pix_key: received.pixKey,
    end_to_end: received.endToEnd,
    provider_txid: received.providerTxid,
    repeated: false,
    created_at: received.at ?? new Date(0),
    expires_at: null,
    owner: null,
    paid_by: null,
    idempotency_key: null,
    transaction_identification: null,
    qr_code: null,
    copy_paste: null,
  };
}
