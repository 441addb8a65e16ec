import type { Statement } from '../database.ts';
import { orAskAgain } from './jobs.ts';

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
      insert into jobs (kind, payload, unique_key, status, run_at, created_at)
      select 'settle-webhook', jsonb_build_object('eventId', id), 'webhook:' || id, 'queued', $4,
             $4
        from stored
      returning pg_notify('ponte_jobs', '')::text as told
    )
    select stored.id, false as duplicate from stored, queued
     union all
    select id, true from webhook_events
     where payload_hash = $2 and not exists (select from stored)`,
};

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
}

/** One event. Parameters: id. */
export const findWebhookEvent: Statement = {
  name: 'webhook-find',
  text: `select id, payload, status, results, received_at from webhook_events where id = $1`,
};

/**
 * Stores what became of an event's items, and in the same commit the ids that it waits for from now
 * on: those of the items that are parked. Answers whether it did not wait for one of them before.
 * Where no job of the event has looked, one is queued in that commit too, so that no event ever
 * waits for nobody: an open one is due at the earlier time, or is run once more if it runs.
 * Parameters: id, status, results as JSON, now, ids, the job's time or null for no job, since when
 * the event waits.
 */
export const finishWebhookEvent: Statement = {
  name: 'webhook-finish',
  text: `
    with finished as (
      update webhook_events set status = $2, results = $3::jsonb, processed_at = $4 where id = $1
      returning id
    ), forgotten as (
      delete from webhook_waits where event_id = $1 and id_value <> all($5::text[])
    ), waiting as (
      insert into webhook_waits (id_value, event_id)
      select id_value, id from unnest($5::text[]) as id_value, finished
          on conflict do nothing
      returning 1
    ), queued as (
      insert into jobs (kind, payload, unique_key, status, run_at, created_at)
      select 'settle-webhook', jsonb_build_object('eventId', id, 'waitingSince', $7::text),
             'webhook:' || id, 'queued', $6::timestamptz, $4::timestamptz
        from finished where $6::timestamptz is not null
      ${orAskAgain}
    )
    select exists (select from waiting) as waits_anew from finished`,
};
