/**
 * Reservations of returns. The statement is SQL, because it decides under the locks of the payment
 * that is returned, and writes in the same round trip; the simulation runs it.
 */
import { mayPay } from '../accounts/payer-account.ts';
import type { LocalContext } from '../context/context.ts';
import { batchedStatement, sql } from '../db/statement.ts';
import { centsFromDecimal, decimalFromCents } from '../domain/money.ts';
import { issuerLength, maxReturnDays, uniqueLength } from '../domain/pix.ts';
import type { VerifiedToken } from '../process/access-tokens.ts';
import { asStored, toKeyHolder, type RequestClaims, type ReservedRow } from './key-holder.ts';
import { claimUntil } from './pix-transaction-repository.ts';
import {
  payerColumns,
  orderParameters,
  selectPayers,
  toPayer,
  type PayerColumns,
  type SendClaim,
} from './reservation-repository.ts';
import { reserveCte, reservedRows } from './reserve-cte.ts';
import { queryWithRetry } from './retried-query.ts';

/** A return as requested. */
export interface ReturnReservation {
  /** The id of the transaction if it is a new one. */
  readonly id: string;
  readonly idempotencyKey: string;
  readonly fingerprint: Buffer;
  readonly amountCents: number;
  /** The received Pix or the charge that is returned. */
  readonly transactionId: string;
  /** The id of the return if it is a new one. */
  readonly returnId: string;
  /** Stored as the description. */
  readonly reason: string;
  /** Each call adds its own. */
  readonly claims: RequestClaims;
}

/** Why a payment is not returned. */
export type ReturnRefusal =
  'not_found' | 'not_received' | 'no_end_to_end' | 'not_completed' | 'too_late' | 'too_much';

/** A condition: two return ids are those of one return, as `isSameReturn` says. */
function isSameReturnId(one: string, other: string): string {
  return `right(${one}, ${uniqueLength}) = right(${other}, ${uniqueLength})
               and left(${one}, ${issuerLength}) = left(${other}, ${issuerLength})`;
}

/** What was returned of a row of a payment, or may yet be. */
const refundedSum = 'coalesce(t.refunded_amount, 0) + coalesce(t.refunding_amount, 0)';

const isReceived = `t.operation in ('CHARGE', 'RECEIVED') and t.status = 'COMPLETED'`;

/**
 * Claims the idempotency key of a return as `reserveForSession` does that of a send, and inserts
 * the return with its return id if the payment has that amount left. No row: the session is not
 * active, and nothing is claimed.
 *
 * What was received may be stored twice, as a Pix of its own and as the charge that it has
 * completed: both rows are locked, the refunds of both are one sum, and the return is one of the
 * charge. A statement sees neither refunds that are committed while it waits for the locks nor
 * those of its own batch. So a return whose sums have changed since the statement began reserves
 * nothing and is run again, and the calls of a batch are of different users. The constraint of each
 * row holds besides.
 *
 * A refund that was only reported and has the return id of this key, apart from its minute, is a
 * return of this key whose row was lost: it has the key, so that it is not made again.
 */
const reserve = batchedStatement({
  name: 'pix-reserve-return',
  parameters: {
    ...orderParameters,
    transactionId: 'uuid',
    endToEnd: 'text',
    description: 'text',
    claimedUntil: 'timestamptz',
    namesLocal: 'boolean',
  },
  batching: { conflictKey: 'userId' },
  text: (requested) => sql<ReservedReturnRow>`
    with payer as (${selectPayers(requested, 'REFUND_OUT')}
    ), named as (
      select payer.ordinal, payer.end_to_end as return_id, t.id, t.operation, t.status, t.amount,
             t.end_to_end,
             case t.operation when 'CHARGE' then t.settled_at else t.created_at end as received_at
        from payer
        join pix_transactions t on t.id = any(array[payer.transaction_id])
                               and t.user_id = payer.user_id
    ), seen as (
      select named.ordinal, sum(${refundedSum}) as refunded
        from named join pix_transactions t on t.end_to_end = any(array[named.end_to_end])
       where ${isReceived}
       group by named.ordinal
    ), payment as (
      select named.ordinal, t.id, t.user_id, t.operation, ${refundedSum} as refunded
        from named join pix_transactions t on t.end_to_end = any(array[named.end_to_end])
       where ${isReceived}
       order by t.id for update of t
    ), summed as (
      select ordinal, sum(refunded) as refunded from payment group by ordinal
    ), original as (
      select named.ordinal, named.operation, named.status, named.received_at,
             named.end_to_end, named.amount - summed.refunded as left_amount,
             coalesce(seen.refunded = summed.refunded, true) as is_current,
             (select payment.id from payment join payer using (ordinal)
               where payment.ordinal = named.ordinal and payment.user_id = payer.user_id
               order by payment.operation, payment.id limit 1) as original_id,
             (select refund.id from payment
                join pix_transactions refund on refund.original_id = payment.id
               where payment.ordinal = named.ordinal and refund.operation = 'REFUND_OUT'
                 and refund.idempotency_key is null
                 and ${isSameReturnId('refund.end_to_end', 'named.return_id')}
               order by refund.id limit 1) as known_id
        from named
        left join seen on seen.ordinal = named.ordinal
        left join summed on summed.ordinal = named.ordinal
    ), judged as (
      select payer.*, null as pix_key, original.end_to_end as original_end_to_end,
             original.original_id, original.left_amount, original.known_id,
             coalesce(original.is_current, true) as is_current,
             case when original.ordinal is null then 'not_found'
                  when original.operation not in ('CHARGE', 'RECEIVED') then 'not_received'
                  when original.status = 'COMPLETED' and original.end_to_end is null
                  then 'no_end_to_end'
                  when original.original_id is null then 'not_completed'
                  when original.received_at < payer.now - interval '${maxReturnDays} days'
                  then 'too_late'
                  when payer.amount > original.left_amount then 'too_much' end as refusal
        from payer left join original on original.ordinal = payer.ordinal
    ), ${reserveCte(
      `judged where block is null and ${mayPay} and is_current and refusal is null
              and known_id is null`,
      ', end_to_end, original_id',
    )}
    ${reservedRows(
      'judged',
      `${payerColumns},
           original_end_to_end as "originalEndToEnd", is_current as "isCurrent",
           refusal as "unreturnable", left_amount as "leftAmount"`,
      { hasKey: '(idempotency_key = call.idempotency_key or id = call.known_id)' },
    )}`,
});

type ReservedReturnRow = ReservedRow &
  PayerColumns &
  Pick<ReservedReturn, 'isCurrent' | 'originalEndToEnd' | 'unreturnable'> & {
    readonly leftAmount: string | null;
  };

/** The result of the reservation of a return. */
export interface ReservedReturn extends SendClaim {
  /** False: the sums were out of date, and nothing was reserved for that reason. */
  readonly isCurrent: boolean;
  /** Of the payment; null where the user has none, or its id is not known yet. */
  readonly originalEndToEnd: string | null;
  /** Why it cannot be returned; null: it can. */
  readonly unreturnable: ReturnRefusal | null;
  /** What is left before this return, in centavos; null where the payment is not COMPLETED. */
  readonly leftCents: number | null;
}

/**
 * Claims the idempotency key of a return for a user whose account is ACTIVE and complete, or reads
 * the key's holder.
 * @returns null when the session of the token is not active.
 */
export async function claimReturn(
  context: LocalContext,
  token: VerifiedToken,
  reservation: ReturnReservation,
): Promise<ReservedReturn | null> {
  const { sessionId, userId } = token;
  const { id, idempotencyKey, returnId, claims } = reservation;
  const claimedUntil = claimUntil(context);
  claims.add(claimedUntil.getTime());
  const [row] = await queryWithRetry(context, reserve, {
    sessionId,
    userId,
    now: context.clock.now(),
    id,
    idempotencyKey,
    fingerprint: reservation.fingerprint,
    amount: decimalFromCents(reservation.amountCents),
    transactionId: reservation.transactionId,
    endToEnd: returnId,
    description: reservation.reason,
    claimedUntil,
    namesLocal: context.config.provider.stub,
  });
  if (!row) return null;
  const { block, isCurrent, originalEndToEnd, unreturnable, leftAmount } = row;
  const transaction = { id, idempotencyKey, userId, endToEnd: returnId } as const;
  const terms = { operation: 'REFUND_OUT', transactionIdentification: null } as const;
  return {
    payer: toPayer(token, row),
    block,
    holder: toKeyHolder(row, {
      transaction: asStored({ ...transaction, ...terms }),
      claimedUntil,
      claims,
    }),
    isCurrent,
    originalEndToEnd,
    unreturnable,
    leftCents: leftAmount === null ? null : centsFromDecimal(leftAmount),
  };
}

/** @public For the tests of plans and of the simulation. */
export const returnReservationStatements = { reserve };
