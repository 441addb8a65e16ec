/** The statement that records a refund. It is SQL, because it decides and writes under one lock. */
import { randomUUIDv7 } from 'node:crypto';
import type { LocalContext } from '../context/context.ts';
import { batchedStatement, sql } from '../db/statement.ts';
import { decimalFromCents } from '../domain/money.ts';
import { refundedNote, type RefundType, type Source } from '../domain/pix.ts';
import { datedReports } from './transaction-repository.ts';

/** A refund of a completed transaction. */
export interface Refund {
  /** The transaction that is refunded, and its end-to-end id. */
  readonly originalId: string;
  readonly endToEnd: string;
  readonly operation: RefundType;
  readonly amountCents: number;
  /** `D…`, stored as the refund's end-to-end id: one refund for each, of each operation. */
  readonly returnId: string;
  readonly providerTxid: string | null;
  /** When it was made, as the event reports. */
  readonly at: Date | null;
}

/** What became of a refund. */
export type StoredRefund =
  | { readonly kind: 'stored'; readonly id: string }
  /** It was recorded before; `isSame`: of the same payment, with the same amount. */
  | { readonly kind: 'known'; readonly id: string; readonly isSame: boolean }
  /** All refunds together would be more than the transaction. */
  | { readonly kind: 'exceeds' }
  /** They would be more with the returns that are open: it waits for the end of these. */
  | { readonly kind: 'waits' };

/**
 * The sum of the refunds as this statement sees it, and the reversal of the same amount that waits
 * for a return id, unless a refund has that id.
 */
const seenSums = `seen as materialized (
      select requested.ordinal, coalesce(t.refunded_amount, 0) as refunded_amount,
             (select reversal.id from pix_transactions reversal
               where reversal.original_id = t.id and reversal.operation = requested.operation
                 and reversal.end_to_end is null and reversal.amount = requested.amount
                 and not exists (select from pix_transactions refund
                                  where refund.end_to_end = requested.return_id
                                    and refund.operation = requested.operation)
               order by reversal.created_at, reversal.id limit 1) as reversal_id
        from requested join pix_transactions t on t.id = any(array[requested.original_id])
    )`;

/** The reversal gets the return id, and the provider's id that comes with it. */
const adopting = `adopted as (
      update pix_transactions t
         set end_to_end = requested.return_id, updated_at = requested.now,
             provider_txid = coalesce(t.provider_txid, requested.provider_txid)
        from requested join original using (ordinal)
       where t.id = any(array[original.reversal_id]) and t.end_to_end is null
      returning requested.ordinal, t.id, t.updated_at
    ), noted_on_adopted as (
      insert into pix_timeline (transaction_id, phase, at, event_id, provider_txid, note)
      select adopted.id, 'SETTLED', adopted.updated_at, requested.event_id,
             requested.provider_txid, 'IDENTIFIED'
        from adopted join requested using (ordinal)
    )`;

/**
 * Records a refund, once for its return id, with its timeline row and one of the transaction that
 * it refunds, which it leaves as it is otherwise. The row of that transaction has the sum of its
 * refunds and is locked first, so that concurrent refunds are counted one after the other; a
 * constraint holds the sum too. What was received may be stored twice, as a Pix of its own and as
 * the charge that it has completed: the refunds of both are one sum. Returns that are open count as
 * well: one of them may be made.
 * A reversal of the same amount that the statement has brought is the same money: it gets the
 * return id. If the sum has changed while the statement waited for the lock, a reversal may have
 * been recorded that it does not see: it records nothing.
 */
export const recordRefund = batchedStatement({
  name: 'pix-refund',
  parameters: {
    id: 'uuid',
    originalId: 'uuid',
    operation: 'text',
    amount: 'numeric',
    returnId: 'text',
    providerTxid: 'text null',
    now: 'timestamptz',
    eventId: 'uuid null',
    reportedAt: 'timestamptz null',
    endToEnd: 'text',
    note: 'text null',
  },
  batching: { conflictKey: 'endToEnd' },
  text: (requested) => sql<RefundRow>`
    with ${datedReports(requested)}, ${seenSums}, payment as (
      select requested.ordinal, t.id, t.user_id, t.amount,
             coalesce(t.refunded_amount, 0) as refunded_amount,
             coalesce(t.refunding_amount, 0) as refunding_amount
        from requested
        join pix_transactions t on t.end_to_end = any(array[requested.end_to_end])
       where t.status = 'COMPLETED'
         and (t.operation = 'SEND') = (requested.operation = 'REFUND_IN')
       order by t.id for update of t
    ), original as (
      select requested.ordinal, payment.user_id,
             (select sum(part.refunded_amount + part.refunding_amount) from payment part
               where part.ordinal = requested.ordinal) + requested.amount
               <= payment.amount as fits,
             (select sum(part.refunded_amount) from payment part
               where part.ordinal = requested.ordinal) + requested.amount
               <= payment.amount as may_fit,
             payment.refunded_amount = seen.refunded_amount as is_current, seen.reversal_id
        from requested
        join payment on payment.ordinal = requested.ordinal
                    and payment.id = requested.original_id
        join seen on seen.ordinal = requested.ordinal
    ), ${adopting}, stored as (
      insert into pix_transactions
             (id, user_id, operation, status, phase, outcome, amount, end_to_end, provider_txid,
              original_id, created_at, updated_at, settled_at)
      select requested.id, original.user_id, requested.operation, 'COMPLETED', 'SETTLED',
             'accepted', requested.amount, requested.return_id, requested.provider_txid,
             requested.original_id, requested.at, requested.now, requested.now
        from requested join original using (ordinal)
       where original.fits and original.is_current and original.reversal_id is null
       order by requested.return_id
          on conflict (end_to_end, operation) where end_to_end is not null do nothing
      returning id, original_id, amount, updated_at
    ), counted as (
      update pix_transactions t
         set refunded_amount = coalesce(t.refunded_amount, 0) + stored.amount,
             updated_at = stored.updated_at
        from stored where t.id = any(array[stored.original_id])
    ), noted as (
      insert into pix_timeline (transaction_id, phase, at, event_id, provider_txid, note)
      select stored.id, 'SETTLED', stored.updated_at, requested.event_id, requested.provider_txid,
             requested.note
        from stored join requested using (id)
    ), noted_on_original as (
      insert into pix_timeline (transaction_id, phase, at, event_id, note)
      select stored.original_id, 'SETTLED', stored.updated_at, requested.event_id,
             '${refundedNote} ' || stored.id
        from stored join requested using (id)
    )
    select requested.ordinal, coalesce(stored.id, adopted.id) as "storedId", known.id as "knownId",
           known.end_to_end = requested.end_to_end and known.amount = requested.amount as "isSame",
           known.status = 'COMPLETED' as "isMade",
           original.fits or not original.is_current or original.reversal_id is not null as fits,
           original.may_fit as "mayFit"
      from requested
      left join original using (ordinal)
      left join stored on stored.id = requested.id
      left join adopted using (ordinal)
      left join lateral (
             select refund.id, refund.amount, refund.status, t.end_to_end
               from pix_transactions refund
               join pix_transactions t on t.id = refund.original_id
              where refund.end_to_end = requested.return_id
                and refund.operation = requested.operation limit 1) known on true`,
});

interface RefundRow {
  readonly storedId: string | null;
  readonly knownId: string | null;
  readonly isSame: boolean | null;
  /** False: it is a return of this service, which its event ends. */
  readonly isMade: boolean | null;
  /**
   * Null: the refunded transaction is no longer COMPLETED, after a failover. True without a stored
   * row: it has changed meanwhile.
   */
  readonly fits: boolean | null;
  /** Whether it fits without the returns that are open. */
  readonly mayFit: boolean | null;
}

/**
 * Records a refund.
 * @returns what became of it; null when the stored transactions have changed meanwhile, or the
 *   event is no longer stored.
 */
export async function storeRefund(
  { db, clock }: LocalContext,
  { eventId, note }: Source,
  refund: Refund,
): Promise<StoredRefund | null> {
  const { originalId, endToEnd, operation, amountCents, returnId, providerTxid, at } = refund;
  const [row] = await db.query(recordRefund, {
    id: randomUUIDv7(),
    originalId,
    operation,
    amount: decimalFromCents(amountCents),
    returnId,
    providerTxid,
    now: clock.now(),
    eventId,
    reportedAt: at,
    endToEnd,
    note,
  });
  if (!row) return null;
  const { storedId, knownId, isSame, isMade, fits, mayFit } = row;
  if (knownId !== null) {
    return isMade === true ? { kind: 'known', id: knownId, isSame: isSame === true } : null;
  }
  if (storedId !== null) return { kind: 'stored', id: storedId };
  if (fits !== false) return null;
  return mayFit === true ? { kind: 'waits' } : { kind: 'exceeds' };
}
