/**
 * Settles stored events: what the provider reports of payments and charges is applied to the
 * transactions that it means. All of it may be repeated: an item that was applied is found applied.
 * The statements of concurrent events share round trips and commits.
 */
import { dayMs } from '../clock.ts';
import type { Context, LocalContext } from '../context.ts';
import { isConstraintViolation } from '../db/unavailable.ts';
import type { WebhookEventStatus } from '../domain/settlement.ts';
import type { JobResult, LeasedJob } from '../jobs/queue.ts';
import type { WebhookItem } from '../provider/webhook-events.ts';
import type { ItemResult } from './apply.ts';
import { readEvent, settledIdsOf, type ItemOutcome, type ReadEvent } from './event-reader.ts';
import { findEvent, finishAttempt } from './event-repository.ts';
import { largePayloadBytes, placeAgainMs } from './large-events.ts';
import { mostAttemptsToWait, mostOvertakenAttempts } from './retry-limits.ts';
import { idsOf, settleItems, type SettledItems } from './settle-items.ts';

/** How long an event waits for a transaction that it matches. */
const parkedForMs = dayMs;

const firstRetryMs = 1_000;
const longestRetryMs = 30 * 60_000;

/** What became of an event. */
export interface Settlement {
  readonly status: WebhookEventStatus;
  readonly items: readonly ItemOutcome[];
  /** When the next attempt is for what matched no transaction yet, or null. */
  readonly parkedUntil: Date | null;
}

/** Other processes have settled the event at every attempt: nothing is wrong with it. */
export class OvertakenError extends Error {
  constructor() {
    super('the event was settled elsewhere at every attempt');
    this.name = 'OvertakenError';
  }
}

export interface SettleOptions {
  /** The event as it is stored, if the caller has read it. */
  readonly event?: ReadEvent;
  /** The event's job, if the caller runs it. */
  readonly job?: LeasedJob;
  /** Since when the event waits for what it matches; by default since it was received. */
  readonly waitingSince?: Date;
  /** Settles every item again, whatever became of it before. */
  readonly force?: boolean;
  /** The caller is no job of the event: an event that is parked gets one. */
  readonly queuesJob?: boolean;
}

/**
 * Settles a stored event: one bad item never loses the others.
 *
 * An item that matches nothing is parked: its ids are stored as waits, and a transaction that gets
 * one of them wakes the event's job in the statement that stores it. That statement may have begun
 * before the waits were there, and so not seen them. Therefore an event that begins to wait is
 * attempted once more, and the transaction is found in each of three cases:
 *
 * - It was stored before that attempt: the attempt finds it.
 * - Its statement began after the waits were stored: the statement finds them.
 * - Its statement ran all the while. It may do so for half a minute, and one of the attempts of
 *   the first minute finds what it has stored.
 *
 * A job that is woken while it runs is run once more (`jobs.wanted`). The later attempts, ever
 * further apart, are for what no transaction reports: an account that is opened later.
 *
 * @returns what became of it; null when there is no such event, or its payload was purged: then it
 *   stays as it is.
 * @throws OvertakenError when other processes settle it meanwhile at every attempt.
 */
export async function settleEvent(
  context: LocalContext,
  eventId: string,
  options: SettleOptions = {},
): Promise<Settlement | null> {
  const last = await settle(context, eventId, options);
  if (last === 'overtaken') throw new OvertakenError();
  return last && last.settlement;
}

/** An event whose job runs. */
export interface EventOfJob extends Pick<SettleOptions, 'event' | 'waitingSince'> {
  readonly eventId: string;
}

/**
 * Settles an event on behalf of its job, which ends in the commit that stores what became of the
 * event, unless it still waits. If other processes settle the event at every attempt, as they may
 * after this process has been frozen, nothing has failed: the job tries again a second later. A
 * large event that finds no place goes back to the queue.
 * @returns what the job has to do yet.
 */
export async function settleForJob(
  context: Context,
  job: LeasedJob,
  { eventId, ...options }: EventOfJob,
): Promise<JobResult> {
  if (options.event) return settleAndEnd(context, job, { eventId, ...options });
  const stored = await findEvent(context, eventId);
  const isLarge = (stored?.payload?.length ?? 0) > largePayloadBytes;
  const release = isLarge ? context.largeEvents.reserve() : () => undefined;
  if (!release) return { runAgainAt: new Date(context.clock.now().getTime() + placeAgainMs) };
  try {
    const event = stored && (await readEvent(stored));
    return event ? await settleAndEnd(context, job, { eventId, ...options, event }) : undefined;
  } finally {
    release();
  }
}

async function settleAndEnd(
  context: LocalContext,
  job: LeasedJob,
  { eventId, ...options }: EventOfJob,
): Promise<JobResult> {
  const last = await settle(context, eventId, { ...options, job });
  if (last === 'overtaken') {
    context.log.warn({ eventId, jobId: job.id }, 'an event was settled elsewhere at every attempt');
    return { runAgainAt: new Date(context.clock.now().getTime() + firstRetryMs) };
  }
  if (last?.settlement.parkedUntil) return { runAgainAt: last.settlement.parkedUntil };
  return last?.jobStatus ? { ended: last.jobStatus } : undefined;
}

/**
 * @returns null when there is nothing to settle from; `overtaken` when the event, or what it
 *   settles, was changed elsewhere at every attempt.
 */
async function settle(
  context: LocalContext,
  eventId: string,
  { event: known, ...options }: SettleOptions,
): Promise<FinishedAttempt | 'overtaken' | null> {
  let event = known ?? (await findAndRead(context, eventId));
  const moved: ItemOutcome[] = [];
  for (let number = 0; number < mostOvertakenAttempts; number += 1) {
    if (!event) return null;
    const last = await attemptUntilItWaits(context, { eventId, event, options });
    if (last.isFinished) {
      context.metrics.webhookEvents.inc({ result: last.settlement.status });
      return last;
    }
    moved.push(...last.moved);
    const stored = await findAndRead(context, eventId);
    event = stored && { ...stored, before: [...stored.before, ...moved] };
  }
  return 'overtaken';
}

async function findAndRead(context: LocalContext, eventId: string): Promise<ReadEvent | null> {
  const stored = await findEvent(context, eventId);
  return stored && readEvent(stored);
}

/** An event that is being settled. */
interface Work {
  readonly eventId: string;
  readonly event: ReadEvent;
  readonly options: Omit<SettleOptions, 'event'>;
}

/** One attempt to settle an event, as it is stored. */
interface FinishedAttempt {
  readonly isFinished: true;
  readonly settlement: Settlement;
  readonly attemptedAt: Date;
  /** It waits for an id that it did not wait for before. */
  readonly waitsForMore: boolean;
  /** The status of the event's job, if this attempt has ended it. */
  readonly jobStatus: 'done' | 'queued' | null;
}

/** One that is not stored: the event, or what it settles, was changed elsewhere meanwhile. */
interface OvertakenAttempt {
  readonly isFinished: false;
  /** The items whose transactions it has moved all the same. */
  readonly moved: readonly ItemOutcome[];
}

type Attempt = FinishedAttempt | OvertakenAttempt;

/** An event that begins to wait is attempted once more: see {@link settleEvent}. */
async function attemptUntilItWaits(context: LocalContext, work: Work): Promise<Attempt> {
  let last = await attempt(context, work);
  for (let number = 1; number < mostAttemptsToWait; number += 1) {
    if (!last.isFinished || !last.waitsForMore) break;
    const { settlement, attemptedAt } = last;
    last = await attempt(context, {
      ...work,
      event: { ...work.event, before: settlement.items, attemptedAt },
      options: { ...work.options, force: false },
    });
  }
  return last;
}

/**
 * Settles each item that is open, and stores what became of them together with the ids that are
 * waited for.
 */
async function attempt(context: LocalContext, work: Work): Promise<Attempt> {
  const { eventId } = work;
  const startedAt = context.clock.now();
  const items = openItems(work);
  const settledIds = settledIdsOf(work.event);
  const { candidates } = work.event;
  const all = { eventId, items, settledIds, candidates };
  const { settled, moves } = await settleItems(context, all);
  try {
    return await store(context, work, { startedAt, settled, moves });
  } catch (error) {
    if (moves.length === 0 || !isConstraintViolation(error)) throw error;
    // Each by itself: the move that breaks a constraint is an anomaly of its item alone.
    const refused = new Set(moves.map(({ index }) => index));
    const rest = items.filter(({ index }) => refused.has(index));
    const each = { eventId, items: rest, settledIds, makesMoves: true };
    const again = await settleItems(context, each);
    const found = new Map([...settled, ...again.settled]);
    return store(context, work, { startedAt, settled: found, moves: [] });
  }
}

/** What an attempt has found so far. */
interface Found extends SettledItems {
  readonly startedAt: Date;
}

/** Makes the moves, and stores what became of all items. */
async function store(
  context: LocalContext,
  work: Work,
  { startedAt, settled, moves }: Found,
): Promise<Attempt> {
  const { eventId, event, options } = work;
  const { job, queuesJob = false, waitingSince = event.receivedAt } = options;
  const attemptedAt = timeAfter(event.attemptedAt, context.clock.now());
  const nextAt = nextAttempt(waitingSince, startedAt);
  const moved = moves.map(({ index, decision: { transaction } }): ItemOutcome => {
    return { index, result: 'applied', transactionId: transaction.id };
  });
  const settledNow = [...settled].flatMap(([index, { outcome }]) => [{ index, ...outcome }]);
  const found = outcomesOf(event, [...settledNow, ...moved]);
  const items = nextAt === null ? found.map(orphaned) : found;
  const parkedUntil = items.some(({ result }) => result === 'parked') ? nextAt : null;
  const status = eventStatus(items);
  const movedNow = new Set(moved.map(({ index }) => index));
  const stored = await finishAttempt(context, {
    eventId,
    status,
    items,
    attemptedAt,
    waitingSince,
    attemptedBefore: event.attemptedAt,
    waits: waitsOf(event.items, items),
    queueAt: queuesJob ? parkedUntil : null,
    endedJob: parkedUntil === null ? (job ?? null) : null,
    settledIds: [
      ...settledBy(items.filter(({ index }) => !movedNow.has(index))),
      // An item may concern two transactions, or record one and flag another: its outcome has one.
      ...[...settled.values()].flatMap(({ settledIds }) => settledIds),
    ],
    moves: moves.map(({ decision }) => decision),
  });
  const { isFinished, movedIds, waitsForMore, jobStatus } = stored;
  if (!isFinished) {
    const isMoved = ({ transactionId = '' }: ItemOutcome): boolean => movedIds.has(transactionId);
    return { isFinished, moved: moved.filter(isMoved) };
  }
  const settlement = { status, items, parkedUntil };
  return { isFinished, settlement, attemptedAt, waitsForMore, jobStatus };
}

/**
 * The time of an attempt identifies it: an attempt that another one has overtaken finds another
 * time than it has read. So the times of an event's attempts increase, also within one millisecond
 * and on a clock that was set back.
 */
function timeAfter(before: Date | null, now: Date): Date {
  return before && now <= before ? new Date(before.getTime() + 1) : now;
}

/** What an earlier attempt has settled is not settled, counted or noted a second time. */
function openItems({ event: { items, before }, options }: Work): WebhookItem[] {
  const earlier = new Map(before.map(({ index, result }) => [index, result]));
  return items.filter(({ index }) => {
    const result = earlier.get(index) ?? 'parked';
    return options.force === true || result === 'parked' || result === 'orphaned';
  });
}

/** What became of each item, in this attempt or in an earlier one. */
function outcomesOf({ items, before }: ReadEvent, settled: readonly ItemOutcome[]): ItemOutcome[] {
  const earlier = new Map(before.map((outcome) => [outcome.index, outcome]));
  const latest = new Map(settled.map((outcome) => [outcome.index, outcome]));
  return items.flatMap(({ index }) => {
    const known = earlier.get(index);
    const now = latest.get(index);
    const isSame = known?.result === 'applied' && now?.result === 'already';
    if (known && (isSame || !now)) return [known];
    return now ? [now] : [];
  });
}

/** The ids of the items that are parked. */
function waitsOf(
  items: readonly WebhookItem[],
  outcomes: readonly ItemOutcome[],
): ReadonlySet<string> {
  const parked = new Set<number>();
  for (const { index, result } of outcomes) if (result === 'parked') parked.add(index);
  return new Set(items.filter(({ index }) => parked.has(index)).flatMap(idsOf));
}

/** The transactions that items found settled, or have settled. */
function settledBy(items: readonly ItemOutcome[]): string[] {
  const settled = items.filter(({ result }) => result === 'applied' || result === 'already');
  return settled.flatMap(({ transactionId }) => transactionId ?? []);
}

function orphaned(outcome: ItemOutcome): ItemOutcome {
  return outcome.result === 'parked' ? { ...outcome, result: 'orphaned' } : outcome;
}

/** An event's status is that of its item that most needs a person's attention. */
const statusOrder: readonly (readonly [ItemResult, WebhookEventStatus])[] = [
  ['anomaly', 'anomaly'],
  ['parked', 'parked'],
  ['orphaned', 'orphaned'],
  ['applied', 'processed'],
  ['already', 'processed'],
  ['ignored', 'ignored'],
];

/** @returns the status of an event whose items have these results. */
export function eventStatus(items: readonly { readonly result: ItemResult }[]): WebhookEventStatus {
  const results = new Set(items.map(({ result }) => result));
  return statusOrder.find(([result]) => results.has(result))?.[1] ?? 'ignored';
}

/** @returns when the next attempt is, ever further apart; null: it has waited long enough. */
function nextAttempt(waitingSince: Date, now: Date): Date | null {
  const waitedMs = now.getTime() - waitingSince.getTime();
  if (waitedMs >= parkedForMs) return null;
  const delayMs = Math.min(longestRetryMs, Math.max(firstRetryMs, waitedMs));
  return new Date(now.getTime() + delayMs);
}
