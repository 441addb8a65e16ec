/** `webhook list`: the events that came in, and what became of them. */
import type { LocalContext } from '../context.ts';
import type { WebhookEventStatus } from '../domain/settlement.ts';
import { isUuid } from '../domain/text.ts';
import type { ItemOutcome } from '../settlement/event-reader.ts';
import { findJobs } from './job-repository.ts';
import { type JobView, toJobView } from './jobs.ts';
import { type Op, OpError } from './op.ts';
import { redacted } from './webhook-redaction.ts';
import {
  type EventFilter,
  findEvent,
  findEventIdsOfTransaction,
  findEvents,
  type InspectedEvent,
} from './webhook-repository.ts';

/** An event; times are ISO 8601 texts. */
export interface EventView {
  readonly id: string;
  readonly state: WebhookEventStatus;
  readonly receivedAt: string;
  /** When it was looked at last. */
  readonly processedAt: string | null;
  /** Null when the payload was purged with age. */
  readonly payloadBytes: number | null;
  /** How many of its items came to what, such as `{"applied": 1}`. */
  readonly outcomes: Readonly<Record<string, number>>;
}

type WebhookListInput = WebhookFilter & { readonly limit: number };

/**
 * Gives events, newest first.
 * @throws OpError when an id or a time is none.
 */
export const listWebhooks: Op<WebhookListInput, { readonly events: readonly EventView[] }> = {
  async run(context, { limit, ...filter }) {
    const events = await findEvents(context, await readFilter(context, filter), limit);
    return { events: events.map(toEventView) };
  },
};

/** An event as an operator sees it. */
function toEventView(event: InspectedEvent): EventView {
  return {
    id: event.id,
    state: event.status,
    receivedAt: event.receivedAt.toISOString(),
    processedAt: event.processedAt?.toISOString() ?? null,
    payloadBytes: event.payloadBytes,
    outcomes: event.outcomes ?? {},
  };
}

interface WebhookShowInput {
  readonly id: string;
  /** Shows the payload as it came, with whatever it says of people. */
  readonly raw?: boolean;
}

export interface WebhookShown {
  readonly event: EventView;
  /** What became of each item at the last look. */
  readonly items: readonly ItemOutcome[];
  /** The ids of transactions that it waits for. */
  readonly waitsFor: readonly string[];
  /** Its jobs that are kept, newest first. */
  readonly jobs: readonly JobView[];
  /** Parsed, with personal values masked; raw: the text itself; null when it was purged. */
  readonly payload: unknown;
}

const mostJobs = 10;

/**
 * Shows an event.
 * @throws OpError when there is none.
 */
export const showWebhook: Op<WebhookShowInput, WebhookShown> = {
  async run(context, { id, raw = false }) {
    const event = await findEvent(context, id);
    if (!event) throw new OpError('NOT_FOUND', `there is no event ${id}`);
    const jobs = await findJobs(context, { eventId: event.id, limit: mostJobs });
    const now = context.clock.now();
    const text = event.payload && new TextDecoder().decode(event.payload);
    return {
      event: toEventView(event),
      items: Array.isArray(event.results) ? (event.results as ItemOutcome[]) : [],
      waitsFor: event.waitsFor,
      jobs: jobs.map((job) => toJobView(job, now)),
      payload: raw ? text : text && redacted(JSON.parse(text)),
    };
  },
};

/** What is left out does not matter; times are ISO 8601 texts. */
export interface WebhookFilter {
  readonly state?: WebhookEventStatus;
  readonly since?: string;
  readonly until?: string;
  readonly eventIds?: readonly string[];
  /** Events of its timeline, and those that wait for one of its ids. */
  readonly transactionId?: string;
}

/** More than a transaction has, unless its provider goes on contradicting itself. */
const mostOfTransaction = 1_000;

/**
 * @returns the filter with its texts read, and with the events of the transaction.
 * @throws OpError when an id or a time is none.
 */
export async function readFilter(
  context: LocalContext,
  { state, since, until, eventIds, transactionId }: WebhookFilter,
): Promise<EventFilter> {
  const wrong = [...(eventIds ?? []), ...(transactionId === undefined ? [] : [transactionId])].find(
    (id) => !isUuid(id),
  );
  if (wrong !== undefined) throw new OpError('REFUSED', `${wrong} is no id`);
  // As the database writes them.
  const named = eventIds?.map((id) => id.toLowerCase()) ?? null;
  const ids = transactionId === undefined ? named : await idsOf(context, transactionId, named);
  return { status: state ?? null, since: timeOf(since), until: timeOf(until), ids };
}

function timeOf(text: string | undefined): Date | null {
  if (text === undefined) return null;
  const time = new Date(text);
  if (Number.isNaN(time.getTime())) throw new OpError('REFUSED', `${text} is no time`);
  return time;
}

async function idsOf(
  context: LocalContext,
  transactionId: string,
  among: readonly string[] | null,
): Promise<readonly string[]> {
  const ids = await findEventIdsOfTransaction(context, transactionId, mostOfTransaction);
  return among === null ? ids : ids.filter((id) => among.includes(id));
}
