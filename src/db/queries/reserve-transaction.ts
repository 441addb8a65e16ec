import type { Statement } from '../database.ts';
import { claimedColumns, columnsOf, type ClaimedRow } from './pix-row.ts';
import { waking } from './wake-events.ts';

/** A claimed transaction, or the one that has its key. */
export type ReservedRow = ClaimedRow & {
  /** It is the caller's own: from this try, or from an earlier one whose answer was lost. */
  readonly reserved: boolean;
};

/**
 * The middle of a statement that claims idempotency keys: it inserts the transactions of `source`,
 * each with its first timeline row, as far as their keys are free. The rows that the statement
 * answers for them carry `wakingReserved`.
 * @param source a table expression with a row for each call, and perhaps a condition.
 */
export function reserving(source: string): string {
  return `reserved as (
      insert into pix_transactions
             (id, user_id, operation, idempotency_key, fingerprint, status, phase, amount, pix_key,
              description, transaction_identification, claimed_until, created_at, updated_at)
      select id, user_id, operation, idempotency_key, fingerprint, 'PROCESSING', 'RESERVED', amount,
             pix_key, description, transaction_identification, claimed_until, now, now
        from ${source}
          on conflict (user_id, operation, idempotency_key) do nothing
      returning ${claimedColumns}, provider_txid, created_at
    ), noted as (
      insert into pix_timeline (transaction_id, phase, at)
      select id, phase, created_at from reserved
    )`;
}

/** The column that goes with `reserving`: it wakes the events that wait for what was inserted. */
export const wakingReserved = waking('reserved', 'told.created_at');

/**
 * Finds what has the key of a call, within a `lateral` join.
 * @param call the table expression of the calls.
 * @param condition when it is looked for at all.
 */
export function havingKeyOf(call: string, condition = 'true'): string {
  return `select ${claimedColumns} from pix_transactions
              where user_id = ${call}.user_id and operation = ${call}.operation
                and idempotency_key = ${call}.idempotency_key and ${condition} limit 1`;
}

/**
 * Claims an idempotency key by inserting the transaction, or answers the transaction that has it.
 * One that has the id of the call is the call's own: an earlier try was committed, and the
 * connection lost before the answer. Neither comes back when another request committed the same key
 * between this statement's snapshot and its insert: then the statement is run again.
 * Parameters, grouped: id, user id, operation, key, fingerprint, amount, pix key, description,
 * transactionIdentification, claimed until, now.
 */
export const reserveTransaction: Statement = {
  name: 'pix-reserve',
  grouping: { inOrderOf: [4, 2] },
  text: `
    with asked as (
      select * from unnest($1::uuid[], $2::int[], $3::text[], $4::text[], $5::bytea[],
                           $6::numeric[], $7::text[], $8::text[], $9::text[], $10::timestamptz[],
                           $11::timestamptz[])
        with ordinality as asked (id, user_id, operation, idempotency_key, fingerprint, amount,
          pix_key, description, transaction_identification, claimed_until, now, place)
    ), ${reserving('asked')}
    select place, true as reserved, ${columnsOf('reserved', claimedColumns)}, ${wakingReserved}
      from reserved join asked using (id)
     union all
    select place, t.id = asked.id, ${columnsOf('t', claimedColumns)}, null
      from asked, lateral (${havingKeyOf('asked')}) t
     where asked.id not in (select id from reserved)`,
};
