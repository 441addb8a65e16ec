/** `webhook replay`: settles stored events again, or shows what that would change. */
import type { LocalContext } from '../context/context.ts';
import type { WebhookEventStatus } from '../settlement/event-repository.ts';
import { isDatabaseUnavailable } from '../db/unavailable.ts';
import { isUuid, nilUuid } from '../domain/text.ts';
import { previewReplay, replayEvent, type ItemPreview } from '../settlement/replay.ts';
import type { ItemOutcome } from '../settlement/event-reader.ts';
import { OvertakenError } from '../settlement/settle-event.ts';
import { OpError, type Op, type OpCaller } from './op.ts';
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
  /** The `next` of an earlier call. */
  readonly after?: string;
  /** Whether to count the remaining events. */
  readonly counting?: boolean;
  /** The largest number of events of this call: 1 to 100. */
  readonly limit: number;
}

/** The result of an event, or of its preview. */
export interface ReplayedEvent {
  readonly eventId: string;
  /**
   * `excluded`: the event was named, but the filter does not match it. `failed`: it could not be
   * settled and is unchanged, unless another process has settled it.
   */
  readonly result: 'replayed' | 'preview' | 'purged' | 'missing' | 'excluded' | 'failed';
  readonly from: WebhookEventStatus | null;
  readonly to: WebhookEventStatus | null;
  /** The number of items by result. */
  readonly outcomes: Readonly<Record<string, number>>;
  /** The items that change something or failed, up to fifty. */
  readonly items: readonly (ItemOutcome | ItemPreview)[];
}

export interface WebhookReplay {
  readonly events: readonly ReplayedEvent[];
  /** With `counting`: the number of events after `after`, counted up to a million. */
  readonly total: number | null;
  /** The `after` of the next call; null when there are no more events. */
  readonly next: string | null;
}

const maxAtOnce = 100;
const maxItemsShown = 50;
const maxCounted = 1_000_000;

/**
 * Replays a page of events, oldest first. A caller that is interrupted continues from its last
 * `next`; replaying an event twice changes nothing.
 * @throws OpError without ids and filter, or when one of them is invalid.
 */
export const replayWebhooks: Op<WebhookReplayInput, WebhookReplay> = {
  needsDialects: true,
  async run(context, { dryRun = false, after, counting = false, limit, ...filter }, caller) {
    if (Object.values(filter).every((value) => value === undefined)) {
      throw new OpError('INVALID', 'name events, or filter them');
    }
    const behind = { which: await readFilter(context, filter), after: readCursor(after) };
    const total = counting ? await countEventPage(context, { ...behind, limit: maxCounted }) : null;
    const size = Math.min(Math.max(1, limit), maxAtOnce);
    const page = await findEventPage(context, { ...behind, limit: size });
    const events = after === undefined ? await findLeftOut(context, filter) : [];
    let last: PagedEvent | null = null;
    for (const row of page) {
      if (context.stopping.aborted) break;
      const work = dryRun ? preview(context, row) : replay(context, row, caller);
      events.push(await orFailed(context, row, work));
      last = row;
    }
    const isOver = page.length < size && last === (page.at(-1) ?? null);
    return { events, total, next: isOver ? null : (last?.id ?? after ?? nilUuid) };
  },
};

/** The named events that are not stored, or that the filter does not match. */
async function findLeftOut(context: LocalContext, filter: WebhookFilter): Promise<ReplayedEvent[]> {
  const { eventIds: ids = [], ...others } = filter;
  if (ids.length === 0) return [];
  const known = await knownEventIds(context, ids);
  const isFiltered = Object.values(others).some((value) => value !== undefined);
  const matching = isFiltered ? await findMatching(context, filter, ids.length) : known;
  return ids
    .filter((id) => !matching.has(id.toLowerCase()))
    .map((id) => nothing(id, known.has(id.toLowerCase()) ? 'excluded' : 'missing', null));
}

/** The named events that the filter matches. */
async function findMatching(
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
  const previewed = await previewReplay(context, id);
  if (previewed.kind !== 'preview') return nothing(id, previewed.kind, status);
  const { status: from, statusAfter: to, items } = previewed;
  return { eventId: id, result: 'preview', from, to, ...summarise(items) };
}

async function replay(
  context: LocalContext,
  { id, status, results }: PagedEvent,
  caller: OpCaller,
): Promise<ReplayedEvent> {
  await recordBegin(context, caller, id);
  const before = mapApplied(results);
  const replayed = await replayEvent(context, id);
  if (replayed.kind !== 'replayed') return nothing(id, replayed.kind, status);
  const { status: to } = replayed;
  const items = replayed.items.map((item) => sayAlready(item, before));
  return { eventId: id, result: 'replayed', from: status, to, ...summarise(items) };
}

/** What earlier attempts have applied: the transaction of each item, by its index. */
function mapApplied(results: unknown): ReadonlyMap<number, string> {
  const items = Array.isArray(results) ? (results as readonly ItemOutcome[]) : [];
  const applied = items.filter(({ result }) => result === 'applied');
  return new Map(applied.map(({ index, transactionId = '' }) => [index, transactionId]));
}

/** A stored event keeps what it has applied; of that, this replay has changed nothing. */
function sayAlready(item: ItemOutcome, before: ReadonlyMap<number, string>): ItemOutcome {
  const { index, result, transactionId = '' } = item;
  const isOfEarlierAttempt = result === 'applied' && before.get(index) === transactionId;
  return isOfEarlierAttempt ? { ...item, result: 'already' } : item;
}

/** An event that cannot be settled does not prevent the others. */
async function orFailed(
  context: LocalContext,
  { id, status }: PagedEvent,
  work: Promise<ReplayedEvent>,
): Promise<ReplayedEvent> {
  try {
    return await work;
  } catch (error) {
    if (isDatabaseUnavailable(error)) throw error;
    const level = error instanceof OvertakenError ? 'warn' : 'error';
    context.log[level]({ error, eventId: id }, 'an event could not be replayed');
    return nothing(id, 'failed', status);
  }
}

/** Recorded before the replay, which commits separately and stores its results with the event. */
function recordBegin(
  context: LocalContext,
  { operator, reason }: OpCaller,
  id: string,
): Promise<void> {
  return recordAction(context, { operator, reason, command: 'webhook replay' }, async () => {
    return { result: undefined, targets: [`event:${id}`], outcome: 'begun' };
  });
}

function summarise(
  items: readonly (ItemOutcome | ItemPreview)[],
): Pick<ReplayedEvent, 'outcomes' | 'items'> {
  const outcomes: Record<string, number> = {};
  for (const { result } of items) outcomes[result] = (outcomes[result] ?? 0) + 1;
  const notable = items.filter(({ result }) => result !== 'already' && result !== 'ignored');
  return { outcomes, items: notable.slice(0, maxItemsShown) };
}

/** Without a cursor, the position before every event. */
function readCursor(cursor: string | undefined): EventPage['after'] {
  if (cursor !== undefined && !isUuid(cursor)) {
    throw new OpError('INVALID', `${cursor} is not a cursor`);
  }
  return cursor ?? nilUuid;
}
