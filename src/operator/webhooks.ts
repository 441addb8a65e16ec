/** `webhook list` and `webhook show`: the stored events and their results. */
import type { LocalContext } from '../context/context.ts';
import type { WebhookEventStatus } from '../settlement/event-repository.ts';
import type { ItemOutcome } from '../settlement/event-reader.ts';
import { sayAnomaly } from './anomaly-saying.ts';
import { type Op, OpError, requireEventIds } from './op.ts';
import { recordReading } from './operator-action-repository.ts';
import { requireKnownForm } from './pix-reference.ts';
import { findPixReferences } from './pix-repository.ts';
import { redacted } from './webhook-redaction.ts';
import {
  type EventFilter,
  findEvent,
  findEventIdsOfTransaction,
  findEventIdsWaitingFor,
  findEvents,
  type InspectedEvent,
} from './webhook-repository.ts';

/** An event; times are ISO 8601 texts. */
export interface EventView {
  readonly id: string;
  readonly state: WebhookEventStatus;
  readonly receivedAt: string;
  /** When it was last processed. */
  readonly processedAt: string | null;
  /** Null when the payload was purged with age. */
  readonly payloadBytes: number | null;
  /** The number of items by result, such as `{"applied": 1}`. */
  readonly outcomes: Readonly<Record<string, number>>;
  /** When the next attempt is due; null: it is not in the queue. */
  readonly dueAt: string | null;
  /** How many attempts in a row have failed; null as above. */
  readonly failures: number | null;
  /** The name of the error of the last attempt, if that failed. */
  readonly lastError: string | null;
}

type WebhookListInput = WebhookFilter & { readonly limit: number };

/**
 * Lists events, newest first.
 * @throws OpError when an id or a time is invalid.
 */
export const listWebhooks: Op<WebhookListInput, { readonly events: readonly EventView[] }> = {
  async run(context, { limit, ...filter }) {
    const events = await findEvents(context, await readFilter(context, filter), limit);
    return { events: events.map(toEventView) };
  },
};

function toEventView(event: InspectedEvent): EventView {
  return {
    id: event.id,
    state: event.status,
    receivedAt: event.receivedAt.toISOString(),
    processedAt: event.processedAt?.toISOString() ?? null,
    payloadBytes: event.payloadBytes,
    outcomes: event.outcomes ?? {},
    dueAt: event.dueAt?.toISOString() ?? null,
    failures: event.failures,
    lastError: event.lastError,
  };
}

interface WebhookShowInput {
  readonly id: string;
  /** Shows the payload unchanged, with personal data. */
  readonly raw?: boolean;
}

/** The result of an item; `says`: what an anomaly means, in a sentence. */
export type ItemView = ItemOutcome & { readonly says?: string };

export interface WebhookShown {
  readonly event: EventView;
  /** The result of each item when it was last processed. */
  readonly items: readonly ItemView[];
  /** The ids of transactions that it waits for. */
  readonly waitsFor: readonly string[];
  /** The parsed payload with personal values masked, or the raw text; null when it was purged. */
  readonly payload: unknown;
}

/** @throws OpError when there is no such event. */
export const showWebhook: Op<WebhookShowInput, WebhookShown> = {
  async run(context, { id, raw = false }, { operator, reason }) {
    requireEventIds([id]);
    const event = await findEvent(context, id);
    if (!event) throw new OpError('NOT_FOUND', `there is no event ${id}`);
    if (raw) {
      const action = { operator, reason, command: 'webhook show --raw' };
      await recordReading(context, action, [`event:${event.id}`]);
    }
    const text = event.payload && new TextDecoder().decode(event.payload);
    return {
      event: toEventView(event),
      items: Array.isArray(event.results) ? event.results.map(toItemView) : [],
      waitsFor: event.waitsFor,
      payload: raw || text === null ? text : redacted(parseJson(text)),
    };
  },
};

function toItemView(item: ItemOutcome): ItemView {
  const { result, reason = 'unclear' } = item;
  return result === 'anomaly' ? { ...item, says: sayAnomaly(reason) } : item;
}

/** @returns the text itself when it is no JSON. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** An absent field matches every event; times are ISO 8601 texts. */
export interface WebhookFilter {
  readonly state?: WebhookEventStatus;
  readonly since?: string;
  readonly until?: string;
  readonly eventIds?: readonly string[];
  /**
   * Any id of a transaction, see `pix-reference.ts`: the events in its timeline, and those that
   * wait for one of its ids, or for this id, if no transaction has it.
   */
  readonly transactionId?: string;
}

/** More events than a transaction has, unless its provider keeps contradicting itself. */
const maxOfTransaction = 1_000;

/**
 * Parses a filter and finds the events of its transaction.
 * @throws OpError when an id or a time is invalid.
 */
export async function readFilter(
  context: LocalContext,
  { state, since, until, eventIds, transactionId }: WebhookFilter,
): Promise<EventFilter> {
  requireEventIds(eventIds ?? []);
  // As the database writes them.
  const named = eventIds?.map((id) => id.toLowerCase()) ?? null;
  const ids = transactionId === undefined ? named : await findIds(context, transactionId, named);
  return { status: state ?? null, since: parseTime(since), until: parseTime(until), ids };
}

function parseTime(text: string | undefined): Date | null {
  if (text === undefined) return null;
  const time = new Date(text);
  if (Number.isNaN(time.getTime())) throw new OpError('INVALID', `${text} is not a time`);
  return time;
}

async function findIds(
  context: LocalContext,
  transactionId: string,
  among: readonly string[] | null,
): Promise<readonly string[]> {
  const reference = transactionId.trim();
  const waiting = await findEventIdsWaitingFor(context, reference, maxOfTransaction);
  const transactions = await findPixReferences(context, reference);
  if (waiting.length + transactions.length === 0) requireKnownForm(reference);
  const found = await Promise.all(
    transactions.map(({ id }) => findEventIdsOfTransaction(context, id, maxOfTransaction)),
  );
  const ids = [...new Set([...waiting, ...found.flat()])];
  return among === null ? ids : ids.filter((id) => among.includes(id));
}
