/**
 * Settles the items of an event in sets: one statement reads the rows that the items may concern,
 * each item is judged separately, and the verdicts are carried out together.
 */
import { nextTurn } from '../clock.ts';
import type { LocalContext } from '../context/context.ts';
import { fromEvent, staticTxidLength } from '../domain/pix.ts';
import type { WebhookItem } from '../provider/webhook-events.ts';
import { judge, unreadReason } from '../ledger/judge.ts';
import { needsFacts, toFacts, toReport, type MoveVerdict, type Report } from '../ledger/report.ts';
import { applyVerdicts, type Applied, type Judged } from './apply.ts';
import {
  loadCandidates,
  type CandidateRow,
  type Candidates,
} from '../ledger/transaction-repository.ts';

/**
 * The most items of a set, as many as a batched statement takes; then the event loop has a turn.
 */
const setSize = 256;

/**
 * Judgements of an item whose transaction changes at the same time. If another process has settled
 * it, the second one finds its final status.
 */
export const maxJudgements = 3;

/** An item, and how often its verdict could not be carried out. */
interface Pending {
  readonly item: WebhookItem;
  lostRaces: number;
}

/** An item whose only verdict is a move that has not been made yet. */
export interface ItemMove {
  /** The item's place in the payload, from 0. */
  readonly index: number;
  readonly verdict: MoveVerdict;
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
 *   null. For any other verdict they may be too old and are read again.
 */
function earlyMove(event: ItemsOfEvent): ItemMove | null {
  const { items, candidates } = event;
  const [item] = items;
  if (!item || !candidates) return null;
  const [verdict, ...others] = judge(reportOf(event, item), toFacts({ candidates, payees: [] }));
  // Only a send: whether a payment is for the owner of a charge depends on the payees as well.
  const isOfSend = verdict?.kind === 'move' && verdict.transaction.type === 'SEND';
  return isOfSend && others.length === 0 ? { index: item.index, verdict } : null;
}

function reportOf(
  { eventId, receivedAt, settledIds, contradicted }: Omit<ItemsOfEvent, 'items'>,
  item: WebhookItem,
): Report {
  const { index } = item;
  const isContradicted = contradicted.has(index);
  const settledId = settledIds.get(index);
  return toReport({ source: fromEvent(eventId), item, receivedAt, isContradicted, settledId });
}

/** What an event says of a dispute moves no transaction: nothing is judged. */
function judgeItem(
  { dispute, ids }: WebhookItem,
  report: Report,
  stored: Candidates,
): readonly Judged[] {
  if (dispute) return [{ kind: 'dispute', report: { ...dispute, endToEnd: ids.endToEnd } }];
  return judge(report, toFacts(stored));
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
    const report = reportOf(event, item);
    const verdicts = judgeItem(item, report, facts);
    const [verdict] = verdicts;
    if (verdicts.length === 1 && verdict?.kind === 'move') {
      moves.push({ index: item.index, verdict });
    } else {
      const result = await applyVerdicts(context, fromEvent(eventId), verdicts);
      const reason = unreadReason(report, toFacts(facts));
      if (result && reason !== null) reportUnread(context, { eventId, item, reason });
      recordResult(one, result, settled);
    }
  });
  await allDone(applied);
  return moves;
}

interface UnreadItem {
  readonly eventId: string;
  readonly item: WebhookItem;
  readonly reason: NonNullable<ReturnType<typeof unreadReason>>;
}

/** Counts and logs an item that no dialect reads: a word, a field or a shape is missing. */
function reportUnread(
  { metrics, log }: LocalContext,
  { eventId, item: { index, shape, word }, reason }: UnreadItem,
): void {
  metrics.unreadEvents.inc({ reason });
  log.warn({ eventId, index, shape, reason, word }, 'no dialect reads an event of the provider');
}

/** Makes moves, each in a separate statement. */
async function makeMoves(
  context: LocalContext,
  { eventId, pending, settled }: Round,
  moves: readonly ItemMove[],
): Promise<void> {
  const verdicts = new Map(moves.map(({ index, verdict }) => [index, verdict]));
  const made = pending.map(async (one) => {
    const verdict = verdicts.get(one.item.index);
    if (verdict)
      recordResult(one, await applyVerdicts(context, fromEvent(eventId), [verdict]), settled);
  });
  await allDone(made);
}

/**
 * Records the result of an item.
 * @param result null when a stored transaction has changed meanwhile: a later round judges again.
 * @throws Error when that has happened too often.
 */
function recordResult(one: Pending, result: Applied | null, settled: Map<number, Applied>): void {
  if (result) settled.set(one.item.index, result);
  else one.lostRaces += 1;
  if (one.lostRaces >= maxJudgements) throw new Error('a transaction changed at every attempt');
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
