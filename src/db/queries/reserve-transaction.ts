import type { Statement } from '../database.ts';
import { pixColumns, pixColumnsOf } from './pix-row.ts';
import { waking } from './wake-events.ts';

/**
 * Claims an idempotency key by inserting the transaction, with its first timeline row, or answers
 * the transaction that has it. One that has the id of the call is the call's own: an earlier try
 * was committed, and the connection lost before the answer. Neither comes back when another request
 * committed the same key between this statement's snapshot and its insert: then the statement is
 * run again.
 * Parameters, grouped: id, user id, operation, key, fingerprint, amount, pix key, description,
 * transactionIdentification, claimed until, now.
 */
export const reserveTransaction: Statement = {
  name: 'pix-reserve',
  grouping: {},
  text: `
    with asked as (
      select * from unnest($1::uuid[], $2::int[], $3::text[], $4::text[], $5::bytea[],
                           $6::numeric[], $7::text[], $8::text[], $9::text[], $10::timestamptz[],
                           $11::timestamptz[])
        with ordinality as asked (id, user_id, operation, idempotency_key, fingerprint, amount,
          pix_key, description, transaction_identification, claimed_until, now, place)
    ), reserved as (
      insert into pix_transactions
             (id, user_id, operation, idempotency_key, fingerprint, status, phase, amount, pix_key,
              description, transaction_identification, claimed_until, created_at, updated_at)
      select id, user_id, operation, idempotency_key, fingerprint, 'PROCESSING', 'RESERVED', amount,
             pix_key, description, transaction_identification, claimed_until, now, now
        from asked order by user_id, operation, idempotency_key
          on conflict (user_id, operation, idempotency_key) do nothing
      returning ${pixColumns}
    ), noted as (
      insert into pix_timeline (transaction_id, phase, at)
      select id, phase, created_at from reserved
    ), ${waking('reserved', 'told.created_at')}
    select place, true as reserved, ${pixColumnsOf('reserved')}
      from reserved join asked using (id)
     union all
    select place, t.id = asked.id, ${pixColumnsOf('t')}
      from asked, lateral (
             select ${pixColumns} from pix_transactions
              where user_id = asked.user_id and operation = asked.operation
                and idempotency_key = asked.idempotency_key limit 1) t
     where asked.id not in (select id from reserved)`,
};
