import type { AccountStatus } from '../../domain/account.ts';
import type { Statement } from '../database.ts';
import { claimedColumns, columnsOf, type ClaimedRow } from './pix-row.ts';
import { waking } from './wake-events.ts';

type NoColumns = { readonly [Column in keyof ClaimedRow]: null };

/** What has the key of a call. */
export type FoundRow =
  /** Reserved: the call's own, by an earlier try whose answer was lost. */
  | (ClaimedRow & { readonly reserved: boolean })
  /** It was stored just now, as it was asked for. */
  | (NoColumns & { readonly reserved: true });

/**
 * What has the key of a call. Nothing is told when the call was not to be stored, or when the key
 * belongs to a transaction that the statement cannot see: one of another call of its batch, or one
 * that was committed after it began.
 */
export type ReservedRow = FoundRow | (NoColumns & { readonly reserved: null });

/**
 * The middle of a statement that claims idempotency keys: it inserts the transactions of `source`,
 * each with its first timeline row, as far as their keys are free.
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
      returning id, operation, idempotency_key, end_to_end, transaction_identification,
                provider_txid, created_at
    ), noted as (
      insert into pix_timeline (transaction_id, phase, at)
      select id, 'RESERVED', created_at from reserved
    )`;
}

/**
 * The end of a statement with `reserving`: a row for each call. What was stored is not read back.
 * @param calls the table expression of the calls.
 * @param columns of theirs, beside the ordinal, which come with the answer.
 */
export function reservedFor(calls: string, columns: readonly string[] = []): string {
  return `select ${['ordinal', ...columns].join(', ')}, is_new or t.id = call.id as reserved,
           ${columnsOf('t', claimedColumns)}, ${waking('reserved', 'told.created_at')}
      from (select *, id in (select id from reserved) as is_new from ${calls}) call
      left join lateral (
             select ${claimedColumns} from pix_transactions
              where user_id = call.user_id and operation = call.operation
                and idempotency_key = call.idempotency_key and not call.is_new limit 1) t on true`;
}

/** What has the key of a call, with the status of the user's account; null: there is none. */
export type ReservedForAccountRow = ReservedRow & {
  readonly account_status: AccountStatus | null;
};

/**
 * Claims an idempotency key by inserting the transaction, or answers the transaction that has it.
 * Nothing is inserted for an account that is not ACTIVE.
 * One that has the id of the call is the call's own: an earlier try was committed, and the
 * connection lost before the answer. Neither is there when another request took the same key
 * between this statement's snapshot and its insert: then the statement is run again.
 * Parameters, batched: id, user id, operation, key, fingerprint, amount, pix key, description,
 * transactionIdentification, claimed until, now.
 */
export const reserveTransaction: Statement = {
  name: 'pix-reserve',
  batching: { lockOrder: [4, 2] },
  text: `
    with requested as (
      select requested.*, a.status as account_status
        from unnest($1::uuid[], $2::int[], $3::text[], $4::text[], $5::bytea[],
                    $6::numeric[], $7::text[], $8::text[], $9::text[], $10::timestamptz[],
                    $11::timestamptz[])
             with ordinality as requested (id, user_id, operation, idempotency_key, fingerprint,
               amount, pix_key, description, transaction_identification, claimed_until, now,
               ordinal)
        left join accounts a on a.user_id = requested.user_id
    ), ${reserving(`requested where account_status = 'ACTIVE'`)}
    ${reservedFor('requested', ['account_status'])}`,
};
