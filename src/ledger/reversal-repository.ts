/**
 * The statement that records a reversal. It is SQL, because it decides and writes under one lock.
 */
import { randomUUIDv7 } from 'node:crypto';
import type { LocalContext } from '../context/context.ts';
import { sql, statement } from '../db/statement.ts';
import { decimalFromCents } from '../domain/money.ts';
import { foundInStatementNote, refundedNote } from '../domain/pix.ts';

/** Money of a completed send that came back without a return id. */
export interface Reversal {
  readonly originalId: string;
  readonly amountCents: number;
  /** The provider's id of its line; null: it has none. */
  readonly providerTxid: string | null;
  /** Which one of the reversals of this amount in the statement, from 1. */
  readonly nth: number;
}

export type StoredReversal =
  /** `id` is null in a dry run. */
  | { readonly kind: 'stored'; readonly id: string | null }
  /** A refund of the same amount has recorded it. */
  | { readonly kind: 'known' }
  /** As many refunds of this amount are recorded, and each of them from a line with another id. */
  | { readonly kind: 'unclear' }
  /** All refunds together would be more than the send. */
  | { readonly kind: 'exceeds' }
  /** The send has changed meanwhile. */
  | { readonly kind: 'changed' };

/** A condition: a transaction gives an amount of a send back. */
const isRefund = (originalId: string, amount: string): string =>
  `refund.original_id = ${originalId} and refund.operation = 'REFUND_IN'
                        and refund.amount = ${amount}`;

/**
 * Records a reversal as a refund without a return id, unless the send has as many refunds of its
 * amount: a reversal and a refund of the same send and amount are one. A line with another id may
 * be another one, or the bank may have given it another id. The send's row is locked
 * first, as for every refund of it. If its sum has changed while the statement waited for the lock,
 * another refund has been recorded, which this statement does not see: it records nothing.
 */
const record = statement({
  name: 'pix-reversal',
  parameters: {
    id: 'uuid',
    originalId: 'uuid',
    amount: 'numeric',
    providerTxid: 'text null',
    nth: 'int',
    now: 'timestamptz',
    isDryRun: 'boolean',
  },
  text: ({ id, originalId, amount, providerTxid, nth, now, isDryRun }) => sql<{
    storedId: string | null;
    isCurrent: boolean;
    isKnown: boolean;
    isUnclear: boolean;
    fits: boolean;
  }>`
    with seen as materialized (
      select refunded_amount,
             (select count(*) from pix_transactions refund
               where ${isRefund(originalId, amount)}) as times,
             exists (select from pix_transactions refund
                      where ${isRefund(originalId, amount)}
                        and (refund.end_to_end is not null
                             or coalesce(refund.provider_txid = ${providerTxid}, true)))
               as may_be_own
        from pix_transactions where id = ${originalId}
    ), payment as (
      select t.id, t.user_id, t.amount, coalesce(t.refunded_amount, 0) as refunded_amount
        from pix_transactions t
       where t.id = ${originalId} and t.operation = 'SEND' and t.status = 'COMPLETED'
         for update
    ), judged as (
      select payment.id, payment.user_id,
             payment.refunded_amount = coalesce(seen.refunded_amount, 0) as is_current,
             seen.times >= ${nth} as is_counted, seen.may_be_own,
             payment.refunded_amount + ${amount} <= payment.amount as fits
        from payment, seen
    ), stored as (
      insert into pix_transactions
             (id, user_id, operation, status, phase, outcome, amount, provider_txid, original_id,
              created_at, updated_at, settled_at)
      select ${id}, user_id, 'REFUND_IN', 'COMPLETED', 'SETTLED', 'accepted', ${amount},
             ${providerTxid}, judged.id, ${now}, ${now}, ${now}
        from judged where is_current and not is_counted and fits and not ${isDryRun}
      returning id, original_id, amount
    ), counted as (
      update pix_transactions t
         set refunded_amount = coalesce(t.refunded_amount, 0) + stored.amount, updated_at = ${now}
        from stored where t.id = stored.original_id
    ), noted as (
      insert into pix_timeline (transaction_id, phase, at, provider_txid, note)
      select id, 'SETTLED', ${now}, ${providerTxid}, '${foundInStatementNote}' from stored
    ), noted_on_original as (
      insert into pix_timeline (transaction_id, phase, at, note)
      select original_id, 'SETTLED', ${now}, '${refundedNote} ' || id from stored
    )
    select stored.id as "storedId", judged.is_current as "isCurrent",
           is_counted and may_be_own as "isKnown", is_counted and not may_be_own as "isUnclear",
           judged.fits
      from judged left join stored on true`,
});

/** Records a reversal, once. */
export async function storeReversal(
  { db, clock }: Pick<LocalContext, 'db' | 'clock'>,
  { originalId, amountCents, nth, providerTxid }: Reversal,
  { isDryRun }: { readonly isDryRun: boolean },
): Promise<StoredReversal> {
  const [row] = await db.query(record, {
    id: randomUUIDv7(),
    originalId,
    amount: decimalFromCents(amountCents),
    providerTxid,
    nth,
    now: clock.now(),
    isDryRun,
  });
  if (!row?.isCurrent) return { kind: 'changed' };
  if (row.isKnown) return { kind: 'known' };
  if (row.isUnclear) return { kind: 'unclear' };
  if (!row.fits) return { kind: 'exceeds' };
  if (isDryRun) return { kind: 'stored', id: null };
  return row.storedId === null ? { kind: 'changed' } : { kind: 'stored', id: row.storedId };
}

/** @public For the tests of plans and of the simulation. */
export const reversalStatements = { record };
