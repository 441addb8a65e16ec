import type { Statement } from '../database.ts';

/**
 * Stores an event and the job that settles it in one commit, and wakes the job loop; an event with
 * the same hash is answered instead. Neither comes back when a concurrent delivery committed the
 * same bytes after this statement's snapshot: then the statement is run again.
 * Parameters, grouped: id, hash, payload, now.
 */
export const storeWebhookEvent: Statement = {
  name: 'webhook-store',
  grouping: {},
  text: `
    with asked as (
      select * from unnest($1::uuid[], $2::bytea[], $3::bytea[], $4::timestamptz[])
        with ordinality as asked (id, payload_hash, payload, now, place)
    ), stored as (
      insert into webhook_events (id, payload_hash, payload, status, received_at)
      select id, payload_hash, payload, 'received', now from asked order by payload_hash
          on conflict (payload_hash) do nothing
      returning id, received_at
    ), queued as (
      insert into jobs (kind, payload, unique_key, status, run_at, created_at)
      select 'settle-webhook', jsonb_build_object('eventId', id), 'webhook:' || id, 'queued',
             received_at, received_at
        from stored
      returning pg_notify('ponte_jobs', '')::text as told
    )
    select place, stored.id, false as duplicate
      from stored join asked using (id), (select count(told) from queued) told
     union all
    select place, event.id, true
      from asked, lateral (
             select id from webhook_events where payload_hash = asked.payload_hash limit 1) event
     where asked.id not in (select id from stored)`,
};
