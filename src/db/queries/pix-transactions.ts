import type { PixOperation, PixOutcome, PixPhase, PixStatus } from '../../domain/pix.ts';
import type { Statement } from '../database.ts';

export interface PixTransactionRow {
  readonly id: string;
  readonly user_id: number;
  readonly operation: PixOperation;
  readonly idempotency_key: string | null;
  readonly fingerprint: Buffer | null;
  readonly status: PixStatus;
  readonly phase: PixPhase;
  readonly outcome: PixOutcome | null;
  readonly failure_code: string | null;
  readonly amount: string;
  readonly pix_key: string | null;
  readonly end_to_end: string | null;
  readonly transaction_identification: string | null;
  readonly provider_txid: string | null;
  readonly qr_code: string | null;
  readonly copy_paste: string | null;
  readonly claimed_until: Date | null;
  readonly created_at: Date;
  readonly updated_at: Date;
}

const columns = `id, user_id, operation, idempotency_key, fingerprint, status, phase, outcome,
  failure_code, amount, pix_key, end_to_end, transaction_identification, provider_txid, qr_code,
  copy_paste, claimed_until, created_at, updated_at`;

/**
 * The end of a statement that stores transactions in a common table expression: the events that
 * wait for one of their ids are looked at again, in the same commit. Jobs are locked in one order,
 * so that no two statements wait for each other. A job that runs is asked for once more, because it
 * may have looked before this commit.
 * @param stored the expression's name; it has the ids, the operation and the idempotency key.
 * @param now the parameter that holds the time.
 */
function waking(stored: string, now: string): string {
  return `woken as (
      update jobs set wanted = status = 'running',
                      run_at = case when status = 'queued' then least(run_at, ${now}::timestamptz)
                                    else run_at end
        from (select job.id as woken_id
                from ${stored} as told
                join webhook_waits wait
                  on wait.id_value in (told.end_to_end, told.provider_txid,
                       left(told.transaction_identification, 25),
                       case when told.operation = 'SEND' then told.idempotency_key end)
                join jobs job on job.unique_key = 'webhook:' || wait.event_id
                             and job.status in ('queued', 'running')
               order by job.id for update of job) waiting
       where id = woken_id and status in ('queued', 'running')
      returning pg_notify('ponte_jobs', '')
    )`;
}

/**
 * Claims an idempotency key by inserting the transaction, with its first timeline row, or answers
 * the transaction that has it. Neither comes back when another request committed the same key
 * between this statement's snapshot and its insert: then the statement is run again.
 * Parameters: id, user id, operation, key, fingerprint, amount, pix key, description,
 * transactionIdentification, claimed until, now.
 */
export const reserveTransaction: Statement = {
  name: 'pix-reserve',
  text: `
    with reserved as (
      insert into pix_transactions
             (id, user_id, operation, idempotency_key, fingerprint, status, phase, amount, pix_key,
              description, transaction_identification, claimed_until, created_at, updated_at)
      values ($1, $2, $3, $4, $5, 'PROCESSING', 'RESERVED', $6, $7, $8, $9, $10, $11, $11)
          on conflict (user_id, operation, idempotency_key) do nothing
      returning ${columns}
    ), noted as (
      insert into pix_timeline (transaction_id, phase, at) select id, phase, $11 from reserved
    ), ${waking('reserved', '$11')}
    select true as reserved, ${columns} from reserved
     union all
    select false, ${columns} from pix_transactions
     where user_id = $2 and operation = $3 and idempotency_key = $4
       and not exists (select from reserved)`,
};

/**
 * Takes over a transaction whose process died before anything could leave.
 * Parameters: id, claimed until, now.
 */
export const takeOverTransaction: Statement = {
  name: 'pix-take-over',
  text: `
    update pix_transactions set claimed_until = $2
     where id = $1 and status = 'PROCESSING' and phase in ('RESERVED', 'RESOLVED')
       and (claimed_until is null or claimed_until <= $3)
    returning ${columns}`,
};

/**
 * Moves a transaction out of the phases that it may stand in, and notes it in the timeline; it
 * answers no row when the transaction stands elsewhere. Columns given as null keep their value.
 * A final status wakes those who wait for it.
 * Parameters: id, phases to leave, phase, status, end to end, outcome, failure code, provider's
 * id, QR code, copy and paste, claimed until, now, timeline entries as JSON.
 */
export const moveTransaction: Statement = {
  name: 'pix-move',
  text: `
    with moved as (
      update pix_transactions
         set phase = $3, status = $4,
             end_to_end = coalesce($5, end_to_end),
             outcome = coalesce($6, outcome),
             failure_code = coalesce($7, failure_code),
             provider_txid = coalesce($8, provider_txid),
             qr_code = coalesce($9, qr_code),
             copy_paste = coalesce($10, copy_paste),
             claimed_until = $11,
             updated_at = $12,
             settled_at = case when $4 = 'PROCESSING' then null else $12::timestamptz end
       where id = $1 and status = 'PROCESSING' and phase = any($2::text[])
      returning ${columns}
    ), noted as (
      insert into pix_timeline
             (transaction_id, phase, at, attempt, provider_status, event_id, note)
      select moved.id, entry.phase, $12, entry.attempt, entry.provider_status, entry.event_id,
             entry.note
        from moved,
             rows from (jsonb_to_recordset($13::jsonb) as
               (phase text, attempt int, provider_status text, event_id uuid, note text))
             with ordinality as entry (phase, attempt, provider_status, event_id, note, place)
       order by entry.place
    ), ${waking('moved', '$12')}
    select ${columns},
           case when status <> 'PROCESSING' then pg_notify('ponte_pix', id::text)::text end
      from moved`,
};

/**
 * Notes which payment has completed a charge, once: later payments of the charge are others.
 * Parameters: id, end to end, now, event id.
 */
export const identifyPayment: Statement = {
  name: 'pix-identify',
  text: `
    with identified as (
      update pix_transactions set end_to_end = $2, updated_at = $3
       where id = $1 and operation = 'CHARGE' and status = 'COMPLETED' and end_to_end is null
      returning id, operation, idempotency_key, end_to_end, provider_txid,
                transaction_identification
    ), noted as (
      insert into pix_timeline (transaction_id, phase, at, event_id, note)
      select id, 'SETTLED', $3, $4, 'IDENTIFIED' from identified
    ), ${waking('identified', '$3')}
    select id from identified`,
};

/** One transaction of a user. Parameters: id, user id. */
export const findTransaction: Statement = {
  name: 'pix-find',
  text: `select ${columns} from pix_transactions where id = $1 and user_id = $2`,
};

/**
 * The transactions of a user in a span of time, newest first. A payment of a charge that was also
 * told as received is shown once, as the charge. Parameters: user id, from, until.
 */
export const listTransactions: Statement = {
  name: 'pix-list',
  text: `
    select id, operation, amount, status, pix_key, provider_txid, created_at
      from pix_transactions t
     where user_id = $1 and created_at >= $2 and created_at < $3
       and not (operation = 'RECEIVED' and exists
                 (select from pix_transactions charge
                   where charge.end_to_end = t.end_to_end and charge.operation = 'CHARGE'
                     and charge.user_id = t.user_id))
     order by created_at desc, id desc`,
};

/**
 * The transactions that an event's ids may mean, those first that an id of their own names: many
 * users may have the same client request id.
 * Parameters: end to end, client request id, transactionIdentification, provider's id.
 */
export const findCandidates: Statement = {
  name: 'pix-candidates',
  text: `
    select ${columns} from pix_transactions
     where (end_to_end = $1 and operation in ('SEND', 'CHARGE', 'RECEIVED'))
        or (idempotency_key = $2 and operation = 'SEND')
        or left(transaction_identification, 25) = left($3, 25)
        or provider_txid = $4
     order by (end_to_end = $1) is true desc,
              (left(transaction_identification, 25) = left($3, 25)) is true desc,
              (provider_txid = $4) is true desc
     limit 20`,
};

/**
 * Records a PIX that came in without a charge, once per end-to-end id, with its timeline row.
 * Parameters: id, user id, amount, key, end to end, provider's id, now, event id.
 */
export const recordReceived: Statement = {
  name: 'pix-received',
  text: `
    with received as (
      insert into pix_transactions
             (id, user_id, operation, status, phase, outcome, amount, pix_key, end_to_end,
              provider_txid, created_at, updated_at, settled_at)
      values ($1, $2, 'RECEIVED', 'COMPLETED', 'SETTLED', 'accepted', $3, $4, $5, $6, $7, $7, $7)
          on conflict (end_to_end, operation) where end_to_end is not null do nothing
      returning id, operation, idempotency_key, end_to_end, provider_txid,
                transaction_identification
    ), noted as (
      insert into pix_timeline (transaction_id, phase, at, event_id)
      select id, 'SETTLED', $7, $8 from received
    ), ${waking('received', '$7')}
    select id from received`,
};

/**
 * Transactions that have stood in some phases for too long, oldest first.
 * Parameters: phases, untouched since, now, limit.
 */
export const findStale: Statement = {
  name: 'pix-stale',
  text: `
    select ${columns} from pix_transactions
     where status = 'PROCESSING' and phase = any($1::text[]) and updated_at <= $2
       and (claimed_until is null or claimed_until <= $3)
     order by updated_at limit $4`,
};

/** An UNKNOWN send with the active banking session of its user. */
export interface UnknownSendRow {
  readonly id: string;
  readonly amount: string;
  readonly end_to_end: string;
  readonly created_at: Date;
  readonly session_id: string;
  readonly user_id: number;
  readonly sealed_token: Buffer;
}

/**
 * Sends of an unknown outcome that the provider can be asked about, those first that it was not
 * asked about for longest. The pause between two looks is a sixtieth of the time that the outcome
 * has been unknown for, and an hour at most: at first every sweep asks, after two and a half days
 * an hourly one. Parameters: now, limit.
 */
export const findUnknownSends: Statement = {
  name: 'pix-unknown',
  text: `
    select t.id, t.amount, t.end_to_end, t.created_at, s.id as session_id, s.user_id,
           s.sealed_token
      from pix_transactions t
      join banking_sessions s on s.user_id = t.user_id and s.status = 'ACTIVE'
      join lateral (select min(at) as since from pix_timeline
                     where transaction_id = t.id and phase = 'UNKNOWN') unknown on true
     where t.status = 'PROCESSING' and t.phase = 'UNKNOWN' and t.operation = 'SEND'
       and (s.token_expires_at is null or s.token_expires_at > $1)
       and t.updated_at <= $1::timestamptz
           - least((t.updated_at - coalesce(unknown.since, t.created_at)) / 60, interval '1 hour')
     order by t.updated_at limit $2`,
};

/** Sends that were looked at go to the end of the queue. Parameters: ids, now. */
export const touchUnknownSends: Statement = {
  name: 'pix-touch-unknown',
  text: `
    update pix_transactions set updated_at = $2 where id = any($1::uuid[]) and phase = 'UNKNOWN'`,
};

/**
 * Adds to a timeline that the transaction is contradicted, once for an event and a reason.
 * Parameters: transaction id, now, event id or null, reason.
 */
export const noteAnomaly: Statement = {
  name: 'pix-anomaly',
  text: `
    insert into pix_timeline (transaction_id, phase, at, event_id, note)
    select $1::uuid, 'ANOMALY', $2::timestamptz, $3::uuid, $4::text
     where not exists (select from pix_timeline
                        where transaction_id = $1::uuid and event_id is not distinct from $3::uuid
                          and phase = 'ANOMALY' and note = $4::text)
    returning id`,
};
