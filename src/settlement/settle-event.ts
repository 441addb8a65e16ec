/**
 * Settles stored events: applies the provider's reports of payments and charges to the matching
 * transactions. Settlement may be repeated: an item that was applied before is found applied.
 * The statements of concurrent events share round trips and commits.
 */
import { dayMs } from '../clock.ts';
import { childSpan } from '../domain/trace-context.ts';
import type { Context, LocalContext } from '../context/context.ts';
import { isConstraintViolation } from '../db/unavailable.ts';
import type { WebhookItem } from '../provider/webhook-events.ts';
import type { ItemResult } from './apply.ts';
import { contradictedItems, failuresLast } from '../ledger/contradictions.ts';
import { readEvent, mapSettledIds, type ItemOutcome, type ReadEvent } from './event-reader.ts';
import { postponeEvent, removeQueuedEvent, type QueuedEvent } from './event-queue-repository.ts';
import {
  findEvent,
  finishAttempt,
  parkAttempt,
  type WebhookEventStatus,
} from './event-repository.ts';
import { largePayloadBytes, placeAgainMs } from '../process/large-events.ts';
import {
  listIds,
  settleItems,
  type ItemMove,
  type ItemsOfEvent,
  type SettledItems,
} from './settle-items.ts';

/** How long an item waits for a transaction that it matches. */
const parkedForMs = dayMs;

/**
 * How long a refund waits for its payment, which a statement may bring: the statement is read a day
 * after the expiry of a charge, which lasts a day, or for another day if it cannot be read.
 */
const refundParkedForMs = 4 * dayMs;

/**
 * Attempts to settle an event that others settle at the same time: another process has taken it up
 * because this one was slow, or an operator replays it. After the last attempt the queue tries
 * again a second later.
 */
const maxOvertakenAttempts = 3;

const firstRetryMs = 1_000;
const maxRetryMs = 30 * 60_000;

/** The result of the settlement of an event. */
export interface Settlement {
  readonly status: WebhookEventStatus;
  readonly items: readonly ItemOutcome[];
  /** The time of the next attempt for items that match no transaction yet, or null. */
  readonly parkedUntil: Date | null;
}

/** Other processes settled the event during every attempt; the event itself has no fault. */
export class OvertakenError extends Error {
  constructor() {
    super('the event was settled elsewhere at every attempt');
    this.name = 'OvertakenError';
  }
}

export interface SettleOptions {
  /** The event as it is stored, if the caller has read it. */
  readonly event?: ReadEvent;
  /** The event's time in the queue since the attempt began; absent: it is not taken from there. */
  readonly begunAt?: Date;
  /** Since when the event has waited for a transaction; by default since its receipt. */
  readonly waitingSince?: Date;
  /** How often it was taken from the queue since it was woken. */
  readonly waits?: number;
  /** Settles every item again, whatever its earlier result. */
  readonly force?: boolean;
}

/**
 * Settles a stored event. A bad item does not affect the others. The event leaves the queue in the
 * commit that stores its result, or is put off there while it waits.
 *
 * An item that matches nothing is parked: its ids are stored as waits, and the queue wakes the
 * event when a transaction gets one of them, or one that has it changes (`wakeWaitingEvents`). The
 * later attempts, at longer and longer intervals, serve events that no transaction wakes: an
 * account is opened later.
 *
 * @returns the result; null when there is no such event, or its payload was purged: the event stays
 *   unchanged then.
 * @throws OvertakenError when other processes settle it meanwhile at every attempt.
 */
export async function settleEvent(
  context: LocalContext,
  eventId: string,
  options: Pick<SettleOptions, 'force' | 'waitingSince'> = {},
): Promise<Settlement | null> {
  const last = await settle(context, eventId, options);
  if (last === 'overtaken') throw new OvertakenError();
  return last?.settlement ?? null;
}

/**
 * Settles an event of the queue. If other processes settle it during every attempt, for example
 * after this process was frozen, the queue tries again a second later. A large event that finds no
 * place is tried again some seconds later.
 * @param read the event, if the caller has it in memory.
 * @returns whether the event is in the queue still.
 */
export async function settleQueued(
  context: Context,
  queued: QueuedEvent,
  read?: ReadEvent,
): Promise<boolean> {
  if (read) return settleRead(context, queued, read);
  const stored = await findEvent(context, queued.eventId);
  if (!stored?.payload) {
    await removeQueuedEvent(context, queued.eventId);
    return false;
  }
  const isLarge = stored.payload.length > largePayloadBytes;
  const release = isLarge ? context.largeEvents.reserve() : () => undefined;
  if (!release) return postpone(context, queued, placeAgainMs);
  try {
    const event = await readEvent(context.dialects, stored);
    return event ? await settleRead(context, queued, event) : true;
  } finally {
    release();
  }
}

async function settleRead(
  context: LocalContext,
  queued: QueuedEvent,
  event: ReadEvent,
): Promise<boolean> {
  const { eventId, dueAt: begunAt, waitingSince, waits } = queued;
  const last = await settle(context, eventId, { event, begunAt, waitingSince, waits });
  if (last !== 'overtaken') return last?.isQueued ?? true;
  context.log.warn({ eventId }, 'an event was settled elsewhere at every attempt');
  return postpone(context, queued, firstRetryMs);
}

/** @returns true: the event is in the queue still. */
async function postpone(context: LocalContext, queued: QueuedEvent, byMs: number): Promise<true> {
  const nextAt = new Date(context.clock.now().getTime() + byMs);
  await postponeEvent(context, queued, { nextAt, error: null });
  return true;
}

/**
 * @returns null when there is no event or no payload; `overtaken` when another process changed the
 *   event or its transactions during every attempt.
 */
async function settle(
  context: LocalContext,
  eventId: string,
  { event: known, ...options }: SettleOptions,
): Promise<FinishedAttempt | 'overtaken' | null> {
  let event = known ?? (await findAndRead(context, eventId));
  const startMs = context.clock.now().getTime();
  const moved: ItemOutcome[] = [];
  for (let number = 0; number < maxOvertakenAttempts; number += 1) {
    if (!event) return null;
    const last = await attempt(context, { eventId, event, options });
    if (last.isFinished) {
      context.metrics.webhookEvents.inc({ result: last.settlement.status });
      traceApplied(context, last, { eventId, startMs });
      return last;
    }
    moved.push(...last.moved);
    const stored = await findAndRead(context, eventId);
    event = stored && { ...stored, before: [...stored.before, ...moved] };
  }
  return 'overtaken';
}

/** Records the settlement in the trace of each transaction that the event has changed. */
function traceApplied(
  { tracing }: LocalContext,
  { settlement }: FinishedAttempt,
  { eventId, startMs }: { readonly eventId: string; readonly startMs: number },
): void {
  if (tracing === null) return;
  for (const { result, transactionId } of settlement.items) {
    if (result !== 'applied' || transactionId === undefined) continue;
    tracing.record({
      name: 'settle',
      kind: 'consumer',
      trace: childSpan(tracing.ofTransaction(transactionId)),
      startMs,
      attributes: { 'ponte.event.id': eventId, 'ponte.transaction.id': transactionId },
    });
  }
}

async function findAndRead(context: LocalContext, eventId: string): Promise<ReadEvent | null> {
  const stored = await findEvent(context, eventId);
  return stored && readEvent(context.dialects, stored);
}

/** An event that is being settled. */
interface EventToSettle {
  readonly eventId: string;
  readonly event: ReadEvent;
  readonly options: Omit<SettleOptions, 'event'>;
}

/** One attempt to settle an event, as it is stored. */
interface FinishedAttempt {
  readonly isFinished: true;
  readonly settlement: Settlement;
  /** Whether the event is in the queue still. */
  readonly isQueued: boolean;
}

/** An attempt that was not stored: another process changed the event or its transactions. */
interface OvertakenAttempt {
  readonly isFinished: false;
  /** The items whose transactions it moved nevertheless. */
  readonly moved: readonly ItemOutcome[];
}

type Attempt = FinishedAttempt | OvertakenAttempt;

/** Settles each open item, and stores the results: the event ends, or waits. */
async function attempt(context: LocalContext, work: EventToSettle): Promise<Attempt> {
  const { eventId, event } = work;
  const startedAt = context.clock.now();
  const items = failuresLast(openItems(work));
  const { candidates, receivedAt } = event;
  const contradicted = contradictedItems(event.items);
  const facts = { eventId, receivedAt, contradicted, settledIds: mapSettledIds(event), items };
  const judged = { startedAt, ...(await settleItems(context, { ...facts, candidates })) };
  if (judged.moves.length === 0) return store(context, work, judged);
  // Only the end of an event makes moves: those of one that waits are made before.
  if (listWaits(event, mergeOutcomes(work, judged))) {
    return store(context, work, await makeMoves(context, facts, judged));
  }
  try {
    return await store(context, work, judged);
  } catch (error) {
    if (!isConstraintViolation(error)) throw error;
    // One by one, because a move that breaks a constraint is an anomaly of its own item only.
    return store(context, work, await makeMoves(context, facts, judged));
  }
}

/** The results of an attempt so far. */
interface AttemptResults extends SettledItems {
  readonly startedAt: Date;
}

/** Makes the moves that the judgement of an event's items has left. */
async function makeMoves(
  context: LocalContext,
  facts: ItemsOfEvent,
  judged: AttemptResults,
): Promise<AttemptResults> {
  const moved = new Set(judged.moves.map(({ index }) => index));
  const items = facts.items.filter(({ index }) => moved.has(index));
  const made = await settleItems(context, { ...facts, items, makesMoves: true });
  return { ...judged, settled: new Map([...judged.settled, ...made.settled]), moves: [] };
}

/** Stores the results of all items: the event waits for the parked ones, or ends with its moves. */
async function store(
  context: LocalContext,
  work: EventToSettle,
  results: AttemptResults,
): Promise<Attempt> {
  const { eventId, event, options } = work;
  const { begunAt = null, waitingSince = event.receivedAt } = options;
  const { attemptedAt: attemptedBefore } = event;
  const attemptedAt = timeAfter(attemptedBefore, context.clock.now());
  const items = mergeOutcomes(work, results);
  const status = eventStatus(items);
  const attempted = { eventId, status, items, attemptedAt, attemptedBefore, begunAt };
  const waits = listWaits(event, items);
  if (waits) {
    const dueAt = nextAttempt(results.startedAt, options.waits ?? 0);
    const isFinished = await parkAttempt(context, { ...attempted, waits, waitingSince, dueAt });
    if (!isFinished) return { isFinished, moved: settledNow(results).filter(isApplied) };
    const settlement = { status, items, parkedUntil: dueAt };
    return { isFinished, settlement, isQueued: true };
  }
  const moves = results.moves.map(({ verdict }) => verdict);
  const { isFinished, movedIds, isQueued } = await finishAttempt(context, { ...attempted, moves });
  if (!isFinished) {
    const isMoved = ({ transactionId = '' }: ItemOutcome): boolean => movedIds.has(transactionId);
    return { isFinished, moved: results.moves.map(toOutcome).filter(isMoved) };
  }
  const settlement = { status, items, parkedUntil: null };
  return { isFinished, settlement, isQueued };
}

function settledNow({ settled }: Pick<AttemptResults, 'settled'>): ItemOutcome[] {
  return [...settled].flatMap(([index, { outcome }]) => [{ index, ...outcome }]);
}

function isApplied({ result }: ItemOutcome): boolean {
  return result === 'applied';
}

/** The result of an item whose move is made. */
function toOutcome({ index, verdict: { transaction } }: ItemMove): ItemOutcome {
  return { index, result: 'applied', transactionId: transaction.id };
}

/**
 * Returns the time of an attempt, which identifies it: an overtaken attempt finds a time that
 * differs from the one it has read. The times of an event's attempts therefore always increase,
 * even within one millisecond or after the clock was set back.
 */
function timeAfter(before: Date | null, now: Date): Date {
  return before && now <= before ? new Date(before.getTime() + 1) : now;
}

/** @returns the items that no earlier attempt has settled: they are counted and noted once. */
function openItems({ event: { items, before }, options }: EventToSettle): WebhookItem[] {
  const earlier = new Map(before.map(({ index, result }) => [index, result]));
  return items.filter(({ index }) => {
    const result = earlier.get(index) ?? 'parked';
    return options.force === true || result === 'parked' || result === 'orphaned';
  });
}

/** The result of each item, from this attempt or an earlier one. */
function mergeOutcomes(
  { event, options }: EventToSettle,
  { startedAt, settled, moves }: AttemptResults,
): ItemOutcome[] {
  const earlier = new Map(event.before.map((outcome) => [outcome.index, outcome]));
  const latest = new Map(
    [...settledNow({ settled }), ...moves.map(toOutcome)].map((outcome) => [
      outcome.index,
      outcome,
    ]),
  );
  const merged = event.items.flatMap(({ index }) => {
    const known = earlier.get(index);
    const now = latest.get(index);
    const isSame = known?.result === 'applied' && now?.result === 'already';
    if (known && (isSame || !now)) return [known];
    return now ? [now] : [];
  });
  const { waitingSince = event.receivedAt } = options;
  return endLongWaits(event, merged, startedAt.getTime() - waitingSince.getTime());
}

/**
 * Turns parked items that have found no transaction in time into orphaned ones. An item that names
 * a stored transaction stays parked, however long: the transaction may still reach the phase that
 * the item fits, also one that is FAILED, by a correction.
 * @param waitedMs how long the event has waited, in milliseconds.
 */
function endLongWaits(
  { items }: ReadEvent,
  outcomes: readonly ItemOutcome[],
  waitedMs: number,
): ItemOutcome[] {
  const refunds = new Set(items.filter(({ kind }) => kind === 'refund').map(({ index }) => index));
  return outcomes.map((outcome) => {
    const maxWaitMs = refunds.has(outcome.index) ? refundParkedForMs : parkedForMs;
    const isOver = waitedMs >= maxWaitMs && outcome.transactionId === undefined;
    return isOver && outcome.result === 'parked' ? { ...outcome, result: 'orphaned' } : outcome;
  });
}

/** @returns the ids of the items that are parked; null: none is. */
function listWaits(
  { items }: ReadEvent,
  outcomes: readonly ItemOutcome[],
): ReadonlySet<string> | null {
  const parked = new Set<number>();
  for (const { index, result } of outcomes) if (result === 'parked') parked.add(index);
  if (parked.size === 0) return null;
  return new Set(items.filter(({ index }) => parked.has(index)).flatMap(listIds));
}

/** The event has the first of these statuses that an item has: the most urgent one for a person. */
const statusOrder: readonly (readonly [ItemResult, WebhookEventStatus])[] = [
  ['anomaly', 'anomaly'],
  ['parked', 'parked'],
  ['orphaned', 'orphaned'],
  ['applied', 'processed'],
  ['already', 'processed'],
  ['ignored', 'ignored'],
];

/** @returns the status of an event whose items have these results. */
function eventStatus(items: readonly { readonly result: ItemResult }[]): WebhookEventStatus {
  const results = new Set(items.map(({ result }) => result));
  return statusOrder.find(([result]) => results.has(result))?.[1] ?? 'ignored';
}

/**
 * The pause grows with a number and not with the time since the last attempt, which the clock of
 * another process may have set.
 * @param waits how often the event was taken from the queue since it was woken.
 * @returns the next attempt: after 1, 2, 4, 8, … seconds.
 */
function nextAttempt(now: Date, waits: number): Date {
  const pauseMs = firstRetryMs * 2 ** Math.max(0, waits - 1);
  return new Date(now.getTime() + Math.min(maxRetryMs, pauseMs));
}
