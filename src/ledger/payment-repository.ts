/**
 * The steps of a payment (PAYING, further attempts, ACCEPTED) and the reads that its outcome
 * depends on. The statements are SQL: each is conditional on the stored state and runs in one round
 * trip.
 */
import type { LocalContext } from '../context/context.ts';
import { batchedStatement, sql, statement } from '../db/statement.ts';
import { isUnopposed } from './attempt-repository.ts';
import { mayMove, type AttemptResponse } from './move-repository.ts';
import { isDatabaseUnavailable } from '../db/unavailable.ts';
import {
  isBeforePaying,
  phasesBeforePaying,
  phasesOpenToResponse,
  type PixPhase,
} from '../domain/pix.ts';
import type { ShownOwner } from '../domain/key-owner.ts';
import { unjudgedClass, type PayeeClass } from '../domain/payee-limits.ts';
import { returningLookUps } from '../auth/look-up-bucket-repository.ts';
import { rereadTransaction } from './lost-commits.ts';
import { mayBePaid } from './block.ts';
import { claimUntil, type PixTransaction } from './pix-transaction-repository.ts';
import { resumeRefused } from './refused-session-repository.ts';

/** The steps that every send takes, and the phases that each may leave. */
const steps = { PAYING: phasesBeforePaying, ACCEPTED: phasesOpenToResponse } as const;

const fromPhases = Object.entries<readonly PixPhase[]>(steps)
  .map(([to, phases]) => `when '${to}' then '{${phases.join(',')}}'::text[]`)
  .join(' ');

/**
 * Takes a send to PAYING with its end-to-end id, or to ACCEPTED with the provider's id; no row: the
 * send is in another phase, it has another end-to-end id, its account is no longer ACTIVE, sends
 * are paused, the commit of an earlier PAYING may be lost, or its payee was not judged by the
 * limits. It is a smaller form of the general move for the steps that every send takes: `pix-move`
 * would cost a send 7 % more CPU in the service and in the database. Both steps are one statement,
 * so that they share batches.
 * A send that is accepted gives the look-up back that was taken for it.
 * A send that comes from RESERVED passes through RESOLVED, which PAYING implies in the timeline.
 * A send in PAYING keeps the claim of the process that pays; any other move releases it.
 */
const step = batchedStatement({
  name: 'pix-step',
  parameters: {
    id: 'uuid',
    toPhase: 'text',
    endToEnd: 'text null',
    providerTxid: 'text null',
    now: 'timestamptz',
    claimedUntil: 'timestamptz null',
    attempt: 'int',
    payee: 'text null',
    payeeClass: 'text null',
    lookUps: 'int',
  },
  batching: { conflictKey: 'id', lane: 'sends' },
  text: (requested) => sql`
    with requested as (
      select * from ${requested}
    ), moved as (
      update pix_transactions t
         set phase = to_phase, claimed_until = requested.claimed_until, updated_at = requested.now,
             outcome = case to_phase when 'ACCEPTED' then 'accepted' else t.outcome end,
             end_to_end = coalesce(requested.end_to_end, t.end_to_end),
             payee = coalesce(requested.payee::jsonb, t.payee),
             payee_class = coalesce(requested.payee_class, t.payee_class),
             provider_txid = coalesce(requested.provider_txid, t.provider_txid)
        from requested
       where ${mayMove('requested', `case to_phase ${fromPhases} end`)}
         and (to_phase <> 'PAYING' or ${mayBePaid}
              and t.payee_class is distinct from '${unjudgedClass}')
      returning requested.ordinal, requested.attempt, requested.look_ups, t.id,
                t.user_id, requested.provider_txid as reported_txid, t.phase, t.updated_at
    ), noted as (
      insert into pix_timeline (transaction_id, phase, at, attempt, provider_status, provider_txid)
      select id, phase, updated_at, attempt, case phase when 'ACCEPTED' then '2xx' end,
             reported_txid
        from moved order by ordinal
    ), ${returningLookUps('moved')}
    select ordinal from moved`,
});

/** A send that this process pays. */
export interface PayingSend extends PixTransaction {
  readonly endToEnd: string;
  /** Until this time no other process takes it over, and its attempts may be sent. */
  readonly claimedUntil: Date;
  /** How many attempts were made before those of this process. */
  readonly attemptsBefore: number;
}

/** The step of a process to PAYING. */
export interface PayingStep {
  readonly endToEnd: string;
  /** The owner of the Pix key; if absent, the stored one is kept. */
  readonly owner?: ShownOwner;
  /** The class of the owner, which is stored with the owner. */
  readonly payeeClass?: PayeeClass;
  /** Its time in the timeline. */
  readonly at: Date;
}

/**
 * Stores a send's end-to-end id, and that a payment is about to be sent: RESOLVED, PAYING. The
 * claim is renewed for the longest duration of a call. A send in UNKNOWN is resumed.
 * @param send as it was read; another process may have moved it.
 * @returns the send in PAYING, or null when the step was not possible.
 * @throws Error when the database did not confirm the step, which it may still execute.
 */
export async function beginPaying(
  context: LocalContext,
  send: PixTransaction,
  { endToEnd, owner, payeeClass, at }: PayingStep,
): Promise<PayingSend | null> {
  if (send.phase === 'UNKNOWN') {
    const resumed = await resumeRefused(context, send);
    return resumed && { ...send, phase: 'PAYING', endToEnd, ...resumed };
  }
  const claimedUntil = claimUntil(context);
  const found = { endToEnd, owner, payeeClass };
  const paying = { to: 'PAYING', ...found, claimedUntil, attempt: 1, at } as const;
  const isTaken = await takeStep(context, send, paying).catch((error: unknown) => {
    if (!isDatabaseUnavailable(error)) throw error;
    return repeatStep(context, send, { paying, error });
  });
  const paid = { ...send, phase: 'PAYING', endToEnd, claimedUntil, attemptsBefore: 0 } as const;
  return isTaken ? paid : null;
}

/**
 * Whether an earlier look-up has given an order its id, so that its id alone does not show which
 * process has taken it to PAYING. A return has its id from the beginning: the time of the step
 * shows whose it is.
 */
export function hasEarlierLookUp(order: PixTransaction): boolean {
  return order.operation !== 'REFUND_OUT' && order.endToEnd !== null;
}

/** A step whose connection was lost. */
interface LostStep {
  readonly paying: Step & Pick<PayingStep, 'at'>;
  readonly error: unknown;
}

/**
 * Repeats a step whose connection was lost, because the loss may follow the commit. The send would
 * then stay in PAYING although nothing was sent, and only this process knows that.
 * @throws the error of the lost step if the send may not be paid now: the database may execute the
 *   lost step later, when the account is ACTIVE again or sends are resumed.
 */
async function repeatStep(
  context: LocalContext,
  send: PixTransaction,
  { paying, error }: LostStep,
): Promise<boolean> {
  if (await takeStep(context, send, paying)) return true;
  if (hasEarlierLookUp(send)) return false;
  const stored = await rereadTransaction(context, send);
  if (isBeforePaying(stored.phase)) throw error;
  if (stored.phase !== 'PAYING' || stored.endToEnd !== paying.endToEnd) return false;
  return wasStartedOnlyByUs(context, send, paying);
}

/**
 * Stores that the provider has accepted a payment, which it will settle later: ACCEPTED.
 * @param send as it was when it was paid.
 * @param response the provider's id of the payment, and the number of attempts.
 * @returns the accepted send, or null when the step was not possible.
 */
export async function acceptPayment(
  context: LocalContext,
  send: PixTransaction,
  response: { readonly providerTxid: string | null; readonly attempt: number },
): Promise<PixTransaction | null> {
  const { endToEnd } = send;
  const isTaken = await takeStep(context, send, { to: 'ACCEPTED', endToEnd, ...response });
  return isTaken ? { ...send, phase: 'ACCEPTED', outcome: 'accepted' } : null;
}

interface Step {
  readonly to: keyof typeof steps;
  readonly attempt: number;
  readonly endToEnd?: string | null;
  readonly owner?: ShownOwner | undefined;
  readonly payeeClass?: PayeeClass | undefined;
  readonly providerTxid?: string | null;
  readonly claimedUntil?: Date;
  readonly at?: Date | undefined;
}

/** @returns whether the send was in a phase that the step may leave. */
async function takeStep(
  { db, clock }: LocalContext,
  send: PixTransaction,
  { to, attempt, endToEnd = null, providerTxid = null, ...given }: Step,
): Promise<boolean> {
  const { claimedUntil = null, at = clock.now(), owner, payeeClass = null } = given;
  const rows = await db.query(step, {
    id: send.id,
    toPhase: to,
    endToEnd,
    providerTxid,
    now: at,
    claimedUntil,
    attempt,
    payee: owner ? JSON.stringify(owner) : null,
    payeeClass,
    lookUps: to === 'ACCEPTED' && send.tookLookUp ? 1 : 0,
  });
  return rows.length > 0;
}

/**
 * Notes a further attempt in the timeline, if the send is in PAYING under the same claim, which has
 * not expired, its account is still ACTIVE, and no event about it waits for the end of the call.
 * No row: the attempt must not be made.
 */
const repeat = statement({
  name: 'pix-repeat',
  parameters: {
    id: 'uuid',
    claimedUntil: 'timestamptz',
    now: 'timestamptz',
    attempt: 'int',
    providerStatus: 'text null',
    httpStatus: 'int null',
    providerCode: 'text null',
    note: 'text',
  },
  text: ({ id, claimedUntil, now, attempt, providerStatus, httpStatus, providerCode, note }) => sql`
    with held as (
      select t.id from pix_transactions t
       where t.id = ${id} and t.settled_at is null and t.phase = 'PAYING'
         and t.claimed_until = ${claimedUntil} and t.claimed_until > ${now}
         and 'ACTIVE' = (select a.status from accounts a where a.user_id = t.user_id)
         and ${isUnopposed('t')}
         for no key update
    )
    insert into pix_timeline
           (transaction_id, phase, at, attempt, provider_status, http_status, provider_code, note)
    select id, 'PAYING', ${now}, ${attempt}, ${providerStatus}, ${httpStatus}, ${providerCode},
      ${note} from held
    returning transaction_id`,
});

/** A further attempt at a payment. */
export interface RepeatedAttempt {
  /** Counted from 1. */
  readonly attempt: number;
  /** The response to the last attempt; null: unknown. */
  readonly last: AttemptResponse | null;
  /** One of `repeatNotes`. */
  readonly note: string;
}

/** @returns whether the attempt is noted, and may be made. */
export async function recordRetry(
  { db, clock }: Pick<LocalContext, 'db' | 'clock'>,
  { id, claimedUntil }: Pick<PayingSend, 'id' | 'claimedUntil'>,
  { attempt, last, note }: RepeatedAttempt,
): Promise<boolean> {
  const { providerStatus = null, httpStatus = null, providerCode = null } = last ?? {};
  const noted = await db.query(repeat, {
    id,
    claimedUntil,
    now: clock.now(),
    attempt,
    providerStatus,
    httpStatus,
    providerCode,
    note,
  });
  return noted.length > 0;
}

const findAttempts = statement({
  name: 'pix-find-attempts',
  parameters: { id: 'uuid' },
  text: ({ id }) => sql<{ at: Date }>`
    select at from pix_timeline where transaction_id = ${id} and phase = 'PAYING' order by id`,
});

/**
 * Whether a process's own step to PAYING is the only one that is stored. The end-to-end id does not
 * show that: two processes that resume one send by the same confirmed look-up have the same id.
 */
export async function wasStartedOnlyByUs(
  { db }: Pick<LocalContext, 'db'>,
  { id }: Pick<PixTransaction, 'id'>,
  { at }: Pick<PayingStep, 'at'>,
): Promise<boolean> {
  const attempts = await db.query(findAttempts, { id });
  return attempts.length === 1 && attempts[0]?.at.getTime() === at.getTime();
}

const findUnsent = statement({
  name: 'pix-never-left',
  parameters: { endToEnd: 'text' },
  text: ({ endToEnd }) => sql`
    select from pix_transactions
     where end_to_end = ${endToEnd} and operation = 'SEND' and status = 'FAILED'
       and outcome = 'not_sent'`,
});

/** Whether the send with an end-to-end id has failed before it was sent. */
export async function hasNeverLeft(
  { db }: Pick<LocalContext, 'db'>,
  endToEnd: string,
): Promise<boolean> {
  return (await db.query(findUnsent, { endToEnd })).length > 0;
}

const markReached = statement({
  name: 'pix-reached',
  parameters: { id: 'uuid' },
  text: ({ id }) => sql<Pick<PixTransaction, 'status'>>`
    update pix_transactions set reached_payee = true where id = ${id} returning status`,
});

/**
 * Stores that the payee of a send, another customer, has received it, as a report says: an open
 * send does not fail from now on.
 * @returns whether it had failed before.
 */
export async function storeReached({ db }: Pick<LocalContext, 'db'>, id: string): Promise<boolean> {
  const [send] = await db.query(markReached, { id });
  return send?.status === 'FAILED';
}

/** Release 1.2.0 stores receipts alone, and a loss of commits may take what a send has stored. */
const findReached = statement({
  name: 'pix-has-reached',
  parameters: { id: 'uuid' },
  text: ({ id }) => sql`
    update pix_transactions t set reached_payee = true
     where t.id = ${id} and t.operation = 'SEND'
       and (t.reached_payee
            or exists (select from pix_transactions received
                        where received.end_to_end = t.end_to_end
                          and received.operation in ('CHARGE', 'RECEIVED')
                          and received.status = 'COMPLETED' and received.user_id <> t.user_id))
    returning t.id`,
});

/**
 * Whether the payee of a send, another customer, has received it, by a report or by a transaction
 * of the payee that is stored. What the payer has received under its id is money back. It is stored
 * with the send, so that a move that fails it is refused. Call it before such a move.
 */
export async function hasReachedPayee(
  { db }: Pick<LocalContext, 'db'>,
  id: string,
): Promise<boolean> {
  return (await db.query(findReached, { id })).length > 0;
}

const clearReached = statement({
  name: 'pix-not-reached',
  parameters: { id: 'uuid' },
  text: ({ id }) => sql`
    update pix_transactions set reached_payee = null
     where id = ${id} and reached_payee returning id`,
});

/**
 * Clears what {@link storeReached} has stored, by the word of an operator.
 * @returns whether it was stored.
 */
export async function forgetReached(
  { db }: Pick<LocalContext, 'db'>,
  id: string,
): Promise<boolean> {
  return (await db.query(clearReached, { id })).length > 0;
}

const findSettlingEvent = statement({
  name: 'pix-settling-event',
  parameters: { transactionId: 'uuid' },
  text: ({ transactionId }) => sql`
    select event_id from pix_timeline
     where transaction_id = ${transactionId} and phase = 'SETTLED' and event_id is not null`,
});

/** Whether an event of the provider has settled a transaction. */
export async function isSettledByEvent(
  { db }: Pick<LocalContext, 'db'>,
  transactionId: string,
): Promise<boolean> {
  return (await db.query(findSettlingEvent, { transactionId })).length > 0;
}

/**
 * Finds another user's send with the same Idempotency-Key that may have been sent.
 */
const findSameKey = statement({
  name: 'pix-key-holder',
  parameters: { idempotencyKey: 'text null', excludedId: 'uuid' },
  text: ({ idempotencyKey, excludedId }) => sql<{ id: string }>`
    select id from pix_transactions
     where idempotency_key = ${idempotencyKey} and operation = 'SEND' and id <> ${excludedId}
       and end_to_end is not null
     order by created_at, id limit 1`,
});

/** @returns the id of another user's send with the Idempotency-Key of a send, or null. */
export async function findSameKeySend(
  { db }: Pick<LocalContext, 'db'>,
  { id, idempotencyKey }: PixTransaction,
): Promise<string | null> {
  const [row] = await db.query(findSameKey, { idempotencyKey, excludedId: id });
  return row?.id ?? null;
}

/** @public For the tests of plans and of the simulation. */
export const paymentStatements = {
  step,
  repeat,
  findAttempts,
  findUnsent,
  markReached,
  findReached,
  clearReached,
  findSettlingEvent,
  findSameKey,
};
