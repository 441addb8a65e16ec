/**
 * Corrections: a FAILED transaction that was paid becomes COMPLETED, once. Nothing else changes a
 * final status, and nothing changes COMPLETED. It is SQL, because the simulation runs settlement.
 */
import type { LocalContext } from '../context/context.ts';
import { columnsOf, type RowOf } from '../db/rows.ts';
import { isOneOf, sql, statement } from '../db/statement.ts';
import { inTransaction } from '../db/unit-of-work.ts';
import { centsFromDecimal } from '../domain/money.ts';
import {
  correctedNote,
  orderTypes,
  type OrderType,
  type PixStatus,
  type Source,
} from '../domain/pix.ts';
import { notifyingFinalStatus } from './move-repository.ts';

/**
 * Corrects an order or a charge that is FAILED, with its timeline row; no row: it is not FAILED, or
 * it has another end-to-end id. A send names a later send of the same user that has not failed, to
 * the same key, of the same amount or the same code: the customer may have paid again.
 */
const correct = statement({
  name: 'pix-correct',
  parameters: {
    id: 'uuid',
    endToEnd: 'text null',
    providerTxid: 'text null',
    now: 'timestamptz',
    eventId: 'uuid null',
    note: 'text',
  },
  text: ({ id, endToEnd, providerTxid, now, eventId, note }) => sql<Corrected>`
    with requested as (
      select ${id} as id, ${endToEnd} as end_to_end, ${providerTxid} as provider_txid,
             ${now} as now, ${eventId} as event_id, ${note} as note
    ), again as (
      select later.id
        from requested
        join pix_transactions t on t.id = requested.id and t.operation = 'SEND'
        join pix_transactions later
             on later.user_id = t.user_id and later.created_at > t.created_at
            and later.operation = 'SEND' and later.status <> 'FAILED'
            and later.pix_key = t.pix_key
            and (later.amount = t.amount or later.code_digest = t.code_digest
                 or later.code_payee_digest = t.code_payee_digest
                 or later.code_key_digest = t.code_key_digest)
       order by later.created_at, later.id limit 1
    ), corrected as (
      update pix_transactions t
         set status = 'COMPLETED', phase = 'SETTLED', outcome = 'accepted', failure_code = null,
             end_to_end = coalesce(t.end_to_end, requested.end_to_end),
             provider_txid = coalesce(t.provider_txid, requested.provider_txid),
             corrected_at = requested.now, settled_at = requested.now,
             updated_at = requested.now, paid_again_by = (select id from again)
        from requested
       where t.id = requested.id and t.status = 'FAILED'
         and ${isOneOf('t.operation', ['CHARGE', ...orderTypes])}
         and coalesce(t.end_to_end = requested.end_to_end, true)
      returning t.id, t.paid_again_by
    ), noted as (
      insert into pix_timeline (transaction_id, phase, at, event_id, note, provider_txid)
      select corrected.id, 'SETTLED', requested.now, requested.event_id, requested.note,
             requested.provider_txid
        from corrected, requested
    )
    select id, paid_again_by as "paidAgainBy", ${notifyingFinalStatus('corrected')} as notified
      from corrected`,
});

/**
 * Increases the version of the limits of the user of a send that pays a code, and locks it until
 * the correction is committed. A send of the same code that was judged before is judged again, and
 * one that was claimed before is seen by the correction, whose statement begins after it.
 */
const judgeAgain = statement({
  name: 'pix-code-judge-again',
  parameters: { id: 'uuid' },
  text: ({ id }) => sql`
    insert into pix_limits as own (user_id, version)
    select user_id, 1 from pix_transactions
     where id = ${id} and operation = 'SEND' and code_digest is not null
        on conflict (user_id) do update set version = own.version + 1
    returning user_id`,
});

/** The proof that a FAILED transaction was paid. */
export interface CorrectionProof {
  /** The end-to-end id of the payment. */
  readonly endToEnd: string | null;
  readonly providerTxid: string | null;
  /** What proves it: an event, fixed words, or an operator's name and reason. */
  readonly source: Source;
}

/** A corrected transaction. */
export interface Corrected {
  /** A later send of the same user, key and amount that has not failed, or null. */
  readonly paidAgainBy: string | null;
}

/**
 * Corrects a FAILED transaction. Concurrent corrections change it once.
 * @returns null when it is not FAILED, or has another end-to-end id.
 */
export function correctTransaction(
  context: Pick<LocalContext, 'db' | 'clock'>,
  id: string,
  { endToEnd, providerTxid, source: { eventId, note } }: CorrectionProof,
): Promise<Corrected | null> {
  return inTransaction(context, async ({ db, clock }) => {
    await db.query(judgeAgain, { id });
    const [corrected] = await db.query(correct, {
      id,
      endToEnd,
      providerTxid,
      now: clock.now(),
      eventId,
      note: note === null ? correctedNote : `${correctedNote} ${note}`,
    });
    return corrected ?? null;
  });
}

const awaitsReturns = statement({
  name: 'pix-correction-awaits',
  parameters: { id: 'uuid' },
  text: ({ id }) => sql<{ id: string }>`
    select given_back.id from pix_transactions given_back
      join pix_transactions original on original.id = given_back.original_id
     where given_back.id = ${id} and given_back.operation = 'REFUND_OUT'
       and original.refunding_amount is not null
       and coalesce(original.refunded_amount, 0) + given_back.amount <= original.amount`,
});

/**
 * @returns whether only open returns of the same Pix keep a FAILED return from being corrected: the
 *   sum of all would exceed the Pix, and they may fail.
 */
export async function awaitsOpenReturns(
  { db }: Pick<LocalContext, 'db'>,
  id: string,
): Promise<boolean> {
  return (await db.query(awaitsReturns, { id })).length > 0;
}

/** An order that is not COMPLETED, and whose payment is sought in the provider's statement. */
export interface SoughtOrder {
  readonly id: string;
  readonly userId: number;
  readonly operation: OrderType;
  readonly status: PixStatus;
  /** Of a return: its return id. */
  readonly endToEnd: string;
  /** In centavos; null: an amount that is too large to compare. */
  readonly amountCents: number | null;
  /** The request id that the provider knows; null: not looked for. */
  readonly idempotencyKey: string | null;
}

const failed = columnsOf('pix_transactions', 'id, operation, amount, endToEnd');

interface FailedRow extends RowOf<typeof failed> {
  readonly operation: OrderType;
  readonly amount: string;
  readonly endToEnd: string;
}

const findFailed = statement({
  name: 'pix-failed-sends',
  parameters: { userId: 'int', from: 'timestamptz', until: 'timestamptz', limit: 'int' },
  text: ({ userId, from, until, limit }) => sql<FailedRow>`
    select ${failed.select()} from pix_transactions
     where user_id = ${userId} and created_at >= ${from} and created_at < ${until}
       and ${isOneOf('operation', orderTypes)}
       and status = 'FAILED' and end_to_end is not null
     order by created_at desc, id desc limit ${limit}`,
});

/** The most that are compared with one statement. */
const maxFailedOrders = 500;

/** @returns the FAILED orders of a user that may have been sent, newest first. */
export async function findFailedOrders(
  { db }: Pick<LocalContext, 'db'>,
  { userId, from, until }: { readonly userId: number; readonly from: Date; readonly until: Date },
): Promise<SoughtOrder[]> {
  const rows = await db.query(findFailed, { userId, from, until, limit: maxFailedOrders });
  return rows.map(({ id, operation, amount, endToEnd }) => ({
    id,
    userId,
    operation,
    status: 'FAILED',
    endToEnd,
    amountCents: centsFromDecimal(amount),
    idempotencyKey: null,
  }));
}

/** @public For the tests of plans and of the simulation. */
export const correctionStatements = { judgeAgain, correct, awaitsReturns, findFailed };
