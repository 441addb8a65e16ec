/**
 * Settles the items of an event in sets: one statement reads the rows that the items may concern,
 * each item is decided separately, and the decisions are applied together.
 */
import { nextTurn } from '../clock.ts';
import type { LocalContext } from '../context/context.ts';
import { staticTxidLength } from '../domain/pix.ts';
import { unreadReasons, type WebhookItem } from '../provider/webhook-events.ts';
import { applyDecisions, type Applied } from './apply.ts';
import { decide } from './decide.ts';
import { needsFacts } from './ignored-item.ts';
import type { EventItem, ItemMove } from './decision.ts';
import { loadCandidates, type CandidateRow, type Candidates } from './transaction-repository.ts';

/**
 * The most items of a set, as many as a batched statement takes; then the event loop has a turn.
 */
const setSize = 256;

/**
 * Decisions about an item whose transaction changes at the same time. If another process has
 * settled it, the second decision finds its final status.
 */
export const maxDecisions = 3;

/** An item, and how often its decision could not be applied. */
interface Pending {
  readonly item: WebhookItem;
  lostRaces: number;
}

/** The items to settle. */
export interface ItemsOfEvent {
  readonly eventId: string;
  readonly receivedAt: Date;
  readonly items: readonly WebhookItem[];
  /** The indices of items that another item of the event contradicts. */
  readonly contradicted: ReadonlySet<number>;
  /** The settled transactions that earlier attempts have found for items. */
  readonly settledIds: ReadonlyMap<number, string>;
  /** The candidates of the only item, read before its event was stored. */
  readonly candidates?: readonly CandidateRow[] | undefined;
  /** Makes every move immediately; by default the caller makes the moves of the last items. */
  readonly makesMoves?: boolean;
}

/** The results of items, and the moves that remain. */
export interface SettledItems {
  /** The result of each settled item, by its index in the payload. */
  readonly settled: ReadonlyMap<number, Applied>;
  /** The moves of all other items, each of another transaction, for the caller to make. */
  readonly moves: readonly ItemMove[];
}

/**
 * Settles items of an event, one set after the other. It may be repeated: an item that was settled
 * before is found settled.
 * @throws the error of the database, after every other item of the set is settled.
 */
export async function settleItems(
  context: LocalContext,
  event: ItemsOfEvent,
): Promise<SettledItems> {
  const { items, makesMoves = false } = event;
  const settled = new Map<number, Applied>();
  const early = earlyMove(event);
  if (early) return { settled, moves: [early] };
  for (let first = 0; first < items.length; first += setSize) {
    if (first > 0) await nextTurn();
    const isLastSet = first + setSize >= items.length;
    let pending = items
      .slice(first, first + setSize)
      .map((item): Pending => ({ item, lostRaces: 0 }));
    while (pending.length > 0) {
      const round = { ...event, pending, settled };
      const moves = await settleRound(context, round);
      pending = pending.filter(({ item }) => !settled.has(item.index));
      if (isLastSet && !makesMoves && moves.length === pending.length) return { settled, moves };
      await makeMoves(context, round, moves);
      pending = pending.filter(({ item }) => !settled.has(item.index));
    }
  }
  return { settled, moves: [] };
}

/**
 * @returns the move that follows from the candidates that were read before the event was stored, or
 *   null. For any other decision they may be too old and are read again.
 */
function earlyMove(event: ItemsOfEvent): ItemMove | null {
  const { items, candidates } = event;
  const [item] = items;
  if (!item || !candidates) return null;
  const [decision, ...others] = decide(eventItem(event, item), { candidates, payees: [] });
  // Only a send: whether a payment is for the owner of a charge depends on the payees as well.
  const isOfSend = decision?.kind === 'move' && decision.transaction.operation === 'SEND';
  return isOfSend && others.length === 0 ? { index: item.index, decision } : null;
}

function eventItem(
  { eventId, receivedAt, settledIds, contradicted }: Omit<ItemsOfEvent, 'items'>,
  item: WebhookItem,
): EventItem {
  const { index } = item;
  const isContradicted = contradicted.has(index);
  return { eventId, item, receivedAt, isContradicted, settledId: settledIds.get(index) };
}

interface Round extends Omit<ItemsOfEvent, 'items' | 'candidates' | 'makesMoves'> {
  readonly pending: readonly Pending[];
  /** The results so far; the round adds to them. */
  readonly settled: Map<number, Applied>;
}

/**
 * Settles the first items, up to an item that may concern the same transaction as an earlier one: a
 * later round finds the changes of the earlier items.
 * @returns the moves that remain.
 */
async function settleRound(context: LocalContext, event: Round): Promise<ItemMove[]> {
  const { eventId, pending, settled } = event;
  const first = independent(pending, ({ item }) => listIds(item));
  const read = await Promise.all(
    first.map(async (one) => ({ one, facts: await loadCandidatesIfNeeded(context, one.item) })),
  );
  const round = independent(read, ({ facts }) => facts.candidates.map(({ id }) => id));
  const moves: ItemMove[] = [];
  const applied = round.map(async ({ one, facts }) => {
    const { item } = one;
    const decisions = decide(eventItem(event, item), facts);
    const [decision] = decisions;
    if (decisions.length === 1 && decision?.kind === 'move') {
      moves.push({ index: item.index, decision });
    } else {
      const result = await applyDecisions(context, eventId, decisions);
      if (result) reportUnread(context, eventId, item);
      recordResult(one, result, settled);
    }
  });
  await allDone(applied);
  return moves;
}

/** Counts and logs an item that no dialect reads: a word, a field or a shape is missing. */
function reportUnread(
  { metrics, log }: LocalContext,
  eventId: string,
  { index, shape, ignoredBecause, word }: WebhookItem,
): void {
  const reason = unreadReasons.find((one) => one === ignoredBecause);
  if (reason === undefined) return;
  metrics.unreadEvents.inc({ reason });
  log.warn({ eventId, index, shape, reason, word }, 'no dialect reads an event of the provider');
}

/** Makes moves, each in a separate statement. */
async function makeMoves(
  context: LocalContext,
  { eventId, pending, settled }: Round,
  moves: readonly ItemMove[],
): Promise<void> {
  const decisions = new Map(moves.map(({ index, decision }) => [index, decision]));
  const made = pending.map(async (one) => {
    const decision = decisions.get(one.item.index);
    if (decision) recordResult(one, await applyDecisions(context, eventId, [decision]), settled);
  });
  await allDone(made);
}

/**
 * Records the result of an item.
 * @param result null when a stored transaction has changed meanwhile: a later round decides again.
 * @throws Error when that has happened too often.
 */
function recordResult(one: Pending, result: Applied | null, settled: Map<number, Applied>): void {
  if (result) settled.set(one.item.index, result);
  else one.lostRaces += 1;
  if (one.lostRaces >= maxDecisions) throw new Error('a transaction changed at every attempt');
}

/** Waits for all, and throws the first error. */
async function allDone(work: readonly Promise<void>[]): Promise<void> {
  for (const one of await Promise.allSettled(work)) {
    if (one.status === 'rejected') throw one.reason;
  }
}

const noFacts: Candidates = { candidates: [], payees: [] };

/** Reads the rows that an item may concern; most ignored items need no statement. */
async function loadCandidatesIfNeeded(
  context: LocalContext,
  item: WebhookItem,
): Promise<Candidates> {
  return needsFacts(item) ? loadCandidates(context, item) : noFacts;
}

/** @returns the elements before the first one that shares a name with an earlier element. */
function independent<Element>(
  elements: readonly Element[],
  namesOf: (element: Element) => readonly string[],
): readonly Element[] {
  const taken = new Set<string>();
  for (const [place, element] of elements.entries()) {
    const names = namesOf(element);
    if (names.some((name) => taken.has(name))) return elements.slice(0, place);
    for (const name of names) taken.add(name);
  }
  return elements;
}

/** The ids that a transaction may get; ids of a charge in the form that its code can contain. */
export function listIds(item: WebhookItem): string[] {
  if (item.dispute) return item.ids.endToEnd === null ? [] : [item.ids.endToEnd];
  if (!needsFacts(item)) return [];
  const { endToEnd, clientRequestId, transactionIdentification, providerTxid } = item.ids;
  const ofCharge = transactionIdentification?.slice(0, staticTxidLength) ?? null;
  const returnId = item.refund?.returnId ?? null;
  return [endToEnd, clientRequestId, ofCharge, providerTxid, returnId].filter((id) => id !== null);
}
