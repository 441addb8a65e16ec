/**
 * What the provider tells of a payment or a charge, applied to the transaction that it means. All
 * of it may be done again: an item that was applied is found applied.
 */
import type { Context, LocalContext } from '../context.ts';
import {
  findWebhookEvent,
  type WebhookEventRow,
  type WebhookEventStatus,
} from '../db/queries/find-webhook-event.ts';
import { finishWebhookEvent, type FinishedEventRow } from '../db/queries/finish-webhook-event.ts';
import { dayMs, nextTurn } from '../clock.ts';
import { staticTxidLength } from '../domain/settlement.ts';
import { eachWebhookEvent, type ProviderEvent } from '../provider/webhook-events.ts';
import { largePayloadBytes, placeAgainMs } from './large-events.ts';
import type { JobResult, LeasedJob } from '../jobs/queue.ts';
import { settleItem, type ItemResult, type Settled } from './settle-item.ts';

/** How long an event waits for a transaction that it matches. */
const parkedForMs = dayMs;

const firstLookAgainMs = 1_000;
const longestLookAgainMs = 30 * 60_000;

/** What became of one item of an event. */
export interface ItemOutcome extends Settled {
  /** Its place in the payload, from 0. */
  readonly index: number;
}

/** What became of an event. */
export interface Settlement {
  readonly status: WebhookEventStatus;
  readonly items: readonly ItemOutcome[];
  /** When to look again for what matched no transaction yet, or null. */
  readonly parkedUntil: Date | null;
}

/** Others have settled the event at every try: nothing is wrong with it. */
export class OvertakenError extends Error {
  constructor() {
    super('the event was settled elsewhere at every try');
    this.name = 'OvertakenError';
  }
}

/** What of a stored event is needed to settle it. */
export interface EventAtHand {
  readonly items: readonly ProviderEvent[];
  /** What became of them at the last look. */
  readonly before: readonly ItemOutcome[];
  readonly receivedAt: Date;
  /** When the last look was, if there was one. */
  readonly lookedAt: Date | null;
}

export interface SettleOptions {
  /** The event as it is stored, where the caller knows it. */
  readonly event?: EventAtHand;
  /** The event's job, on whose behalf the caller looks. */
  readonly job?: LeasedJob;
  /** Since when the event waits for what it matches; unless said otherwise, since it came. */
  readonly waitingSince?: Date;
  /** Looks at every item, whatever became of it before. */
  readonly anew?: boolean;
  /** The caller is no job of the event: what has to be looked at again gets one. */
  readonly queuesJob?: boolean;
}

/** Which event a job settles. */
export interface EventOfJob extends Pick<SettleOptions, 'event' | 'waitingSince'> {
  readonly eventId: string;
}

/** An event's status is that of its item that most needs somebody's eye. */
const eventStatusOf: readonly (readonly [ItemResult, WebhookEventStatus])[] = [
  ['anomaly', 'anomaly'],
  ['parked', 'parked'],
  ['orphaned', 'orphaned'],
  ['applied', 'processed'],
  ['already', 'processed'],
  ['ignored', 'ignored'],
];

/**
 * Applies a stored event, item by item: one bad item never loses the others.
 *
 * What matches nothing is parked: its ids are stored as waits, and a transaction that gets one of
 * them wakes the event's job in the statement that stores it. That statement may have begun before
 * the waits were there, and so not seen them. Therefore an event that begins to wait is looked at
 * once more, and the transaction is found in each of three cases:
 *
 * - It was stored before that look: the look finds it.
 * - Its statement began after the waits were stored: the statement finds them.
 * - Its statement was under way all the while. It may be for half a minute, and one of the looks of
 *   the first minute finds what it has stored.
 *
 * A job that is woken while it runs is run once more (`jobs.wanted`). The later looks, ever further
 * apart, are for what no transaction tells of: an account that is opened later.
 *
 * @returns what became of it; null when there is no such event, or its payload was purged: then it
 *   stays as it is.
 * @throws OvertakenError when others settle it meanwhile, again and again.
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

/**
 * Settles an event on behalf of its job, which ends in the commit that stores what became of the
 * event, unless something is still waited for. Where others settle the event at every try, as they
 * may after this process has been frozen, nothing has failed: the job looks again a second later.
 * A large event that finds no place goes back to the queue.
 * @returns what the job has to do yet.
 */
export async function settleForJob(
  context: Context,
  job: LeasedJob,
  { eventId, ...options }: EventOfJob,
): Promise<JobResult> {
  if (options.event) return settleAtHand(context, job, { eventId, ...options });
  const stored = await findEvent(context, eventId);
  const isLarge = (stored?.payload?.length ?? 0) > largePayloadBytes;
  const leave = isLarge ? context.largeEvents.enter() : () => undefined;
  if (!leave) return { runAgainAt: new Date(context.clock.now().getTime() + placeAgainMs) };
  try {
    const event = stored && (await atHand(stored));
    return event ? await settleAtHand(context, job, { eventId, ...options, event }) : undefined;
  } finally {
    leave();
  }
}

async function settleAtHand(
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
 *   settles, was changed elsewhere at every try.
 */
async function settle(
  context: LocalContext,
  eventId: string,
  options: SettleOptions,
): Promise<Look | 'overtaken' | null> {
  let event = options.event ?? (await lookUp(context, eventId));
  for (let tries = 0; tries < mostTries; tries += 1) {
    if (!event) return null;
    const last = await settleAsRead(context, {
      eventId,
      job: options.job ?? null,
      items: event.items,
      before: event.before,
      lookedAt: event.lookedAt,
      isAnew: options.anew ?? false,
      queuesJob: options.queuesJob ?? false,
      waitingSince: options.waitingSince ?? event.receivedAt,
    });
    if (last) {
      context.metrics.webhookEvents.inc({ result: last.settlement.status });
      return last;
    }
    event = await lookUp(context, eventId);
  }
  return 'overtaken';
}

/** Two workers look at one event at a time where a lease has run out, or an operator replays it. */
const mostTries = 3;

/**
 * @returns null when another process has settled the event since it was read, or a failover has
 *   taken back what was settled.
 */
async function settleAsRead(context: LocalContext, work: Work): Promise<Look | null> {
  const first = await look(context, work);
  if (!first?.waitsAnew) return first;
  const { items: before } = first.settlement;
  return look(context, { ...work, before, lookedAt: first.lookedAt, isAnew: false });
}

async function lookUp(context: LocalContext, eventId: string): Promise<EventAtHand | null> {
  const event = await findEvent(context, eventId);
  return event && atHand(event);
}

/** @returns null for an event whose payload was purged. */
async function atHand(event: WebhookEventRow): Promise<EventAtHand | null> {
  const { payload, results, received_at: receivedAt, processed_at: lookedAt } = event;
  if (!payload) return null;
  return { items: await readItems(payload), before: outcomesOf(results), receivedAt, lookedAt };
}

/** @returns an event as it is stored, or null. */
export async function findEvent(
  context: LocalContext,
  eventId: string,
): Promise<WebhookEventRow | null> {
  const [event] = await context.db.query<WebhookEventRow>(findWebhookEvent, [eventId]);
  return event ?? null;
}

/** So many items are read, or looked at, before others have their turn. */
const itemsAtATime = 256;

/** Reads the bytes as the intake did: a byte order mark is not part of the JSON. */
export async function readItems(payload: Buffer): Promise<ProviderEvent[]> {
  const items: ProviderEvent[] = [];
  for (const item of eachWebhookEvent(JSON.parse(new TextDecoder().decode(payload)))) {
    if (items.push(item) % itemsAtATime === 0) await nextTurn();
  }
  return items;
}

/** @returns the status of an event whose items came to this. */
export function statusOf(items: readonly Pick<ItemOutcome, 'result'>[]): WebhookEventStatus {
  const results = new Set(items.map(({ result }) => result));
  return eventStatusOf.find(([result]) => results.has(result))?.[1] ?? 'ignored';
}

/** An event that is being settled. */
interface Work {
  readonly eventId: string;
  readonly job: LeasedJob | null;
  readonly items: readonly ProviderEvent[];
  /** What became of its items at the last look. */
  readonly before: readonly ItemOutcome[];
  /** When the last look was, if there was one. */
  readonly lookedAt: Date | null;
  readonly isAnew: boolean;
  readonly queuesJob: boolean;
  readonly waitingSince: Date;
}

/** What one look at an event came to. */
interface Look {
  readonly settlement: Settlement;
  readonly lookedAt: Date;
  /** It waits for an id that it did not wait for before. */
  readonly waitsAnew: boolean;
  /** How the event's job stands, if it was ended. */
  readonly jobStatus: FinishedEventRow['job_status'];
}

/**
 * Settles each item, and stores what became of them together with the ids that are waited for.
 * @returns null when another process has settled the event meanwhile, or what was settled is taken
 *   back: nothing is stored then.
 */
async function look(context: LocalContext, work: Work): Promise<Look | null> {
  const { eventId, job } = work;
  const lookAgain = nextLook(work.waitingSince, context.clock.now());
  const items: ItemOutcome[] = [];
  const waits = new Set<string>();
  const before = new Map(work.before.map((outcome) => [outcome.index, outcome]));
  for (const item of work.items) {
    // What is ignored waits for no statement, and there may be thousands.
    if (items.length % itemsAtATime === itemsAtATime - 1) await nextTurn();
    const outcome = await outcomeOf(context, work, { item, earlier: before.get(item.index) });
    const isParked = outcome.result === 'parked' && lookAgain !== null;
    if (isParked) for (const id of idsOf(item)) waits.add(id);
    items.push(outcome.result === 'parked' && !isParked ? orphaned(outcome) : outcome);
  }
  const status = statusOf(items);
  const parkedUntil = items.some(({ result }) => result === 'parked') ? lookAgain : null;
  const isOver = parkedUntil === null;
  const lookedAt = context.clock.now();
  const [finished] = await context.db.query<FinishedEventRow>(finishWebhookEvent, [
    eventId,
    status,
    JSON.stringify(items),
    lookedAt,
    JSON.stringify([...waits]),
    work.queuesJob ? parkedUntil : null,
    work.waitingSince.toISOString(),
    isOver && job ? job.id : null,
    isOver && job ? job.worker : null,
    work.lookedAt,
    JSON.stringify(settledBy(items)),
  ]);
  if (!finished) return null;
  const { waits_anew: waitsAnew, job_status: jobStatus } = finished;
  return { settlement: { status, items, parkedUntil }, lookedAt, waitsAnew, jobStatus };
}

/** The transactions that items found settled, or have settled. */
function settledBy(items: readonly ItemOutcome[]): string[] {
  const settled = items.filter(({ result }) => result === 'applied' || result === 'already');
  return settled.flatMap(({ transactionId }) => transactionId ?? []);
}

function orphaned(outcome: ItemOutcome): ItemOutcome {
  return { ...outcome, result: 'orphaned' };
}

/** What an earlier look has settled is not told or counted a second time. */
async function outcomeOf(
  context: LocalContext,
  { eventId, isAnew }: Work,
  { item, earlier }: { readonly item: ProviderEvent; readonly earlier: ItemOutcome | undefined },
): Promise<ItemOutcome> {
  const { index } = item;
  const isOver = earlier && earlier.result !== 'parked' && earlier.result !== 'orphaned';
  if (isOver && !isAnew) return earlier;
  const settled = await settleItem(context, eventId, item);
  const isSame = earlier?.result === 'applied' && settled.result === 'already';
  return isSame ? earlier : { index, ...settled };
}

/** The ids that a transaction may come to have; those of a charge as its code can hold them. */
function idsOf({ ids }: ProviderEvent): string[] {
  const { endToEnd, clientRequestId, transactionIdentification, providerTxid } = ids;
  const ofCharge = transactionIdentification?.slice(0, staticTxidLength) ?? null;
  return [endToEnd, clientRequestId, ofCharge, providerTxid].filter((id) => id !== null);
}

function outcomesOf(results: unknown): ItemOutcome[] {
  return Array.isArray(results) ? (results as ItemOutcome[]) : [];
}

/** @returns the next look, ever further apart, or null once the event has waited long enough. */
function nextLook(waitingSince: Date, now: Date): Date | null {
  const waitedMs = now.getTime() - waitingSince.getTime();
  if (waitedMs >= parkedForMs) return null;
  const delayMs = Math.min(longestLookAgainMs, Math.max(firstLookAgainMs, waitedMs));
  return new Date(now.getTime() + delayMs);
}
