/**
 * Settles stored events: what the provider reports of payments and charges is applied to the
 * transactions that it means. All of it may be repeated: an item that was applied is found applied.
 * The statements of concurrent events share round trips and commits.
 */
import { dayMs } from '../clock.ts';
import type { Context, LocalContext } from '../context.ts';
import type { WebhookEventStatus } from '../domain/settlement.ts';
import type { JobResult, LeasedJob } from '../jobs/queue.ts';
import type { ProviderEvent } from '../provider/webhook-events.ts';
import type { ItemResult } from './apply.ts';
import { readEvent, type ItemOutcome, type ReadEvent } from './event-reader.ts';
import { findEvent, finishLook } from './event-repository.ts';
import { largePayloadBytes, placeAgainMs } from './large-events.ts';
import { idsOf, settleItems } from './settle-items.ts';

/** How long an event waits for a transaction that it matches. */
const parkedForMs = dayMs;

const firstLookAgainMs = 1_000;
const longestLookAgainMs = 30 * 60_000;

/** Two workers look at one event at a time where a lease has run out, or an operator replays it. */
const mostAttempts = 3;

/** What became of an event. */
export interface Settlement {
  readonly status: WebhookEventStatus;
  readonly items: readonly ItemOutcome[];
  /** When to look again for what matched no transaction yet, or null. */
  readonly parkedUntil: Date | null;
}

/** Other processes have settled the event at every attempt: nothing is wrong with it. */
export class OvertakenError extends Error {
  constructor() {
    super('the event was settled elsewhere at every try');
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
 * looked at once more, and the transaction is found in each of three cases:
 *
 * - It was stored before that look: the look finds it.
 * - Its statement began after the waits were stored: the statement finds them.
 * - Its statement was under way all the while. It may be for half a minute, and one of the looks of
 *   the first minute finds what it has stored.
 *
 * A job that is woken while it runs is run once more (`jobs.wanted`). The later looks, ever further
 * apart, are for what no transaction reports: an account that is opened later.
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
 * after this process has been frozen, nothing has failed: the job looks again a second later. A
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
  const leave = isLarge ? context.largeEvents.enter() : () => undefined;
  if (!leave) return { runAgainAt: new Date(context.clock.now().getTime() + placeAgainMs) };
  try {
    const event = stored && (await readEvent(stored));
    return event ? await settleAndEnd(context, job, { eventId, ...options, event }) : undefined;
  } finally {
    leave();
  }
}

async function settleAndEnd(
  context: LocalContext,
  job: LeasedJob,
  { eventId, ...options }: EventOfJob,
): Promise<JobResult> {
  const last = await settle(context, eventId, { ...options, job });
  if (last === 'overtaken') {
    context.log.warn({ eventId, jobId: job.id }, 'an event was settled elsewhere at every try');
    return { runAgainAt: new Date(context.clock.now().getTime() + firstLookAgainMs) };
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
): Promise<Look | 'overtaken' | null> {
  let event = known ?? (await findAndRead(context, eventId));
  for (let attempt = 0; attempt < mostAttempts; attempt += 1) {
    if (!event) return null;
    const last = await lookTwice(context, { eventId, event, options });
    if (last) {
      context.metrics.webhookEvents.inc({ result: last.settlement.status });
      return last;
    }
    event = await findAndRead(context, eventId);
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

/** What one look at an event has found. */
interface Look {
  readonly settlement: Settlement;
  readonly lookedAt: Date;
  /** It waits for an id that it did not wait for before. */
  readonly waitsForMore: boolean;
  /** The status of the event's job, if this look has ended it. */
  readonly jobStatus: 'done' | 'queued' | null;
}

/**
 * @returns null when another process has settled the event since it was read, or a failover has
 *   taken back what was settled.
 */
async function lookTwice(context: LocalContext, work: Work): Promise<Look | null> {
  const first = await look(context, work);
  if (!first?.waitsForMore) return first;
  const { event, options } = work;
  return look(context, {
    ...work,
    event: { ...event, before: first.settlement.items, lookedAt: first.lookedAt },
    options: { ...options, force: false },
  });
}

/**
 * Settles each item, and stores what became of them together with the ids that are waited for.
 * @returns null when another process has settled the event meanwhile, or what was settled is taken
 *   back: nothing is stored then.
 */
async function look(context: LocalContext, work: Work): Promise<Look | null> {
  const { eventId, event, options } = work;
  const { job, queuesJob = false, waitingSince = event.receivedAt } = options;
  const lookAgainAt = nextLook(waitingSince, context.clock.now());
  const settled = await settleOpenItems(context, work);
  const items = lookAgainAt === null ? settled.map(orphaned) : settled;
  const parkedUntil = items.some(({ result }) => result === 'parked') ? lookAgainAt : null;
  const status = eventStatus(items);
  const lookedAt = context.clock.now();
  const finished = await finishLook(context, {
    ...{ eventId, status, items, lookedAt, lookedBefore: event.lookedAt, waitingSince },
    waits: waitsOf(event.items, items),
    queueAt: queuesJob ? parkedUntil : null,
    endedJob: parkedUntil === null ? (job ?? null) : null,
    settledIds: settledBy(items),
  });
  return finished && { settlement: { status, items, parkedUntil }, lookedAt, ...finished };
}

/** What an earlier look has settled is not settled, counted or noted a second time. */
async function settleOpenItems(
  context: LocalContext,
  { eventId, event, options }: Work,
): Promise<ItemOutcome[]> {
  const { items, before } = event;
  const earlier = new Map(before.map((outcome) => [outcome.index, outcome]));
  const isOpen = ({ index }: ProviderEvent): boolean => {
    const result = earlier.get(index)?.result ?? 'parked';
    return options.force === true || result === 'parked' || result === 'orphaned';
  };
  const settled = await settleItems(context, eventId, items.filter(isOpen));
  return items.flatMap(({ index }) => {
    const known = earlier.get(index);
    const now = settled.get(index);
    const isSame = known?.result === 'applied' && now?.result === 'already';
    if (known && (isSame || !now)) return [known];
    return now ? [{ index, ...now }] : [];
  });
}

/** The ids of the items that are parked. */
function waitsOf(
  items: readonly ProviderEvent[],
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

/** @returns the next look, ever further apart, or null once the event has waited long enough. */
function nextLook(waitingSince: Date, now: Date): Date | null {
  const waitedMs = now.getTime() - waitingSince.getTime();
  if (waitedMs >= parkedForMs) return null;
  const delayMs = Math.min(longestLookAgainMs, Math.max(firstLookAgainMs, waitedMs));
  return new Date(now.getTime() + delayMs);
}
