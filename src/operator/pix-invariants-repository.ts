/**
 * The invariants of stored transactions, each as one statement that finds the rows that break it.
 * The schema enforces a part of them too; the audit does not rely on it, because a constraint can
 * be dropped and an index can be damaged.
 */
import { isOneOf, sql, statement, type Statement } from '../db/statement.ts';
import {
  chargeExpired,
  closedNote,
  correctedNote,
  expiredUnexecuted,
  expiredNote,
  ownerErasedNote,
  foundAfterLossNote,
  foundInStatementNote,
  notSentNote,
  orderTypes,
  overruled,
  overruledNote,
  phasesOfStatus,
  pixStatuses,
  refundedNote,
  refundTypes,
  repeatNotes,
  reversed,
  reversedInStatement,
  reversedNote,
  unexecutedNote,
  type PixStatus,
  type PixType,
} from '../domain/pix.ts';
import { sessionRefused } from '../ledger/attempt-repository.ts';
import type { ProviderStatusClass } from '../provider/errors.ts';
import { decisionNote } from './pix-resolve.ts';

/** The audited rows of a page. */
export interface AuditedPage {
  readonly ids: readonly string[];
  readonly auditedAt: Date;
}

/** A rule about rows; its statement finds the rows of a page that break it. */
export interface Invariant {
  /** Names the rule in the audit's result. */
  readonly name: string;
  /** The rule as a sentence without its full stop. */
  readonly says: string;
  readonly statement: Statement<BrokenRow, AuditedPage>;
}

export interface BrokenRow {
  readonly id: string;
  /** What is stored: fixed words and times, no personal data. */
  readonly found: string;
}

const pairs = pixStatuses
  .map(
    (status: PixStatus) =>
      `(t.status = '${status}' and ${isOneOf('t.phase', phasesOfStatus[status])})`,
  )
  .join(' or ');

/** The types of transactions that begin with their end if an event reports them. */
const reportedTypes = ['RECEIVED', ...refundTypes] as const satisfies PixType[];

/** An order, which a request has made: it takes the phases of a payment. */
const isOrder = `(${isOneOf('t.operation', orderTypes)} and t.idempotency_key is not null)`;

/** A row that notes a contradiction, or the first sight of a line, and is no move. */
const isAnomaly = `(l.phase in ('ANOMALY', 'SEEN'))`;

/**
 * An event or the statement may identify the payment that completed a charge, or the refund of
 * money that came back without a return id, once, after its end.
 */
const isIdentification = `
  (t.operation in ('CHARGE', 'REFUND_IN') and l.phase = 'SETTLED'
   and coalesce(l.note, '') = 'IDENTIFIED')`;

/** The row of a refund in the timeline of the transaction that it refunds, after its end. */
const isRefundNote = `
  (l.phase = 'SETTLED' and coalesce(l.note, '') like '${refundedNote} %')`;

/** The rows of the timeline that are moves. */
const moves = `
  pix_timeline l where l.transaction_id = t.id and not ${isAnomaly} and not ${isIdentification}
                   and not ${isRefundNote}`;

const hasPaid = `exists (select from ${moves} and l.phase = 'PAYING')`;

/** The row of a correction, after the end of a transaction that was FAILED. */
const isCorrection = `
  (l.phase = 'SETTLED' and (l.note = '${correctedNote}' or l.note like '${correctedNote} %'))`;

/** The row of an overrule, after the end of a transaction that was COMPLETED. */
const isOverrule = `(l.phase = 'SETTLED' and l.note like '${overruledNote} %')`;

const isOverruled = `exists (select from ${moves} and ${isOverrule})`;

const isCorrected = `exists (select from ${moves} and ${isCorrection})`;

/** The rows of the further attempts at a payment. */
const repeats = `
  pix_timeline l where l.transaction_id = t.id and l.phase = 'PAYING'
                   and ${isOneOf('l.note', Object.values(repeatNotes))}`;

/** The row that ended a transaction. */
const ending = `
  lateral (select l.id, l.at, l.phase, l.event_id, l.provider_status, l.note
             from ${moves} and ${isOneOf('l.phase', phasesOfStatus.FAILED)}
            order by l.id limit 1) as ending`;

/** An event, the statement, a response or an operator reported the final status. */
const isReported = `
  (ending.event_id is not null
   or ending.note = '${foundInStatementNote}'
   or ending.note like '${decisionNote}%'
   or (ending.note = t.status and exists
        (select from ${moves} and l.phase = 'ACCEPTED' and l.provider_status = '2xx'
                and l.id < ending.id)))`;

/** The responses that prove that the request was refused. */
const refusals = ['2xx', '4xx', '404', '429'] as const satisfies ProviderStatusClass[];

/** The failures that prove that the request was not executed. */
const notExecuted = [
  ...(['401', 'timeout', 'connect', 'breaker_open', 'bulkhead_full'] as const),
  ...(['no_token', 'stopped'] as const),
] satisfies ProviderStatusClass[];

/** The provider refused it, or it was provably not sent; any other response proves neither. */
const isRefused = `
  ((ending.phase = 'REJECTED' and ${isOneOf('ending.provider_status', refusals)})
   or (ending.note = '${notSentNote}' and ${isOneOf('ending.provider_status', notExecuted)}))`;

/**
 * A day and a half after its last attempt, the statement has shown reversals of a send's debits, or
 * nothing that may be the send.
 */
const isOverdue = `
  (t.operation = 'SEND'
   and (ending.note = '${reversedNote}'
          and (t.failure_code = '${reversed}' or t.corrected_at is not null)
        or ending.note = '${unexecutedNote}'
          and (t.failure_code = '${expiredUnexecuted}' or t.corrected_at is not null))
   and ending.at >= (select max(l.at) from ${moves} and l.phase = 'PAYING' and l.id < ending.id)
                    + interval '36 hours')`;

const endedAs = `
  coalesce(ending.phase, 'no row') || coalesce(' ' || ending.provider_status, '')
    || coalesce(' ' || case when ending.note like '${decisionNote}%' then 'operator'
                            else ending.note end, '')`;

interface Rule {
  readonly name: string;
  readonly says: string;
  /** An SQL expression: what is stored. */
  readonly found: string;
  readonly join?: string;
  /** An SQL condition that holds of the broken rows. */
  readonly where: string;
}

function invariant({ name, says, found, join = '', where }: Rule): Invariant {
  return {
    name,
    says,
    statement: statement({
      name: `audit-${name.replaceAll('_', '-')}`,
      parameters: { ids: 'uuid[]' },
      text: ({ ids }) => sql<BrokenRow>`
    select t.id, ${found} as found from pix_transactions t ${join}
     where t.id = any(${ids}) and ${where} order by t.id`,
    }),
  };
}

/** A condition: the order of the transaction `t` was made, and not refused before it was sent. */
const isMade = "(t.status <> 'FAILED' or t.outcome is distinct from 'not_sent')";

const joinEnding = `left join ${ending} on true`;

/** The rules about transactions, in the order of a transaction's life. */
export const pixInvariants: readonly Invariant[] = [
  invariant({
    name: 'amount_positive',
    says: 'The amount of a transaction is positive',
    found: 't.amount::text',
    where: 't.amount <= 0',
  }),
  invariant({
    name: 'key_once',
    says: 'An Idempotency-Key of a user has at most one transaction of each type',
    found: `t.operation || ' with the key of ' || other.id`,
    join: `join pix_transactions other
             on other.user_id = t.user_id and other.operation = t.operation
            and other.idempotency_key = t.idempotency_key and other.id <> t.id`,
    where: 'true',
  }),
  invariant({
    name: 'end_to_end_once',
    says: 'An end-to-end id has at most one transaction of each type',
    found: `t.operation || ' with the end-to-end id of ' || other.id`,
    join: `join pix_transactions other
             on other.end_to_end = t.end_to_end and other.operation = t.operation
            and other.id <> t.id`,
    where: 'true',
  }),
  invariant({
    name: 'status_and_phase',
    says: 'The phase of a transaction is one that its status allows',
    found: `t.status || ' in ' || t.phase`,
    where: `(${pairs}) is not true`,
  }),
  invariant({
    name: 'end_dated',
    says: 'A COMPLETED or FAILED transaction has a time of settlement, a PROCESSING one has none',
    found: `t.status || case when t.settled_at is null then ' without' else ' with' end
              || ' a time of settlement'`,
    where: `(t.status = 'PROCESSING') <> (t.settled_at is null)`,
  }),
  invariant({
    name: 'open_is_found',
    says: 'The sweep finds a transaction that is not settled, or that expires',
    found: `t.phase || ' without a row in pix_open'`,
    where: `t.status = 'PROCESSING' and (t.qr_code is null or t.expires_at is not null)
            and not exists (select from pix_open o where o.transaction_id = t.id)`,
  }),
  invariant({
    name: 'timeline_begins',
    says: 'The timeline of what was only reported begins with its end',
    found: `coalesce('begins with ' || first.phase, 'no timeline')`,
    join: `left join lateral (select l.phase from pix_timeline l where l.transaction_id = t.id
                               order by l.id limit 1) as first on true`,
    where: `${isOneOf('t.operation', reportedTypes)} and t.idempotency_key is null
            and first.phase is distinct from 'SETTLED'`,
  }),
  invariant({
    name: 'timeline_agrees',
    says: 'The last move in the timeline is to the phase of the transaction',
    found: `t.phase || ' after ' || coalesce(last.phase, 'no move')`,
    join: `left join lateral (select l.phase from ${moves} order by l.id desc limit 1) as last
             on true`,
    // An order's own row shows that it is RESERVED (`ledger/timeline.ts`).
    where: `coalesce(last.phase, 'RESERVED') <> t.phase`,
  }),
  invariant({
    name: 'end_to_end_before_paying',
    says: 'A send has its end-to-end id before it is sent',
    found: `t.phase || ' without an end-to-end id'`,
    where: `t.operation = 'SEND' and t.end_to_end is null
            and (t.phase in ('RESOLVED', 'PAYING', 'ACCEPTED', 'UNKNOWN') or ${hasPaid})`,
  }),
  invariant({
    name: 'paying_first',
    // The statement shows what a failed send has paid whose PAYING was lost, and an event of a
    // failed return names its return id.
    says: 'An order is PAYING before the provider reports on it, unless commits were lost',
    found: `heard.phase || ' without PAYING before it'`,
    join: `join lateral (select l.id, l.phase from ${moves}
                            and (l.phase in ('ACCEPTED', 'UNKNOWN', 'REJECTED')
                                 or (l.phase = 'SETTLED' and t.status = 'COMPLETED'))
                          order by l.id limit 1) as heard on true`,
    where: `${isOrder} and not exists
              (select from ${moves}
                  and (l.phase = 'PAYING' and l.id < heard.id
                       or l.note = '${correctedNote} ${foundAfterLossNote}'
                       or t.operation = 'REFUND_OUT' and ${isCorrection}))`,
  }),
  invariant({
    name: 'paying_once',
    says: 'A transaction is PAYING at most once, except for recorded repeats',
    found: `'PAYING ' || paying.times || ' times'`,
    join: `join lateral (select (select count(*) from ${moves} and l.phase = 'PAYING')
                              - (select count(*) from ${repeats}) as times) as paying
             on paying.times > 1`,
    where: 'true',
  }),
  invariant({
    name: 'completed_reported',
    says: 'A transaction is COMPLETED by an event, the statement, a response or an operator',
    found: endedAs,
    join: joinEnding,
    where: `t.status = 'COMPLETED' and t.corrected_at is null and ${isReported} is not true`,
  }),
  invariant({
    name: 'correction_noted',
    says: 'A transaction that was corrected is COMPLETED and was FAILED, and its timeline says so',
    found: endedAs,
    join: joinEnding,
    where: `(t.corrected_at is not null
              and (t.status = 'COMPLETED' and ${isCorrected}
                   and (ending.event_id is null or ending.note is distinct from 'COMPLETED'))
                  is not true
             or t.corrected_at is null and t.overruled_at is null and ${isCorrected})`,
  }),
  invariant({
    name: 'overrule_noted',
    says: 'What was overruled is FAILED, unless it was paid after all, and its timeline says so',
    found: `t.status || coalesce(' ' || t.failure_code, '')`,
    where: `(t.overruled_at is not null) <> ${isOverruled}
            or t.overruled_at is not null and t.corrected_at is null
               and t.failure_code is distinct from '${overruled}'`,
  }),
  invariant({
    name: 'failed_reported',
    says: 'An order that was PAYING is FAILED by an event, a response, a reversal or an operator',
    found: endedAs,
    join: joinEnding,
    where: `t.status = 'FAILED' and t.overruled_at is null and ${isOrder} and ${hasPaid}
            and (ending.note = '${foundInStatementNote}'
                 or (${isReported} or ${isRefused} or ${isOverdue}) is not true)`,
  }),
  invariant({
    name: 'doubt_kept',
    says: 'An order with an attempt of unknown outcome is FAILED by an event, the statement, an operator',
    found: endedAs,
    join: joinEnding,
    where: `t.status = 'FAILED' and t.overruled_at is null and ${isOrder}
            and ending.event_id is null and ending.note like '${decisionNote}%' is not true
            and ${isOverdue} is not true
            and exists (select from ${repeats} and l.note = '${repeatNotes.unknown}'
                          and l.http_status is distinct from ${sessionRefused})`,
  }),
  invariant({
    name: 'failed_for_a_reason',
    says: 'The timeline of a FAILED transaction has the reason',
    found: endedAs,
    join: joinEnding,
    where: `t.status = 'FAILED'
            and (${isReported} or ${isRefused} or ${isOverdue} or
                 ending.note in ('look_up_failed', 'payee_changed', 'code_changed', 'abandoned',
                                 'limit_exceeded', 'account_not_active', '${closedNote}',
                                 '${expiredNote}', '${ownerErasedNote}')) is not true`,
  }),
  invariant({
    name: 'expired_after_grace',
    says: 'A charge that the sweep has ended had expired at least a day before',
    found: `coalesce('expired ' || t.expires_at::text, 'never expires')
              || ', ended ' || ending.at::text`,
    join: joinEnding,
    where: `ending.note = '${expiredNote}'
            and (t.operation = 'CHARGE'
                 and (t.failure_code = '${chargeExpired}' or t.corrected_at is not null)
                 and ending.at >= t.expires_at + interval '1 day') is not true`,
  }),
  invariant({
    name: 'refund_of_payment',
    says: 'A refund that was not refused names a COMPLETED transaction of its user, whose money went the other way',
    found: `t.operation || coalesce(' of ' || original.operation || ' ' || original.status
                                      || ' of user ' || original.user_id, ' of no transaction')`,
    join: 'left join pix_transactions original on original.id = t.original_id',
    where: `${isOneOf('t.operation', refundTypes)} and ${isMade}
            and (original.user_id = t.user_id and original.status = 'COMPLETED'
                 and (t.operation = 'REFUND_IN') = (original.operation = 'SEND')
                 and not ${isOneOf('original.operation', refundTypes)}) is not true`,
  }),
  invariant({
    name: 'refunds_within_amount',
    says: 'The refunds of a transaction are what it has counted, and at most its amount',
    found: `'refunds of ' || refunds.total || ' and open ' || refunds.open || ', counted '
              || coalesce(t.refunded_amount, 0) || ' and open ' || coalesce(t.refunding_amount, 0)
              || ' of ' || t.amount`,
    join: `join lateral (
               select coalesce(sum(refund.amount) filter (where refund.status = 'COMPLETED'), 0)
                        as total,
                      coalesce(sum(refund.amount) filter (where refund.status = 'PROCESSING'), 0)
                        as open
                 from pix_transactions refund where refund.original_id = t.id) as refunds
             on true`,
    where: `(refunds.total + refunds.open > t.amount
             or refunds.total <> coalesce(t.refunded_amount, 0)
             or refunds.open <> coalesce(t.refunding_amount, 0))`,
  }),
  invariant({
    name: 'money_back_shown',
    says: 'Money of a COMPLETED send that the statement shows to have come back is a refund',
    found: `'no refund of what came back'`,
    where: `t.operation = 'SEND' and t.status = 'COMPLETED'
            and not exists (select from pix_transactions refund where refund.original_id = t.id)
            and (exists (select from pix_timeline l
                          where l.transaction_id = t.id and l.phase = 'ANOMALY'
                            and l.note = '${reversedInStatement}')
                 or exists (select from reconciliation_differences open
                             where open.user_id = t.user_id and open.closed_at is null
                               and open.transaction_id = t.id and open.reason = 'money_back'))`,
  }),
  invariant({
    name: 'failed_not_received',
    says: 'A FAILED send that its payee, another customer, has received has an anomaly',
    found: `received.operation || ' ' || received.id`,
    join: `join pix_transactions received
             on received.end_to_end = t.end_to_end and received.user_id <> t.user_id
            and received.operation in ('CHARGE', 'RECEIVED') and received.status = 'COMPLETED'`,
    where: `t.operation = 'SEND' and t.status = 'FAILED' and t.outcome is distinct from 'not_sent'
            and not exists (select from pix_timeline l
                             where l.transaction_id = t.id and l.phase = 'ANOMALY')`,
  }),
  invariant({
    name: 'provider_id_noted',
    says: "The provider's id of a transaction is in its timeline, by which events find it",
    found: `'an id that no row has'`,
    where: `t.provider_txid is not null and not exists
              (select from pix_timeline l
                where l.transaction_id = t.id and l.provider_txid = t.provider_txid)`,
  }),
  invariant({
    name: 'cause_stored',
    says: 'An event that a timeline names is stored',
    found: `'event ' || l.event_id`,
    join: 'join pix_timeline l on l.transaction_id = t.id',
    where: `l.event_id is not null and not exists
              (select from webhook_events e where e.id = l.event_id)`,
  }),
  invariant({
    name: 'final_is_final',
    says: 'After the end, a timeline has anomalies, refunds, an id, a correction, an overrule',
    found: `later.phase || ' after ' || ending.phase`,
    join: `join ${ending} on true
           join lateral (select l.phase from ${moves} and l.id > ending.id
                            and not ${isCorrection} and not ${isOverrule}
                          order by l.id limit 1) as later on true`,
    where: 'true',
  }),
  invariant({
    name: 'outcome_agrees',
    says: 'A COMPLETED order has the outcome accepted, and an accepted order is never not_sent',
    found: `t.status || ' with the outcome ' || coalesce(t.outcome, 'none')`,
    where: `${isOrder}
            and ((t.status = 'COMPLETED' and t.outcome is distinct from 'accepted')
                 or (t.outcome = 'not_sent' and exists
                      (select from ${moves} and l.phase = 'ACCEPTED')))`,
  }),
];
