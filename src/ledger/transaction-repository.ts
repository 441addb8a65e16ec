/**
 * Statements for the transactions and accounts that events concern: the reads that a decision
 * depends on, and the two writes that only settlement makes. Concurrent calls share a round trip.
 */
import { randomUUIDv7 } from 'node:crypto';
import type { LocalContext } from '../context/context.ts';
import { columnsOf, type RowOf } from '../db/rows.ts';
import { batchedStatement, isOneOf, sql, statement } from '../db/statement.ts';
import {
  matchesCallId,
  processed,
  processedColumns,
  shortTxid,
} from './pix-transaction-repository.ts';
import { findPayees, type PayeeRow } from './payee-repository.ts';
import { sessionRefused } from './attempt-repository.ts';
import { mayHaveLostAttempts } from './block.ts';
import { accountDocument } from '../auth/session-repository.ts';
import { decimalFromCents } from '../domain/money.ts';
import { normalisePixKey } from '../domain/pix-key.ts';
import {
  correctedNote,
  foundAfterLossNote,
  repeatNotes,
  type PixStatus,
  type Source,
} from '../domain/pix.ts';
import type { WebhookItem } from '../provider/webhook-events.ts';

/**
 * The largest number of candidates that is read. When the limit is reached there may be more, so a
 * single match among them is not necessarily unique.
 */
export const maxCandidates = 20;

const ofCandidate = columnsOf(
  'pix_transactions',
  `${processedColumns}, pixKey, providerTxid, createdAt, expiresAt, reachedPayee`,
);

/** The columns of the candidates `found`. */
export const candidateColumns = `${ofCandidate.select('found')}, found.repeated, found.owner,
           found.paid_by as "paidBy"`;

/** A transaction that an item may concern. */
export interface CandidateRow extends RowOf<typeof ofCandidate> {
  readonly amount: string;
  /** The id that the item names, if it is one of the provider's ids of the transaction. */
  readonly providerTxid: string | null;
  /** Whether it is open and was, or may have been, repeated after an unknown outcome. */
  readonly repeated: boolean;
  /** The account of a charge's owner: agency, account number, document. Null for other types. */
  readonly owner: readonly [string | null, string | null, string | null] | null;
  /**
   * The event that completed a charge and the provider's id of that payment, each if it is known.
   * Null for an open charge and for other types.
   */
  readonly paidBy: readonly [string | null, string | null] | null;
  /** Of a return that a user has made here: the transaction that it gives back. */
  readonly originalId?: string | null;
}

/** The stored rows that an item may concern: everything that a decision depends on. */
export interface Candidates {
  /** The transactions that share an id with the item, the closest first. */
  readonly candidates: readonly CandidateRow[];
  /** The accounts that the item names as its payee, at most two. */
  readonly payees: readonly PayeeRow[];
}

/** A received Pix that completes no charge. */
export interface ReceivedPix {
  readonly userId: number;
  readonly amountCents: number;
  readonly pixKey: string | null;
  /** Null: then the provider's own id identifies the payment. */
  readonly endToEnd: string | null;
  readonly providerTxid: string | null;
  /** The time of receipt that the event reports. */
  readonly at: Date | null;
}

/**
 * The candidates of each row of `requested`, a table expression with the ids of an item, as
 * `found`. A part of a FROM clause: `requested, ${joinCandidates}`.
 */
export const joinCandidates = `
           lateral (
             select array(select transaction_id from pix_timeline
                           where provider_txid = requested.provider_txid) as ids) reported,
           lateral (
             select ${processed.list('t')}, t.pix_key,
                    case when t.id = any(reported.ids) then requested.provider_txid
                         else t.provider_txid end as provider_txid,
                    t.created_at, t.expires_at, t.reached_payee,
                    t.status = 'PROCESSING' and (${isRepeated('t')}) as repeated,
                    case when t.operation = 'CHARGE' then ${selectOwner('t')} end as owner,
                    case when t.operation = 'CHARGE' and t.status = 'COMPLETED'
                         then ${selectEnd('t')} end as paid_by
               from pix_transactions t
              where (t.end_to_end = requested.end_to_end
                     and t.operation in ('SEND', 'CHARGE', 'RECEIVED'))
                 or (t.idempotency_key = requested.client_request_id and t.operation = 'SEND'
                     and t.amount is not null)
                 or ${shortTxid('t.transaction_identification')} = ${shortTxid('requested.txid')}
                 or t.id = any(reported.ids)
              order by ${closeness('t')} limit ${maxCandidates}) found`;

/**
 * The transactions that an item's ids may name. Those named by a unique id come first, because many
 * users may have the same client request id. A transaction may have several ids of the provider; if
 * the item names one of them, the row has that one.
 */
export const findCandidates = batchedStatement({
  name: 'pix-candidates',
  parameters: {
    endToEnd: 'text null',
    clientRequestId: 'text null',
    txid: 'text null',
    providerTxid: 'text null',
  },
  batching: {},
  text: (requested) => sql<CandidateRow>`
    select ordinal, ${candidateColumns}
      from ${requested}, ${joinCandidates}
     order by ordinal, ${closeness('found')}`,
});

/**
 * A condition: the payment was repeated after an attempt with an unknown end, or its attempts are
 * lost. An attempt that was answered by 401 is accounted for: it is repeated only where the bank
 * recognises the repeat, so that the failure is that of both.
 */
function isRepeated(table: string): string {
  // A scalar subquery: PostgreSQL turns `exists` into a join that may read the whole timeline.
  return `coalesce((select true from pix_timeline attempt
                     where attempt.transaction_id = ${table}.id and attempt.phase = 'PAYING'
                       and ${isOneOf('attempt.note', [repeatNotes.unknown, foundAfterLossNote])}
                       and attempt.http_status is distinct from ${sessionRefused}
                     limit 1), false)
          or ${mayHaveLostAttempts(table)}`;
}

/**
 * The account of a transaction's user; the document is that of the user if the account has none.
 */
function selectOwner(table: string): string {
  return `(select array[a.agency, a.account_number, ${accountDocument}]
                     from accounts a join users u on u.id = a.user_id
                    where a.user_id = ${table}.user_id)`;
}

/**
 * The step that ended a charge: its event, and the provider's id of the payment, if the event
 * reported one: an id that an earlier step has is the charge's own. Of a charge that was corrected
 * it is the correction.
 */
function selectEnd(table: string): string {
  return `(select array[event_id::text,
                                   case when not exists (
                                          select from pix_timeline earlier
                                           where earlier.transaction_id = step.transaction_id
                                             and earlier.id < step.id
                                             and earlier.provider_txid = step.provider_txid)
                                        then provider_txid end]
                      from pix_timeline step
                     where step.transaction_id = ${table}.id and step.phase = 'SETTLED'
                     order by (note like '${correctedNote}%') is true desc, step.id limit 1)`;
}

/** The order of candidates: a transaction that is named by a unique id precedes all others. */
export function closeness(table: string): string {
  return `(${table}.end_to_end = requested.end_to_end) is true desc,
          (${shortTxid(`${table}.transaction_identification`)}
             = ${shortTxid('requested.txid')}) is true desc,
          (${table}.provider_txid = requested.provider_txid) is true desc`;
}

/**
 * The returns that users have made here of the payment that a refund gives back, and the one that
 * has the return id of the refund. There are few returns of one payment.
 */
export const findReturns = batchedStatement({
  name: 'pix-returns',
  parameters: { endToEnd: 'text null', returnId: 'text', txid: 'text null' },
  batching: {},
  text: (requested) => sql<CandidateRow>`
    select requested.ordinal, ${ofCandidate.select('t')}, null as owner, null as "paidBy",
           t.status = 'PROCESSING' and (${isRepeated('t')}) as repeated,
           t.original_id as "originalId"
      from ${requested}
      join pix_transactions t
           on t.id = any(array(
                select made.id from pix_transactions original
                  join pix_transactions made on made.original_id = original.id
                 where (original.end_to_end = requested.end_to_end
                        or ${shortTxid('original.transaction_identification')}
                             = ${shortTxid('requested.txid')})
                   and original.operation in ('CHARGE', 'RECEIVED')
                   and made.operation = 'REFUND_OUT' and made.idempotency_key is not null
                 union
                select made.id from pix_transactions made
                 where made.end_to_end = requested.return_id and made.operation = 'REFUND_OUT'
                   and made.idempotency_key is not null))
     order by requested.ordinal, t.created_at, t.id`,
});

/**
 * Reads the stored rows that an item may concern.
 * @returns the candidates and the payees, each in the order of their closeness.
 */
export async function loadCandidates(
  { db, config }: LocalContext,
  { kind, ids, payee, refund }: WebhookItem,
): Promise<Candidates> {
  const { endToEnd, clientRequestId, transactionIdentification, providerTxid } = ids;
  const { document, maskedDocument, agency, accountNumber, key } = payee;
  // A payment without a direction may be that of a charge.
  const mayBeReceived =
    kind === 'received' || (kind === 'payment' && transactionIdentification !== null);
  const namesPayee = [document, agency, accountNumber, key].some((one) => one !== null);
  const [candidates, returns, payees] = await Promise.all([
    db.query(findCandidates, {
      endToEnd,
      clientRequestId,
      txid: transactionIdentification,
      providerTxid,
    }),
    refund
      ? db.query(findReturns, {
          endToEnd,
          txid: transactionIdentification,
          returnId: refund.returnId,
        })
      : [],
    mayBeReceived && namesPayee
      ? db.query(findPayees, {
          document,
          documentPattern: maskedDocument?.replaceAll('*', '_') ?? null,
          agency,
          accountNumber,
          pixKey: key === null ? null : normalisePixKey(key).key,
          countsLocal: config.provider.stub,
        })
      : [],
  ]);
  return { candidates: [...candidates, ...returns], payees };
}

const readStatuses = statement({
  name: 'pix-statuses',
  parameters: { ids: 'uuid[]' },
  text: ({ ids }) =>
    sql<
      Pick<CandidateRow, 'id' | 'status'>
    >`select id, status from pix_transactions where id = any(${ids})`,
});

/** @returns the status of each of these transactions that is stored. */
export async function findStatuses(
  { db }: Pick<LocalContext, 'db'>,
  ids: readonly string[],
): Promise<ReadonlyMap<string, PixStatus>> {
  const rows = await db.query(readStatuses, { ids });
  return new Map(rows.map(({ id, status }) => [id, status]));
}

/**
 * Stores the end-to-end id of the payment that completed a charge or was recorded without it, once:
 * later payments of the charge are different payments.
 */
export const identifyPayment = batchedStatement({
  name: 'pix-identify',
  parameters: { id: 'uuid', endToEnd: 'text', now: 'timestamptz', eventId: 'uuid null' },
  batching: { conflictKey: 'id' },
  text: (requested) => sql`
    with requested as (
      select * from ${requested}
    ), identified as (
      update pix_transactions t set end_to_end = requested.end_to_end, updated_at = requested.now
        from requested
       where ${matchesCallId('requested')} and t.operation in ('CHARGE', 'RECEIVED')
         and t.status = 'COMPLETED' and t.end_to_end is null
      returning requested.ordinal, requested.event_id, t.id, t.updated_at
    ), noted as (
      insert into pix_timeline (transaction_id, phase, at, event_id, note)
      select id, 'SETTLED', updated_at, event_id, 'IDENTIFIED' from identified
    )
    select ordinal from identified`,
});

/**
 * Stores the end-to-end id of a payment that was stored without it.
 * @returns whether the id was unknown before.
 */
export async function storeIdentity(
  { db, clock }: LocalContext,
  identity: { transactionId: string; endToEnd: string; eventId: string | null },
): Promise<boolean> {
  const { transactionId, endToEnd, eventId } = identity;
  const rows = await db.query(identifyPayment, {
    id: transactionId,
    endToEnd,
    now: clock.now(),
    eventId,
  });
  return rows.length > 0;
}

/**
 * The common table expression `requested`: the calls, each with `at`, the date of what it reports.
 * That is the reported one if it is at most 90 days before and five minutes after the receipt of
 * the event, otherwise the time of that receipt. A line of the provider's statement has no event:
 * it is received now.
 * @param calls the table expression of the calls.
 */
export function datedReports(calls: string): string {
  return `requested as (
      select requested.*,
             case when reported_at between event.received_at - interval '90 days'
                                   and event.received_at + interval '5 minutes'
                  then reported_at else event.received_at end as at
        from ${calls}
        join lateral (select coalesce((select received_at from webhook_events
                                        where id = any(array[requested.event_id])),
                                      requested.now) as received_at) event on true
    )`;
}

/**
 * Records a received Pix without a charge, once for each end-to-end id, or without one for each id
 * of the provider, with its timeline row. Its date is that of `datedReports`.
 */
export const recordReceived = batchedStatement({
  name: 'pix-received',
  parameters: {
    id: 'uuid',
    userId: 'int',
    amount: 'numeric',
    pixKey: 'text null',
    endToEnd: 'text null',
    providerTxid: 'text null',
    now: 'timestamptz',
    eventId: 'uuid null',
    reportedAt: 'timestamptz null',
    note: 'text null',
  },
  batching: { conflictKey: 'endToEnd' },
  text: (requested) => sql<{ id: string }>`
    with ${datedReports(requested)}, received as (
      insert into pix_transactions
             (id, user_id, operation, status, phase, outcome, amount, pix_key, end_to_end,
              provider_txid, received_txid, created_at, updated_at, settled_at)
      select id, user_id, 'RECEIVED', 'COMPLETED', 'SETTLED', 'accepted', amount, pix_key,
             end_to_end, provider_txid, case when end_to_end is null then provider_txid end, at,
             now, now
        from requested order by end_to_end, provider_txid
          on conflict do nothing
      returning id, provider_txid, updated_at
    ), noted as (
      insert into pix_timeline (transaction_id, phase, at, event_id, provider_txid, note)
      select id, 'SETTLED', updated_at, event_id, received.provider_txid,
             requested.note
        from received join requested using (id)
    )
    select ordinal, id from received join requested using (id)`,
});

/** @returns the new transaction's id, or null when the payment was recorded meanwhile. */
export async function storeReceived(
  { db, clock }: LocalContext,
  { eventId, note }: Source,
  received: ReceivedPix,
): Promise<string | null> {
  const { userId, amountCents, pixKey, endToEnd, providerTxid, at } = received;
  const [row] = await db.query(recordReceived, {
    id: randomUUIDv7(),
    userId,
    amount: decimalFromCents(amountCents),
    pixKey,
    endToEnd,
    providerTxid,
    now: clock.now(),
    eventId,
    reportedAt: at,
    note,
  });
  return row?.id ?? null;
}
