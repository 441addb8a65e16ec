import type { Statement } from '../database.ts';

/**
 * Stores an event and the job that settles it in one commit, and wakes the job loop; an event with
 * the same hash is answered instead. Neither comes back when a concurrent delivery committed the
 * same bytes after this statement's snapshot: then the statement is run again.
 * Parameters: id, hash, payload, now.
 */
export const storeWebhookEvent: Statement = {
  name: 'webhook-store',
  text: `
    with stored as (
      insert into webhook_events (id, payload_hash, payload, status, received_at)
      values ($1, $2, $3, 'received', $4)
          on conflict (payload_hash) do nothing
      returning id
    ), queued as (
      insert into jobs (kind, payload, status, run_at, created_at)
      select 'settle-webhook', jsonb_build_object('eventId', id), 'queued', $4, $4 from stored
      returning pg_notify('ponte_jobs', '')::text as told
    )
    select stored.id, false as duplicate from stored, queued
     union all
    select id, true from webhook_events
     where payload_hash = $2 and not exists (select from stored)`,
};

export interface WebhookEventRow {
  readonly id: string;
  readonly payload: Buffer | null;
  readonly status: string;
  /** What became of each item at the last look, if there was one. */
  readonly results: unknown;
  readonly received_at: Date;
}

/** One event. Parameters: id. */
export const findWebhookEvent: Statement = {
  name: 'webhook-find',
  text: `select id, payload, status, results, received_at from webhook_events where id = $1`,
};

/**
 * Stores what became of an event's items.
 * Parameters: id, status, results as JSON, now.
 */
export const finishWebhookEvent: Statement = {
  name: 'webhook-finish',
  text: `
    update webhook_events set status = $2, results = $3::jsonb, processed_at = $4 where id = $1`,
};
