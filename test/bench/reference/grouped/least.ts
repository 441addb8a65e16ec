/**
 * The statements of the grouped server that store the least: one row for a send, which moves from
 * phase to phase, and one row for an event. There is no timeline and no job. Its tables have the
 * columns that the cases read, in a schema of their own.
 */
import type { Statement } from '../database.ts';
import { active, columns, selectCallers, type WriteStatements } from './statements.ts';

/**
 * The tables that precede those of the service in the search path. The timeline is a view of the
 * phase that a send has reached, for the checks of the cases.
 */
export const leastSchema = {
  name: 'least',
  text: `
  create schema least;
  create table least.pix_transactions (
    id uuid primary key, user_id int not null, operation text not null,
    idempotency_key text not null, fingerprint bytea not null, status text not null,
    phase text not null, outcome text, amount numeric(15, 2) not null, pix_key text not null,
    description text, end_to_end text, provider_txid text, qr_code text, copy_paste text,
    created_at timestamptz(3) not null, updated_at timestamptz(3) not null,
    settled_at timestamptz(3), unique (idempotency_key, user_id)) with (fillfactor = 80);
  create unique index on least.pix_transactions (end_to_end) where end_to_end is not null;
  create table least.webhook_events (
    id uuid primary key, payload_hash bytea not null unique, payload bytea, status text not null,
    received_at timestamptz(3) not null, processed_at timestamptz(3)) with (fillfactor = 80);
  create view least.pix_timeline as
    select t.id as transaction_id, phase.place as id, phase.name as phase
      from least.pix_transactions t,
           unnest(array['PAYING', 'ACCEPTED', 'SETTLED']) with ordinality as phase (name, place)
     where phase.place <= case t.phase when 'RESERVED' then 0 when 'PAYING' then 1
                                       when 'ACCEPTED' then 2 else 3 end`,
};

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
