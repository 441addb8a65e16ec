/**
 * The statements of the grouped server that store the least: one row for a send, which moves from
 * phase to phase, and one row for an event. There is no timeline and no job.
 */
import type { Statement } from '../database.ts';
import { active, columns, selectCallers, type WriteStatements } from './statements.ts';

const reserve: Statement = {
  name: 'least-reserve',
  text: `
    with principal as materialized (${selectCallers}
    ), reserved as (
      insert into pix_transactions
             (id, user_id, operation, idempotency_key, fingerprint, status, phase, amount, pix_key,
              description, created_at, updated_at)
      select id, user_id, 'SEND', key, fingerprint, 'PROCESSING', 'RESERVED', amount, pix_key,
             description, now(), now()
        from principal
       where agency is not null and account_number is not null and document is not null
          on conflict (idempotency_key, user_id) do nothing
      returning id
    )
    select p.ordinal, p.sealed_token, p.agency, p.account_number, p.document,
           exists (select from reserved r where r.id = p.id) as is_new
      from principal p`,
};

const findByKeys: Statement = {
  name: 'least-keys',
  text: `
    select q.ordinal, ${columns}
      from unnest($1::uuid[], $2::int[], $3::text[])
           with ordinality as q (session_id, user_id, key, ordinal)
      ${active}
      left join pix_transactions t on t.idempotency_key = q.key and t.user_id = q.user_id`,
};

const move: Statement = {
  name: 'least-move',
  text: `
    update pix_transactions t
       set phase = q.phase, end_to_end = coalesce(q.end_to_end, t.end_to_end),
           outcome = q.outcome, provider_txid = q.provider_txid, updated_at = now(),
           status = case q.phase when 'SETTLED' then 'FAILED' else t.status end,
           settled_at = case q.phase when 'SETTLED' then now() end
      from unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[])
           with ordinality as q (id, before, phase, end_to_end, outcome, provider_txid, ordinal)
     where t.id = q.id and t.phase = q.before
    returning q.ordinal, ${columns}`,
};

const storeEvents: Statement = {
  name: 'least-store-events',
  text: `
    with q as materialized (
      select * from unnest($1::uuid[], $2::bytea[], $3::bytea[])
                    with ordinality as q (id, hash, payload, ordinal)
    ), stored as (
      insert into webhook_events (id, payload_hash, payload, status, received_at)
      select id, hash, payload, 'received', now() from q
          on conflict (payload_hash) do nothing
      returning id
    )
    select q.ordinal, 0 as job_id from stored join q on q.id = stored.id`,
};

/**
 * The jobs are zeros: the row of an event is its own job. It is written once, after the payment has
 * moved: a lock of it would be one more log record.
 */
const settleEvents: Statement = {
  name: 'least-settle-events',
  text: `
    with reported as materialized (
      select q.* from unnest($1::uuid[], $2::bigint[], $3::text[], $4::text[], $5::numeric[])
                      as q (event_id, job_id, end_to_end, status, amount)
        join webhook_events e on e.id = q.event_id and e.status = 'received'
    ), moved as (
      update pix_transactions t
         set status = reported.status, phase = 'SETTLED', updated_at = now(), settled_at = now()
        from reported
       where t.end_to_end = reported.end_to_end and t.settled_at is null
         and t.amount = reported.amount
      returning reported.event_id
    )
    update webhook_events e
       set processed_at = now(),
           status = case when moved.event_id is null then 'parked' else 'processed' end
      from reported left join moved on moved.event_id = reported.event_id
     where e.id = reported.event_id and e.status = 'received'`,
};

/** At the start: the events that a dead process has left. It reads the whole table. */
const findOpenEvents: Statement = {
  name: 'least-open-events',
  text: `select id, 0 as job_id, payload from webhook_events where status = 'received'`,
};

export const least: WriteStatements = {
  reserve,
  findByKeys,
  move,
  storeEvents,
  settleEvents,
  findOpenEvents,
};
