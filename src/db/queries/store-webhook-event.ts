import { phasesOpenToFailure, phasesOpenToSettlement } from '../../domain/pix.ts';
import type { Statement } from '../database.ts';
import { oneOf } from '../one-of.ts';
import { jobsChannel } from './jobs.ts';
import { isRepeated } from './pix-row.ts';
import { tellingEnds } from './tell-ends.ts';
import { waking } from './wake-events.ts';

/** What stands there now; a `job_id` only where this call has stored an event for a job. */
export interface StoredEventRow {
  readonly id: string;
  readonly duplicate: boolean;
  /** It was settled in the same commit. */
  readonly settled: boolean;
  readonly job_id: string | null;
}

/**
 * Stores an event in one commit with the job that settles it, or with what it settles; an event
 * with the same hash is answered instead. Under a lease the job is stored as running, and whoever
 * holds the lease runs it; otherwise it is queued, which wakes the job loops. Neither comes back
 * when a concurrent delivery committed the same bytes after this statement's snapshot: then the
 * statement is run again.
 *
 * An event that is nothing but the end of one send (`settlement/settle-at-once.ts`) is settled in
 * the same commit, where the send stands as the event says and nobody is at work on its row; there
 * is nothing left for a job then. Everything else is left to the job. So nothing waits for a send
 * here. The event has come before it is stored: what was stored of the send meanwhile is not dated
 * after its end.
 *
 * A duplicate of an event that is not settled queues a job when the event has no open one: the
 * provider sends again what it considers open, and the first job may be dead.
 *
 * An event that says that a send has failed, and is not settled here, waits for the send from this
 * commit on: a process that still pays it makes no further attempt (`pix-repeat`).
 *
 * Parameters, grouped: id, hash, payload, now, worker and its lease's end or twice null; and of an
 * event that may be settled, otherwise null: end to end, client request id, provider's id, amount,
 * status, failure code.
 */
export const storeWebhookEvent: Statement = {
  name: 'webhook-store',
  grouping: { apartBy: 7, pair: 'webhooks' },
  text: `
    with asked as materialized (
      select asked.*, send.id as send_id,
             nullif(asked.provider_txid, send.provider_txid) as told_txid
        from unnest($1::uuid[], $2::bytea[], $3::bytea[], $4::timestamptz[], $5::text[],
                    $6::timestamptz[], $7::text[], $8::text[], $9::text[], $10::numeric[],
                    $11::text[], $12::text[])
             with ordinality as asked (id, payload_hash, payload, now, worker, leased_until,
               end_to_end, client_request_id, provider_txid, amount, status, failure_code, place)
        left join lateral (
          select t.id, t.provider_txid from pix_transactions t
           where t.end_to_end = asked.end_to_end and t.operation = 'SEND'
             and t.settled_at is null
             and case asked.status when 'FAILED' then ${oneOf('t.phase', phasesOpenToFailure)}
                                                      and not ${isRepeated('t')}
                                   else ${oneOf('t.phase', phasesOpenToSettlement)} end
             and t.amount = coalesce(asked.amount, t.amount)
             and t.idempotency_key = coalesce(asked.client_request_id, t.idempotency_key)
             for no key update skip locked) send on true
    ), stored as (
      insert into webhook_events (id, payload_hash, payload, status, results, received_at,
                                  processed_at)
      select id, payload_hash, payload,
             case when send_id is null then 'received' else 'processed' end,
             case when send_id is not null then
               jsonb_build_array(jsonb_build_object('index', 0, 'result', 'applied',
                                                    'transactionId', send_id)) end,
             now, case when send_id is not null then now end
        from asked order by payload_hash
          on conflict (payload_hash) do nothing
      returning id
    ), moved as (
      update pix_transactions t
         set phase = 'SETTLED', status = asked.status,
             outcome = case when coalesce(t.outcome, 'unknown') <> 'unknown' then t.outcome
                            when asked.status = 'COMPLETED' then 'accepted' else 'rejected' end,
             failure_code = coalesce(asked.failure_code, t.failure_code),
             provider_txid = coalesce(t.provider_txid, asked.provider_txid),
             claimed_until = null, updated_at = greatest(asked.now, t.updated_at),
             settled_at = greatest(asked.now, t.updated_at)
        from stored join asked using (id)
       where t.id = asked.send_id
      returning t.id, t.operation, t.idempotency_key, t.end_to_end, t.transaction_identification,
                coalesce(asked.provider_txid, t.provider_txid) as provider_txid, t.status,
                t.updated_at, asked.id as event_id, told_txid
    ), noted as (
      insert into pix_timeline (transaction_id, phase, at, event_id, note, provider_txid)
      select id, 'SETTLED', updated_at, event_id, status, told_txid from moved
    ), waiting as (
      insert into webhook_waits (id_value, event_id)
      select end_to_end, id from stored join asked using (id)
       where send_id is null and status = 'FAILED'
    ), queued as (
      insert into jobs (kind, payload, unique_key, status, attempts, leased_by, leased_until,
                        run_at, created_at)
      select 'settle-webhook', jsonb_build_object('eventId', id), 'webhook:' || id,
             case when worker is null then 'queued' else 'running' end,
             case when worker is null then 0 else 1 end, worker, leased_until, now, now
        from stored join asked using (id)
       where send_id is null
      returning id as job_id, unique_key,
                case when status = 'queued' then pg_notify('${jobsChannel}', '') end
    ), revived as (
      insert into jobs (kind, payload, unique_key, status, run_at, created_at)
      select 'settle-webhook', jsonb_build_object('eventId', event.id), 'webhook:' || event.id,
             'queued', now, now
        from asked join webhook_events event using (payload_hash)
       where event.status in ('received', 'parked', 'orphaned')
          on conflict (unique_key) where unique_key is not null and status in ('queued', 'running')
          do nothing
      returning pg_notify('${jobsChannel}', '')
    )
    select place, stored.id, false as duplicate, send_id is not null as settled, job_id,
           ${tellingEnds('moved')}, ${waking('moved', 'told.updated_at')}
      from stored join asked using (id)
      left join queued on unique_key = 'webhook:' || stored.id
     union all
    select place, event.id, true, false, null, null, null
      from asked, lateral (
             select id from webhook_events where payload_hash = asked.payload_hash limit 1) event
     where asked.id not in (select id from stored)`,
};
