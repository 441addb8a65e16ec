/** `webhook list`: the events that came in, and what became of them. */
import { listEvents, type InspectedEventRow } from '../db/queries/inspect-webhooks.ts';
import type { WebhookEventStatus } from '../domain/settlement.ts';
import type { Op } from './op.ts';
import { filterParameters, type WebhookFilter } from './webhook-filter.ts';

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
    const parameters = await filterParameters(context, filter);
    const rows = await context.db.query<InspectedEventRow>(listEvents, [...parameters, limit]);
    return { events: rows.map(viewOfEvent) };
  },
};

/** An event as an operator sees it. */
export function viewOfEvent(row: InspectedEventRow): EventView {
  return {
    id: row.id,
    state: row.status,
    receivedAt: row.received_at.toISOString(),
    processedAt: row.processed_at?.toISOString() ?? null,
    payloadBytes: row.payload_bytes,
    outcomes: row.outcomes ?? {},
  };
}
