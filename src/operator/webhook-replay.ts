/** `webhook replay`: stored events are settled once more, or it is shown what that would do. */
import type { LocalContext } from '../context.ts';
import type { WebhookEventStatus } from '../domain/settlement.ts';
import { isDatabaseUnavailable } from '../db/unavailable.ts';
import { isUuid, nilUuid } from '../domain/text.ts';
import { previewEvent, replayEvent, type ItemPreview } from '../settlement/replay.ts';
import type { ItemOutcome } from '../settlement/event-reader.ts';
import { OvertakenError } from '../settlement/settle-event.ts';
import { OpError, type Op } from './op.ts';
import { recordAction } from './operator-action-repository.ts';
import { readFilter, type WebhookFilter } from './webhooks.ts';
import {
  countEventPage,
  findEventPage,
  knownEventIds,
  type EventPage,
  type PagedEvent,
} from './webhook-repository.ts';

export interface WebhookReplayInput extends WebhookFilter {
  /** Shows what would change and changes nothing. */
  readonly dryRun?: boolean;
  /** Where an earlier call has come to: its `next`. */
  readonly after?: string;
  /** Counts what there is to do from there on. */
  readonly counting?: boolean;
  /** How many events this call looks at: 1 to 100. */
  readonly limit: number;
}

/** What became of an event, or would become of it. */
export interface ReplayedEvent {
  readonly eventId: string;
  /**
   * `excluded`: it was named, and the filter leaves it out. `failed`: it could not be settled, and
   * stands as it stood, or as others have settled it meanwhile.
   */
  readonly result: 'replayed' | 'preview' | 'purged' | 'missing' | 'excluded' | 'failed';
  readonly from: WebhookEventStatus | null;
  readonly to: WebhookEventStatus | null;
  /** How many items came to what. */
  readonly outcomes: Readonly<Record<string, number>>;
  /** The items that say more than that there is nothing to do, up to fifty. */
  readonly items: readonly (ItemOutcome | ItemPreview)[];
}

export interface WebhookReplay {
  readonly events: readonly ReplayedEvent[];
  /** With `counting`: how many events there are from `after` on, counted up to a million. */
  readonly total: number | null;
  /** Given as `after` it goes on behind these events; null when there are no more. */
  readonly next: string | null;
}

const mostAtOnce = 100;
const mostItemsShown = 50;
const mostCounted = 1_000_000;

/**
 * Replays a page of events, oldest first. A page at a time: what has been done is done, whatever
 * becomes of the caller, who goes on from `next`; and doing an event twice changes nothing.
 * @throws OpError without ids or a filter, and when one of them cannot be read.
 */
export const replayWebhooks: Op<WebhookReplayInput, WebhookReplay> = {
  async run(context, { dryRun = false, after, counting = false, limit, ...filter }, { operator }) {
    if (Object.values(filter).every((value) => value === undefined)) {
      throw new OpError('REFUSED', 'say which events: name them, or give a filter');
    }
    const behind = { which: await readFilter(context, filter), after: readCursor(after) };
    const total = counting
      ? await countEventPage(context, { ...behind, limit: mostCounted })
      : null;
    const size = Math.min(Math.max(1, limit), mostAtOnce);
    const page = await findEventPage(context, { ...behind, limit: size });
    const events = after === undefined ? await leftOut(context, filter) : [];
    let last: PagedEvent | null = null;
    for (const row of page) {
      if (context.stopping.aborted) break;
      events.push(await (dryRun ? preview(context, row) : replay(context, row, operator)));
      last = row;
    }
    const isOver = page.length < size && last === (page.at(-1) ?? null);
    return { events, total, next: isOver ? null : cursorOf(last, after) };
  },
};

/** The events that were named and are not stored, or not among those that the filter means. */
async function leftOut(context: LocalContext, filter: WebhookFilter): Promise<ReplayedEvent[]> {
  const { eventIds: ids = [], ...others } = filter;
  if (ids.length === 0) return [];
  const known = await knownEventIds(context, ids);
  const isFiltered = Object.values(others).some((value) => value !== undefined);
  const meant = isFiltered ? await among(context, filter, ids.length) : known;
  return ids
    .filter((id) => !meant.has(id.toLowerCase()))
    .map((id) => nothing(id, known.has(id.toLowerCase()) ? 'excluded' : 'missing', null));
}

/** Those of the events that were named which the filter means. */
async function among(
  context: LocalContext,
  filter: WebhookFilter,
  named: number,
): Promise<ReadonlySet<string>> {
  const which = await readFilter(context, filter);
  const page = await findEventPage(context, { which, after: readCursor(undefined), limit: named });
  return new Set(page.map(({ id }) => id));
}

function nothing(
  eventId: string,
  result: 'missing' | 'excluded' | 'purged' | 'failed',
  status: WebhookEventStatus | null,
): ReplayedEvent {
  return { eventId, result, from: status, to: status, outcomes: {}, items: [] };
}

async function preview(context: LocalContext, { id, status }: PagedEvent): Promise<ReplayedEvent> {
  const previewed = await previewEvent(context, id);
  if (previewed.kind !== 'preview') return nothing(id, previewed.kind, status);
  const { status: from, statusAfter: to, items } = previewed;
  return { eventId: id, result: 'preview', from, to, ...summaryOf(items) };
}

/** One event that cannot be settled does not keep the others from it. */
async function replay(
  context: LocalContext,
  { id, status }: PagedEvent,
  operator: string,
): Promise<ReplayedEvent> {
  try {
    await recordBegin(context, operator, id);
    const replayed = await replayEvent(context, id);
    if (replayed.kind !== 'replayed') return nothing(id, replayed.kind, status);
    const { status: to, items } = replayed;
    return { eventId: id, result: 'replayed', from: status, to, ...summaryOf(items) };
  } catch (error) {
    if (isDatabaseUnavailable(error)) throw error;
    const level = error instanceof OvertakenError ? 'warn' : 'error';
    context.log[level]({ error, eventId: id }, 'an event could not be replayed');
    return nothing(id, 'failed', status);
  }
}

/** Recorded before the replay, which has commits of its own; its results stand with the event. */
function recordBegin(context: LocalContext, operator: string, id: string): Promise<void> {
  return recordAction(context, { operator, command: 'webhook replay' }, async () => {
    return { result: undefined, targets: [`event:${id}`], outcome: 'begun' };
  });
}

function summaryOf(
  items: readonly (ItemOutcome | ItemPreview)[],
): Pick<ReplayedEvent, 'outcomes' | 'items'> {
  const outcomes: Record<string, number> = {};
  for (const { result } of items) outcomes[result] = (outcomes[result] ?? 0) + 1;
  const telling = items.filter(({ result }) => result !== 'already' && result !== 'ignored');
  return { outcomes, items: telling.slice(0, mostItemsShown) };
}

/** Before everything, or behind the event that a cursor names. */
function readCursor(cursor: string | undefined): EventPage['after'] {
  if (cursor === undefined) return { receivedAt: new Date(0), id: nilUuid };
  const [time = '', id = ''] = cursor.split('/');
  const receivedAt = new Date(time);
  if (Number.isNaN(receivedAt.getTime()) || !isUuid(id)) {
    throw new OpError('REFUSED', `${cursor} is no place to go on from`);
  }
  return { receivedAt, id };
}

function cursorOf(last: PagedEvent | null, before: string | undefined): string {
  if (last) return `${last.receivedAt.toISOString()}/${last.id}`;
  return before ?? `${new Date(0).toISOString()}/${nilUuid}`;
}
