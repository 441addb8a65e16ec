/** `webhook list`: the events that came in, and what became of them. */
import type { WebhookEventStatus } from '../domain/settlement.ts';
import type { Op } from './op.ts';
import { readFilter, type WebhookFilter } from './webhook-filter.ts';
import { findEvents, type InspectedEvent } from './webhook-repository.ts';

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

export type WebhookListInput = WebhookFilter & { readonly limit: number };

/**
 * Gives events, newest first.
 * @throws OpError when an id or a time is none.
 */
export const listWebhooks: Op<WebhookListInput, { readonly events: readonly EventView[] }> = {
  async run(context, { limit, ...filter }) {
    const events = await findEvents(context, await readFilter(context, filter), limit);
    return { events: events.map(viewOfEvent) };
  },
};

/** An event as an operator sees it. */
export function viewOfEvent(event: InspectedEvent): EventView {
  return {
    id: event.id,
    state: event.status,
    receivedAt: event.receivedAt.toISOString(),
    processedAt: event.processedAt?.toISOString() ?? null,
    payloadBytes: event.payloadBytes,
    outcomes: event.outcomes ?? {},
  };
}
