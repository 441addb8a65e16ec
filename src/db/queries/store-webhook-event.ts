import type { Statement } from '../database.ts';

/** What stands there now; `job_id` only where this call has stored the event. */
export interface StoredEventRow {
  readonly id: string;
  readonly duplicate: boolean;
  readonly job_id: string | null;
}

/**
 * Stores an event and the job that settles it in one commit; an event with the same hash is
 * answered instead. Under a lease the job is stored as running, and whoever holds the lease runs
 * it; otherwise it is queued, which wakes the job loops. Neither comes back when a concurrent
 * delivery committed the same bytes after this statement's snapshot: then the statement is run
 * again.
 * Parameters, grouped: id, hash, payload, now, worker and its lease's end or twice null.
 */
export const storeWebhookEvent: Statement = {
  name: 'webhook-store',
  grouping: {},
  text: `
    with asked as (
      select * from unnest($1::uuid[], $2::bytea[], $3::bytea[], $4::timestamptz[], $5::text[],
                           $6::timestamptz[])
        with ordinality as asked (id, payload_hash, payload, now, worker, leased_until, place)
    ), stored as (
      insert into webhook_events (id, payload_hash, payload, status, received_at)
      select id, payload_hash, payload, 'received', now from asked order by payload_hash
          on conflict (payload_hash) do nothing
      returning id
    ), queued as (
      insert into jobs (kind, payload, unique_key, status, attempts, leased_by, leased_until,
                        run_at, created_at)
      select 'settle-webhook', jsonb_build_object('eventId', id), 'webhook:' || id,
             case when worker is null then 'queued' else 'running' end,
             case when worker is null then 0 else 1 end, worker, leased_until, now, now
        from stored join asked using (id)
      returning id as job_id, unique_key,
                case when status = 'queued' then pg_notify('ponte_jobs', '') end
    )
    select place, stored.id, false as duplicate, job_id
      from stored join asked using (id) join queued on unique_key = 'webhook:' || stored.id
     union all
    select place, event.id, true, null
      from asked, lateral (
             select id from webhook_events where payload_hash = asked.payload_hash limit 1) event
     where asked.id not in (select id from stored)`,
};
