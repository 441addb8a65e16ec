import type { Statement } from '../database.ts';
import { ending, orAskAgain } from './jobs.ts';

export interface FinishedEventRow {
  /** It waits for an id that it did not wait for before. */
  readonly waits_anew: boolean;
  /** How the job stands that was to end; null when its lease was not the worker's any more. */
  readonly job_status: 'done' | 'queued' | null;
}

/**
 * Stores what became of an event's items, and in the same commit the ids that it waits for from now
 * on: those of the items that are parked. Answers whether it did not wait for one of them before,
 * or no row when another process has settled the event since: this statement may have been on its
 * way for long, and must not put back what a later look has found.
 * It answers no row either when a transaction that the items have settled is not final: a failover
 * has taken it back since, and the event must not be called processed.
 * Where no job of the event has looked, one is queued in that commit too, so that no event ever
 * waits for nobody: an open one is due at the earlier time, or is run once more if it runs. And
 * where a job of the event has looked that has no more to do, it ends in that commit. Events are
 * locked before jobs, and jobs in the order in which other statements wake them.
 * Parameters, grouped: id, status, results as JSON, now, ids as JSON, the job's time or null for no
 * job, since when the event waits, the job that ends and its worker or twice null, the look before
 * this one or null, the ids of the transactions that its items have settled as JSON.
 */
export const finishWebhookEvent: Statement = {
  name: 'webhook-finish',
  grouping: { apartBy: 1 },
  text: `
    with asked as (
      select * from unnest($1::uuid[], $2::text[], $3::text[], $4::timestamptz[], $5::text[],
                           $6::timestamptz[], $7::text[], $8::bigint[], $9::text[],
                           $10::timestamptz[], $11::text[])
        with ordinality as asked (id, status, results, now, ids, job_at, waiting_since, job_id,
          worker, looked_at, settled, place)
    ), finished as (
      update webhook_events event
         set status = asked.status, results = asked.results::jsonb, processed_at = asked.now
        from asked where event.id = any($1) and event.id = asked.id
                     and event.processed_at is not distinct from asked.looked_at
                     and not exists (
               select from jsonb_array_elements_text(asked.settled::jsonb) as settled_id
                where coalesce((select status from pix_transactions t
                                 where t.id = settled_id::uuid), 'PROCESSING') = 'PROCESSING')
      returning asked.*
    ), waits as materialized (
      select id as event_id, id_value
        from finished, jsonb_array_elements_text(ids::jsonb) as id_value
    ), forgotten as (
      delete from webhook_waits wait using finished
       where wait.event_id = finished.id
         and (wait.event_id, wait.id_value) not in (select event_id, id_value from waits)
    ), waiting as (
      insert into webhook_waits (id_value, event_id)
      select id_value, event_id from waits
          on conflict do nothing
      returning event_id
    ), queued as (
      insert into jobs (kind, payload, unique_key, status, run_at, created_at)
      select 'settle-webhook', jsonb_build_object('eventId', id, 'waitingSince', waiting_since),
             'webhook:' || id, 'queued', job_at, now
        from finished where job_at is not null
      ${orAskAgain}
    ), ended as (
      update jobs set ${ending("'done'", 'null')}
        from (select asked.place, asked.now, job.id
                from (select count(*) from finished) all_of_them, finished asked
                join jobs job on job.id = any($8) and job.id = asked.job_id
                             and job.leased_by = asked.worker
               order by job.id for update of job) asked
       where jobs.id = any($8) and jobs.id = asked.id
      returning asked.place, jobs.status
    )
    select finished.place, id in (select event_id from waiting) as waits_anew,
           ended.status as job_status
      from finished left join ended using (place)`,
};
