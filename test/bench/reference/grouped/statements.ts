/** The statements of the grouped server: each takes an array for each parameter. */
import type { Statement } from '../database.ts';

/** The statements that depend on what is stored of a send and of an event. */
export interface WriteStatements {
  readonly reserve: Statement;
  readonly findByKeys: Statement;
  readonly move: Statement;
  readonly storeEvents: Statement;
  readonly settleEvents: Statement;
  /** Finds the events that a dead process has left, at the start; null: a loop finds their jobs. */
  readonly findOpenEvents: Statement | null;
}

export const active = `
      join banking_sessions s on s.id = q.session_id and s.user_id = q.user_id
       and s.status = 'ACTIVE' and (s.token_expires_at is null or s.token_expires_at > now())
      join users u on u.id = q.user_id and u.status = 'ACTIVE'`;

/** No row: no session. Parameters: session ids, user ids. */
export const findPrincipals: Statement = {
  name: 'principals',
  text: `
    select q.ordinal, s.sealed_token, a.id as account_id, a.balance
      from unnest($1::uuid[], $2::int[]) with ordinality as q (session_id, user_id, ordinal)
      ${active}
      left join accounts a on a.user_id = q.user_id`,
};

/** No row: no session; null id: no transaction. Parameters: session ids, user ids, ids. */
export const findTransactions: Statement = {
  name: 'transactions',
  text: `
    select q.ordinal, t.id, t.status, t.qr_code, t.copy_paste
      from unnest($1::uuid[], $2::int[], $3::uuid[])
           with ordinality as q (session_id, user_id, id, ordinal)
      ${active}
      left join pix_transactions t on t.id = q.id and t.user_id = q.user_id`,
};

export const columns = 't.id, t.status, t.outcome, t.end_to_end, t.fingerprint';

/** Finds the send of a key that this process has seen. Parameters: session ids, user ids, keys. */
const findByKeys: Statement = {
  name: 'keys',
  text: `
    select q.ordinal, ${columns}
      from unnest($1::uuid[], $2::int[], $3::text[])
           with ordinality as q (session_id, user_id, key, ordinal)
      ${active}
      left join pix_transactions t
        on t.user_id = q.user_id and t.operation = 'SEND' and t.idempotency_key = q.key`,
};

/** The parameters of `reserve`, with the payers whose sessions are active. */
export const selectCallers = `
      select q.*, s.sealed_token, a.agency, a.account_number, a.document
        from unnest($1::uuid[], $2::int[], $3::uuid[], $4::text[], $5::bytea[], $6::numeric[],
                    $7::text[], $8::text[])
             with ordinality as q (session_id, user_id, id, key, fingerprint, amount, pix_key,
                                   description, ordinal)
        ${active}
        left join accounts a on a.user_id = q.user_id`;

/**
 * Checks the sessions and claims the keys. Parameters: session ids, user ids, ids, keys,
 * fingerprints, amounts, pix keys, descriptions.
 */
const reserve: Statement = {
  name: 'reserve',
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
          on conflict (user_id, operation, idempotency_key) do nothing
      returning id
    )
    select p.ordinal, p.sealed_token, p.agency, p.account_number, p.document,
           exists (select from reserved r where r.id = p.id) as is_new
      from principal p`,
};

/**
 * Moves sends to their next phase; no row if a send is no longer in the expected phase. Parameters:
 * ids, expected phases, phases, end-to-end ids, outcomes, providers' ids.
 */
const move: Statement = {
  name: 'move',
  text: `
    with moved as (
      update pix_transactions t
         set phase = q.phase, end_to_end = coalesce(q.end_to_end, t.end_to_end),
             outcome = q.outcome, provider_txid = q.provider_txid, updated_at = now(),
             status = case q.phase when 'SETTLED' then 'FAILED' else t.status end,
             settled_at = case q.phase when 'SETTLED' then now() end
        from unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[])
             with ordinality as q (id, before, phase, end_to_end, outcome, provider_txid, ordinal)
       where t.id = q.id and t.phase = q.before
      returning q.ordinal, ${columns}, t.phase
    ), noted as (
      insert into pix_timeline (transaction_id, phase, at, attempt)
      select id, phase, now(), case phase when 'PAYING' then 1 end from moved
    )
    select ordinal, id, status, outcome, end_to_end, fingerprint from moved`,
};

/** Parameters: account ids, balances. */
export const keepBalances: Statement = {
  name: 'keep-balances',
  text: `
    update accounts set balance = q.balance, balance_read_at = now()
      from unnest($1::int[], $2::numeric[]) as q (id, balance) where accounts.id = q.id`,
};

/**
 * Stores events with their jobs. This process settles them at once; if it dies, the loop settles
 * them when their jobs are due. Parameters: ids, hashes, payloads.
 */
const storeEvents: Statement = {
  name: 'store-events',
  text: `
    with q as materialized (
      select * from unnest($1::uuid[], $2::bytea[], $3::bytea[])
                    with ordinality as q (id, hash, payload, ordinal)
    ), stored as (
      insert into webhook_events (id, payload_hash, payload, status, received_at)
      select id, hash, payload, 'received', now() from q
          on conflict (payload_hash) do nothing
      returning id
    ), queued as (
      insert into jobs (kind, payload, unique_key, status, run_at, created_at)
      select 'settle-webhook', jsonb_build_object('eventId', id), 'webhook:' || id, 'queued',
             now() + interval '5 seconds', now()
        from stored
      returning id, (payload ->> 'eventId')::uuid as event_id
    )
    select q.ordinal, queued.id as job_id from queued join q on q.id = queued.event_id`,
};

/** Parameters: ids of events, ids of their jobs, end to end, status, amount. */
const settleEvents: Statement = {
  name: 'settle-events',
  text: `
    with reported as materialized (
      select q.* from unnest($1::uuid[], $2::bigint[], $3::text[], $4::text[], $5::numeric[])
                      as q (event_id, job_id, end_to_end, status, amount)
        join jobs on jobs.id = q.job_id and jobs.status = 'queued' for update of jobs skip locked
    ), moved as (
      update pix_transactions t
         set status = reported.status, phase = 'SETTLED', updated_at = now(), settled_at = now()
        from reported
       where t.end_to_end = reported.end_to_end and t.operation = 'SEND' and t.settled_at is null
         and t.amount = reported.amount
      returning t.id, reported.event_id, reported.status
    ), noted as (
      insert into pix_timeline (transaction_id, phase, at, event_id, note)
      select id, 'SETTLED', now(), event_id, status from moved
    ), done as (
      update jobs set status = 'done', attempts = 1, finished_at = now()
        from reported where jobs.id = reported.job_id
    )
    update webhook_events e
       set processed_at = now(),
           status = case when moved.event_id is null then 'parked' else 'processed' end
      from reported left join moved on moved.event_id = reported.event_id
     where e.id = reported.event_id`,
};

/** What the plain server stores: a timeline beside the send, and a job beside the event. */
export const plainRows: WriteStatements = {
  reserve,
  findByKeys,
  move,
  storeEvents,
  settleEvents,
  findOpenEvents: null,
};
