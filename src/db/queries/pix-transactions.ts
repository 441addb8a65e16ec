import type { Statement } from '../database.ts';
import { columnsOf, pixColumns } from './pix-row.ts';

/**
 * Takes over a transaction whose process died before anything could leave.
 * Parameters: id, claimed until, now.
 */
export const takeOverTransaction: Statement = {
  name: 'pix-take-over',
  text: `
    update pix_transactions set claimed_until = $2
     where id = $1 and settled_at is null and phase in ('RESERVED', 'RESOLVED')
       and (claimed_until is null or claimed_until <= $3)
    returning ${pixColumns}`,
};

/** One transaction of a user. Parameters, batched: id, user id. */
export const findTransaction: Statement = {
  name: 'pix-find',
  batching: {},
  text: `
    select requested.ordinal, ${columnsOf('t', pixColumns)}
      from unnest($1::uuid[], $2::int[]) with ordinality as requested (id, user_id, ordinal)
      join pix_transactions t on t.id = requested.id and t.user_id = requested.user_id`,
};

/**
 * The transactions of a user in a span of time, newest first. A payment of a charge that was also
 * told as received is shown once, as the charge; the charge is asked for as a value, because for
 * `exists` the planner reads the whole table. A statement may have a thousand rows: their times
 * come written as they are shown. Parameters: user id, from, until, limit.
 */
export const listTransactions: Statement = {
  name: 'pix-list',
  text: `
    select id, operation, amount, status, pix_key, provider_txid,
           to_char(t.created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as shown_at
      from pix_transactions t
     where user_id = $1 and created_at >= $2 and created_at < $3
       and not (operation = 'RECEIVED' and
                 (select charge.user_id from pix_transactions charge
                   where charge.end_to_end = t.end_to_end and charge.operation = 'CHARGE')
                 is not distinct from t.user_id)
     order by created_at desc, id desc limit $4`,
};

/**
 * What `pix_transactions_unsettled` holds: a charge that has its code waits for its payer.
 * @param table the transactions.
 */
export function isUnderWay(table: string): string {
  return `${table}.status = 'PROCESSING' and ${table}.qr_code is null`;
}

/**
 * Transactions that have stood in some phases before their end for too long, oldest first. What was
 * made since then is left out by the index. Parameters: phases, untouched since, now, limit.
 */
export const findStale: Statement = {
  name: 'pix-stale',
  text: `
    select ${pixColumns} from pix_transactions t
     where ${isUnderWay('t')} and created_at <= $2 and phase = any($1::text[]) and updated_at <= $2
       and (claimed_until is null or claimed_until <= $3)
     order by updated_at limit $4`,
};

/** A send without its end, with the active banking session of its user. */
export interface UnconfirmedSendRow {
  readonly id: string;
  readonly amount: string;
  readonly idempotency_key: string;
  readonly end_to_end: string;
  readonly created_at: Date;
  readonly session_id: string;
  readonly user_id: number;
  readonly sealed_token: Buffer;
}

/**
 * Sends that only the provider's statement or a webhook can end: UNKNOWN ones, and ACCEPTED ones
 * that were made before a time. Those come first that were not looked up for longest. The pause
 * between two look-ups is a sixtieth of the time that the send has waited, and an hour at most: at
 * first every sweep reads the statement, after two and a half days an hourly one.
 * Parameters: now, accepted ones made before, limit.
 */
export const findUnconfirmedSends: Statement = {
  name: 'pix-unconfirmed',
  text: `
    select t.id, t.amount, t.idempotency_key, t.end_to_end, t.created_at, s.id as session_id,
           s.user_id, s.sealed_token
      from pix_transactions t
      join banking_sessions s on s.user_id = t.user_id and s.status = 'ACTIVE'
      join lateral (select min(at) as since from pix_timeline
                     where transaction_id = t.id and phase = t.phase) waiting on true
     where ${isUnderWay('t')} and t.operation = 'SEND'
       and (t.phase = 'UNKNOWN' or t.phase = 'ACCEPTED' and t.created_at <= $2)
       and (s.token_expires_at is null or s.token_expires_at > $1)
       and t.updated_at <= $1::timestamptz
           - least((t.updated_at - coalesce(waiting.since, t.created_at)) / 60, interval '1 hour')
     order by t.updated_at limit $3`,
};

/** Sends that were looked up go to the end of the queue. Parameters: ids, now. */
export const touchUnconfirmedSends: Statement = {
  name: 'pix-touch-unconfirmed',
  text: `
    update pix_transactions set updated_at = $2
     where id = any($1::uuid[]) and phase in ('UNKNOWN', 'ACCEPTED') and status = 'PROCESSING'`,
};

/**
 * Adds to a timeline that the transaction is contradicted, once for an event and a reason.
 * Parameters, batched: transaction id, now, event id or null, reason.
 */
export const noteAnomaly: Statement = {
  name: 'pix-anomaly',
  batching: { conflictKey: 1 },
  text: `
    with requested as (
      select * from unnest($1::uuid[], $2::timestamptz[], $3::uuid[], $4::text[])
        with ordinality as requested (id, now, event_id, reason, ordinal)
    ), noted as (
      insert into pix_timeline (transaction_id, phase, at, event_id, note)
      select requested.id, 'ANOMALY', requested.now, requested.event_id, requested.reason
        from requested
       where not exists (select from pix_timeline
                          where transaction_id = requested.id and phase = 'ANOMALY'
                            and event_id is not distinct from requested.event_id
                            and note = requested.reason)
      returning transaction_id
    )
    select ordinal from requested join noted on transaction_id = requested.id`,
};

/** Finds the event that has ended a transaction. Parameters: transaction id. */
export const findSettlingEvent: Statement = {
  name: 'pix-settling-event',
  text: `
    select event_id from pix_timeline
     where transaction_id = $1 and phase = 'SETTLED' and event_id is not null`,
};

/** Another send under the same Idempotency-Key. */
export interface KeyHolderRow {
  readonly id: string;
  /** Whether the provider has accepted it under the end-to-end id that is sought. */
  readonly is_sought: boolean;
}

/**
 * Finds another send with the same Idempotency-Key that may have left: keys are each user's own.
 * The one with the end-to-end id that is sought comes first.
 * Parameters: key, id of the transaction that it is not, end-to-end id or null.
 */
export const findKeyHolder: Statement = {
  name: 'pix-key-holder',
  text: `
    select id, end_to_end is not distinct from $3::text and outcome = 'accepted' as is_sought
      from pix_transactions
     where idempotency_key = $1 and operation = 'SEND' and id <> $2 and end_to_end is not null
     order by is_sought desc, created_at, id limit 1`,
};
