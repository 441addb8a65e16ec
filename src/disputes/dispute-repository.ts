/**
 * The disputes of payments in the database. The statements are SQL: each decides and writes by the
 * state that it leaves, and the simulation runs them.
 */
import { isActiveSession } from '../auth/session-repository.ts';
import type { StoredSession } from '../auth/banking-sessions.ts';
import type { LocalContext } from '../context/context.ts';
import { columnsOf, type RowOf } from '../db/rows.ts';
import { isOneOf, sql, statement } from '../db/statement.ts';
import {
  disputesOpenToReport,
  finalDisputeStatuses,
  openDisputeStatuses,
  type DisputeSituation,
  type DisputeStatus,
  type ReportedDisputeStatus,
  type DisputeReport,
} from '../domain/dispute.ts';
import type { PixStatus } from '../domain/pix.ts';

type Store = Pick<LocalContext, 'db'>;
type TimedStore = Pick<LocalContext, 'db' | 'clock'>;

const ofDispute = columnsOf(
  'pix_disputes',
  `transactionId, status, situation, details, withdrawalRequestedAt, requestedAt, openedAt,
   endedAt`,
);
const ofSend = columnsOf('pix_transactions', 'endToEnd, refundedAmount');

/** A dispute as it is stored, and the send that it disputes. */
export interface StoredDispute extends RowOf<typeof ofDispute>, RowOf<typeof ofSend> {
  readonly endToEnd: string;
}

const disputeColumns = `${ofDispute.select('d')}, ${ofSend.select('t')}`;

const find = statement({
  name: 'dispute-find',
  parameters: { userId: 'int', id: 'uuid' },
  indexed: true,
  text: ({ userId, id }) => sql<StoredDispute>`
    select ${disputeColumns}
      from pix_disputes d join pix_transactions t on t.id = d.transaction_id
     where d.transaction_id = ${id} and d.user_id = ${userId}`,
});

/** A transaction of a user. */
export interface TransactionOfUser {
  readonly userId: number;
  readonly id: string;
}

/** @returns null when the user's transaction has no dispute, or does not exist. */
export async function findDispute(
  { db }: Store,
  { userId, id }: TransactionOfUser,
): Promise<StoredDispute | null> {
  const [dispute] = await db.query(find, { userId, id });
  return dispute ?? null;
}

const ofPayment = columnsOf('pix_transactions', 'operation, status, settledAt');

/** What decides whether a transaction can be disputed. */
export type DisputedPayment = RowOf<typeof ofPayment>;

const findPayment = statement({
  name: 'dispute-payment',
  parameters: { userId: 'int', id: 'uuid' },
  indexed: true,
  text: ({ userId, id }) => sql<DisputedPayment>`
    select ${ofPayment.select()} from pix_transactions
     where id = ${id} and user_id = ${userId}`,
});

/** @returns null when the user has no such transaction. */
export async function findDisputedPayment(
  { db }: Store,
  { userId, id }: TransactionOfUser,
): Promise<DisputedPayment | null> {
  const [payment] = await db.query(findPayment, { userId, id });
  return payment ?? null;
}

/** A dispute that the provider has refused may be requested again, with other content. */
const request = statement({
  name: 'dispute-request',
  parameters: {
    userId: 'int',
    id: 'uuid',
    paidSince: 'timestamptz',
    situation: 'text',
    details: 'bytea null',
    now: 'timestamptz',
  },
  text: ({ userId, id, paidSince, situation, details, now }) => sql<{ id: string }>`
    with owner as (
      select id from users where id = ${userId} and status = 'ACTIVE' for key share
    )
    insert into pix_disputes
           (transaction_id, user_id, status, situation, details, requested_at, updated_at)
    select t.id, t.user_id, 'REQUESTED', ${situation}, ${details}, ${now}, ${now}
      from pix_transactions t join owner on owner.id = t.user_id
     where t.id = ${id} and t.operation = 'SEND' and t.status = 'COMPLETED'
       and t.settled_at >= ${paidSince}
        on conflict (transaction_id) do update
       set status = 'REQUESTED', situation = excluded.situation, details = excluded.details,
           requested_at = excluded.requested_at, updated_at = excluded.updated_at, ended_at = null
     where pix_disputes.status = 'REFUSED'
    returning transaction_id as id`,
});

export interface DisputeRequested extends TransactionOfUser {
  readonly situation: DisputeSituation;
  /** Sealed. */
  readonly details: Buffer | null;
  /** The earliest time of a payment that can be disputed. */
  readonly paidSince: Date;
}

/**
 * Stores the request of a dispute, before the provider is called. It waits for an erasure of the
 * user, which looks for open disputes.
 * @returns false when there is a dispute already, or the payment can no longer be disputed.
 */
export async function storeRequest(
  { db, clock }: TimedStore,
  requested: DisputeRequested,
): Promise<boolean> {
  const { userId, id, paidSince, situation, details } = requested;
  const parameters = { userId, id, paidSince, situation, details, now: clock.now() };
  return (await db.query(request, parameters)).length > 0;
}

const requestWithdrawal = statement({
  name: 'dispute-request-withdrawal',
  parameters: { userId: 'int', id: 'uuid', now: 'timestamptz' },
  text: ({ userId, id, now }) => sql<{ id: string }>`
    update pix_disputes
       set withdrawal_requested_at = coalesce(withdrawal_requested_at, ${now}), updated_at = ${now}
     where transaction_id = ${id} and user_id = ${userId} and status = 'OPEN'
    returning transaction_id as id`,
});

/** Stores that the customer withdraws an open dispute. @returns false when it is not open. */
export async function storeWithdrawal(
  { db, clock }: TimedStore,
  { userId, id }: TransactionOfUser,
): Promise<boolean> {
  return (await db.query(requestWithdrawal, { userId, id, now: clock.now() })).length > 0;
}

/** The two requests that wait for the provider; only an open dispute has a withdrawal. */
function isPending(dispute: string): string {
  return `(${dispute}.status = 'REQUESTED' or ${dispute}.withdrawal_requested_at is not null)`;
}

/** From now on the call may have been made, whatever becomes of the process. */
const claim = statement({
  name: 'dispute-claim',
  parameters: { id: 'uuid', status: 'text', now: 'timestamptz', until: 'timestamptz' },
  text: ({ id, status, now, until }) => sql<ClaimedContent>`
    with before as (
      select transaction_id, may_be_done from pix_disputes d
       where transaction_id = ${id} and status = ${status} and ${isPending('d')}
         and (claimed_until is null or claimed_until <= ${now})
         for update
    )
    update pix_disputes d
       set claimed_until = ${until}, may_be_done = true, updated_at = ${now}
      from before where d.transaction_id = before.transaction_id
    returning before.may_be_done as "mayHaveBeenDone", d.situation, d.details`,
});

/** What is requested at the claim: a dispute that was read before may have other content. */
interface ClaimedContent extends Pick<StoredDispute, 'situation' | 'details'> {
  /** Whether an earlier call may have done the same. */
  readonly mayHaveBeenDone: boolean;
}

/** The right to call the provider about a dispute. */
export interface DisputeClaim extends ClaimedContent {
  readonly id: string;
  readonly status: 'REQUESTED' | 'OPEN';
  readonly until: Date;
}

/**
 * Claims the next call about a dispute.
 * @param claimed `durationMs`: longer than the call takes.
 * @returns null: another process calls, or nothing waits for the provider.
 */
export async function claimCall(
  { db, clock }: TimedStore,
  claimed: Pick<DisputeClaim, 'id' | 'status'> & { readonly durationMs: number },
): Promise<DisputeClaim | null> {
  const { id, status, durationMs } = claimed;
  const now = clock.now();
  const until = new Date(now.getTime() + durationMs);
  const [row] = await db.query(claim, { id, status, now, until });
  return row ? { id, status, until, ...row } : null;
}

/** A call that was not executed withdraws its request, unless an earlier one may have been. */
const end = statement({
  name: 'dispute-call-ended',
  parameters: {
    id: 'uuid',
    status: 'text',
    until: 'timestamptz',
    mayBeDone: 'boolean',
    isRefused: 'boolean',
    now: 'timestamptz',
  },
  text: ({ id, status, until, mayBeDone, isRefused, now }) => sql`
    update pix_disputes
       set claimed_until = null, may_be_done = ${mayBeDone}, updated_at = ${now},
           status = case when ${isRefused} and status = 'REQUESTED' then 'REFUSED'
                         else status end,
           ended_at = case when ${isRefused} and status = 'REQUESTED' then ${now}
                           else ended_at end,
           withdrawal_requested_at = case when ${isRefused} then null
                                          else withdrawal_requested_at end
     where transaction_id = ${id} and status = ${status} and claimed_until = ${until}`,
});

/**
 * Stores how a call ended that has not changed the dispute.
 * @param outcome `rejected`: the request ends; `not_sent` and `unknown`: it is repeated later.
 */
export async function endCall(
  { db, clock }: TimedStore,
  { id, status, until, mayHaveBeenDone }: Omit<DisputeClaim, 'situation' | 'details'>,
  outcome: 'rejected' | 'not_sent' | 'unknown',
): Promise<void> {
  const isRefused = outcome === 'rejected' && !mayHaveBeenDone;
  const mayBeDone = outcome === 'unknown' || mayHaveBeenDone;
  await db.query(end, { id, status, until, mayBeDone, isRefused, now: clock.now() });
}

/** What a status of the provider changes in a dispute, as SQL. */
function setReported(status: string, now: string): string {
  return `status = ${status}, may_be_done = false, claimed_until = null,
           withdrawal_requested_at = null, opened_at = coalesce(d.opened_at, ${now}),
           ended_at = case when ${isOneOf(status, finalDisputeStatuses)} then ${now} end,
           updated_at = ${now}`;
}

const report = statement({
  name: 'dispute-reported',
  parameters: { id: 'uuid', status: 'text', now: 'timestamptz' },
  text: ({ id, status, now }) => sql<{ id: string }>`
    update pix_disputes d set ${setReported(status, now)}
     where transaction_id = ${id} and status <> ${status}
       and ${isOneOf('status', disputesOpenToReport)}
    returning transaction_id as id`,
});

/** Stores the status that the provider's response has; a final one stays as it is. */
export async function storeReported(
  { db, clock }: TimedStore,
  id: string,
  status: ReportedDisputeStatus,
): Promise<void> {
  await db.query(report, { id, status, now: clock.now() });
}

/**
 * An event about a dispute. It names a send by its id or by the end-to-end id; both must agree. A
 * dispute that was opened at another channel is stored with it.
 */
const reportEvent = statement({
  name: 'dispute-event',
  parameters: {
    id: 'uuid null',
    endToEnd: 'text null',
    status: 'text',
    now: 'timestamptz',
  },
  text: ({ id, endToEnd, status, now }) => sql<ReportRow>`
    with payment as (
      select id, user_id, status from pix_transactions
       where (id = ${id} or ${id} is null and end_to_end = ${endToEnd})
         and (${endToEnd} is null or end_to_end = ${endToEnd})
         and operation = 'SEND'
    ), stored as (
      insert into pix_disputes as d
             (transaction_id, user_id, status, requested_at, opened_at, ended_at, updated_at)
      select id, user_id, ${status}, ${now}, ${now},
             case when ${isOneOf(status, finalDisputeStatuses)} then ${now} end, ${now}
        from payment where status = 'COMPLETED'
          on conflict (transaction_id) do update set ${setReported(status, now)}
       where d.status <> ${status} and ${isOneOf('d.status', disputesOpenToReport)}
      returning d.transaction_id
    )
    select payment.id, payment.status as payment, stored.transaction_id is not null as "isMoved",
           (select d.status from pix_disputes d where d.transaction_id = payment.id) as before
      from payment left join stored on true`,
});

interface ReportRow {
  readonly id: string;
  /** The status of the payment. */
  readonly payment: PixStatus;
  readonly isMoved: boolean;
  /** The status before the event; null: there was no dispute. */
  readonly before: DisputeStatus | null;
}

/**
 * What became of an event. `ended`: the dispute has another final status, which stays.
 * `processing`, `failed`: the payment is not completed here, and nothing is stored.
 */
export interface DisputeReported {
  readonly transactionId: string;
  readonly result: 'applied' | 'already' | 'ended' | 'processing' | 'failed';
}

/**
 * Stores the status that an event reports.
 * @returns null when no send has the ids.
 */
export async function storeDisputeReport(
  { db, clock }: TimedStore,
  { disputeId, endToEnd, status }: DisputeReport,
): Promise<DisputeReported | null> {
  const reported = { id: disputeId, endToEnd, status, now: clock.now() };
  let [row] = await db.query(reportEvent, reported);
  // It may have waited for another change, which a further run sees.
  if (row?.payment === 'COMPLETED' && !row.isMoved) [row] = await db.query(reportEvent, reported);
  return row ? { transactionId: row.id, result: toResult(row, status) } : null;
}

function toResult(
  { payment, isMoved, before }: ReportRow,
  status: ReportedDisputeStatus,
): DisputeReported['result'] {
  if (isMoved) return 'applied';
  if (payment !== 'COMPLETED') return payment === 'FAILED' ? 'failed' : 'processing';
  return before === status || before === null ? 'already' : 'ended';
}

const check = statement({
  name: 'dispute-check',
  parameters: { id: 'uuid', now: 'timestamptz' },
  text: ({ id, now }) => sql`
    update pix_disputes set updated_at = ${now}
     where transaction_id = ${id} and ${isOneOf('status', openDisputeStatuses)}`,
});

/** Stores that a call about a dispute is tried now: the next one follows after a pause. */
export async function storeCheck({ db, clock }: TimedStore, id: string): Promise<void> {
  await db.query(check, { id, now: clock.now() });
}

/**
 * The pause between two calls is a tenth of the time since the request: an hour at most for a
 * request that waits for the provider; between an hour and a day for an open dispute, whose events
 * may be lost.
 */
function pauseBetweenCalls(dispute: string): string {
  const tenth = `(${dispute}.updated_at - ${dispute}.requested_at) / 10`;
  return `case when ${isPending(dispute)} then least(${tenth}, interval '1 hour')
                else greatest(least(${tenth}, interval '1 day'), interval '1 hour') end`;
}

/**
 * The disputes whose next call is due, with the active session of their user: first those that the
 * provider has not answered, each kind oldest first.
 */
const findPending = statement({
  name: 'dispute-pending',
  parameters: { now: 'timestamptz', limit: 'int' },
  text: ({ now, limit }) => sql<PendingRow>`
    select ${disputeColumns}, s.id as "sessionId", s.user_id as "userId",
           s.sealed_token as "sealedToken"
      from pix_disputes d
      join pix_transactions t on t.id = d.transaction_id
      join banking_sessions s on s.user_id = d.user_id and ${isActiveSession('s', now)}
     where ${isOneOf('d.status', openDisputeStatuses)}
       and (d.claimed_until is null or d.claimed_until <= ${now})
       and d.updated_at <= ${now} - ${pauseBetweenCalls('d')}
     order by ${isPending('d')} desc, d.updated_at limit ${limit}`,
});

interface PendingRow extends StoredDispute, StoredSession {}

/** A dispute whose next call is due, and the session to make it in. */
export interface PendingDispute {
  readonly dispute: StoredDispute;
  readonly session: StoredSession;
}

/** @returns disputes that wait for an answer, and then those that wait for a decision. */
export async function findPendingDisputes(
  { db, clock }: TimedStore,
  limit: number,
): Promise<PendingDispute[]> {
  const rows = await db.query(findPending, { now: clock.now(), limit });
  return rows.map(({ sessionId, userId, sealedToken, ...dispute }) => {
    return { dispute, session: { sessionId, userId, sealedToken } };
  });
}

/** @public For the tests of the model of PostgreSQL and of the simulation. */
export const disputeStatements = {
  find,
  findPayment,
  request,
  requestWithdrawal,
  claim,
  end,
  report,
  reportEvent,
  check,
  findPending,
};
