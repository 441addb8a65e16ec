/** Shared parts of the statements that claim idempotency keys. */
import { ofHolder } from './key-holder.ts';

/** What a send with a fresh look-up is stored with. */
const begunColumns = {
  names: ', end_to_end, payee',
  values: ', end_to_end, payee::jsonb',
} as const;

/**
 * The middle of a statement that claims idempotency keys: it inserts the transactions of `source`,
 * where their keys are free. A send with an end-to-end id is PAYING in the commit of its claim; it
 * is not stored when another payment has the id.
 * @param source a table expression with a row for each call, and perhaps a condition.
 * @param further columns, after a comma.
 * @param mayBegin whether the source has `end_to_end` and `payee` of sends.
 */
export function reserveCte(source: string, further = '', mayBegin = false): string {
  const { names, values } = mayBegin ? begunColumns : { names: '', values: '' };
  const phase = mayBegin
    ? `case when end_to_end is null then 'RESERVED' else 'PAYING' end`
    : `'RESERVED'`;
  const begun = `, begun as (
      insert into pix_timeline (transaction_id, phase, at, attempt)
      select id, phase, created_at, 1 from reserved where phase = 'PAYING'
    )`;
  return `reserved as (
      insert into pix_transactions
             (id, user_id, operation, idempotency_key, fingerprint, status, phase, amount, pix_key,
              description, transaction_identification, claimed_until, created_at,
              updated_at${names}${further})
      select id, user_id, operation, idempotency_key, fingerprint, 'PROCESSING', ${phase}, amount,
             pix_key, description, transaction_identification, claimed_until, now,
             now${values}${further}
        from ${source}
          on conflict ${mayBegin ? '' : '(user_id, operation, idempotency_key) '}do nothing
      returning id, phase, created_at
    )${mayBegin ? begun : ''}`;
}

/**
 * The end of a statement with `reserveCte`: a row for each call. A new transaction is not read
 * back. It is the call's own also if it has the id of the call: then an earlier attempt was
 * committed, and the connection lost before its result. There is neither when the key belongs to a
 * transaction that the statement cannot see: one of another call of its batch, or one that was
 * committed after the statement began. The statement is then run again.
 * @param calls the table expression of the calls.
 * @param columns of the calls, beside the ordinal, that the result has.
 * @param options the columns `of` the transactions, and the condition `hasKey` of the one that has
 *   the key of a `call`.
 */
export function reservedRows(
  calls: string,
  columns: string,
  { of = ofHolder, hasKey = 'idempotency_key = call.idempotency_key' } = {},
): string {
  return `select ordinal, ${columns}, is_new or t.id = call.id as reserved,
           ${of.select('t')}
      from (select *, id in (select id from reserved) as is_new from ${calls}) call
      left join lateral (
             select ${of.list()} from pix_transactions
              where user_id = call.user_id and operation = call.operation
                and ${hasKey} and not call.is_new limit 1) t on true`;
}
