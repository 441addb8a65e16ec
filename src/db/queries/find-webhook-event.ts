import type { Statement } from '../database.ts';

/** `received`: not looked at yet. */
export type WebhookEventStatus =
  'received' | 'processed' | 'ignored' | 'parked' | 'orphaned' | 'anomaly';

export interface WebhookEventRow {
  readonly id: string;
  readonly payload: Buffer | null;
  readonly status: WebhookEventStatus;
  /** What became of each item at the last look, if there was one. */
  readonly results: unknown;
  readonly received_at: Date;
  /** The last look, if there was one. */
  readonly processed_at: Date | null;
}

/** One event. Parameters, grouped: id. */
export const findWebhookEvent: Statement = {
  name: 'webhook-find',
  grouping: {},
  text: `
    select place, id, payload, status, results, received_at, processed_at
      from unnest($1::uuid[]) with ordinality as asked (id, place) join webhook_events using (id)
     where id = any($1)`,
};
