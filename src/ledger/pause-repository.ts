/**
 * Pauses of all sends, and the losses of commits that they record. The statements are SQL: two are
 * parts of the statements that every send runs, and the simulation runs the others.
 */
import type { LocalContext } from '../context/context.ts';
import { isOneOf, sql, statement } from '../db/statement.ts';
import { orderTypes, phasesBeforePaying } from '../domain/pix.ts';
import { isAbandoned } from './pix-transaction-repository.ts';

type Store = Pick<LocalContext, 'db' | 'clock'>;

/** A condition: an operator, or a process that misses a commit, has paused all sends. */
export const isPixPaused = 'exists (select from pix_pauses where ended_at is null)';

/** When the first recorded loss of commits began; null: there was none. */
const firstLoss = '(select min(lost_since) from pix_pauses)';

/** The last recorded loss of commits; null: there was none. */
const lastLoss = '(select max(id) from pix_pauses where lost_since is not null)';

/**
 * A condition: the statement of the user of a row was not read since the last loss of commits. Only
 * after a loss does it read a table for each row.
 * @param row a table expression with the column `user_id`.
 */
function isUnread(row: string): string {
  return `(${lastLoss} is not null and ${lastLoss} > coalesce(
              (select pause_id from pix_statement_reads where user_id = ${row}.user_id), 0))`;
}

/**
 * A condition of the table `line`: it blocks. A send with its end-to-end id accounts for it, and
 * for the line of a return a refund with its return id, made here or reported.
 */
export const isBlocking = `
  line.accounted_at is null
       and not exists (select from pix_transactions t
                        where t.end_to_end = line.end_to_end
                          and ${isOneOf('t.operation', orderTypes)})`;

/** Why an order may not be made now. */
export type OrderHold = 'paused' | 'unread' | 'unaccounted';

/**
 * A column: why the order of a row may not be made now (see {@link OrderHold}), or null. The line
 * of a payment blocks sends of its amount, and that of a return blocks returns.
 * @param row a table expression with the columns `user_id` and `amount`.
 * @param operation an SQL expression: the type of the order.
 */
export function orderHold(row: string, operation: string): string {
  return `case when ${isPixPaused} then 'paused'
                when ${isUnread(row)} then 'unread'
                when exists (select from pix_unaccounted_lines line
                              where line.user_id = ${row}.user_id and line.amount = ${row}.amount
                                and (left(line.end_to_end, 1) = 'D') = (${operation} = 'REFUND_OUT')
                                and ${isBlocking})
                then 'unaccounted' end`;
}

/**
 * How long before a loss an order may have been stored whose attempts are lost: the longest claim,
 * and what the clocks of processes may differ by.
 */
const madeBefore = "interval '10 minutes'";

/**
 * A condition: nothing stored proves what the user of a row has not sent with a key, because
 * commits about orders may be lost. A line that blocks may be the payment of any of the user's
 * keys, and a refund that was only reported, at any time since a loss began, the return of any.
 * With `is true` the planner finds that refund by its key, and not among all rows of the user.
 * @param row a table expression with the columns `user_id` and `operation`.
 */
export function mayHaveLostOrders(row: string): string {
  return `(${isPixPaused} or ${isUnread(row)}
                or exists (select from pix_unaccounted_lines line
                            where line.user_id = ${row}.user_id and ${isBlocking})
                or ${row}.operation = 'REFUND_OUT'
                   and exists (select from pix_transactions refund
                                where refund.user_id = ${row}.user_id
                                  and refund.operation = 'REFUND_OUT'
                                  and refund.idempotency_key is null
                                  and (refund.created_at + ${madeBefore}
                                         >= ${firstLoss}) is true))`;
}

/**
 * A condition: nothing stored proves that the order of a row was not paid, because the commit that
 * said so may be lost. A line that blocks its amount may be its payment.
 * @param row a table expression of transactions.
 */
export function mayBeLost(row: string): string {
  const operation = `${row}.operation`;
  return `(${isOneOf(operation, orderTypes)} and ${orderHold(row, operation)} is not null)`;
}

/**
 * How long after a loss a send may be stored under the end-to-end id of one that is lost: as long
 * as a look-up may be used (`pix/confirmed-payee.ts`), and what the clocks of processes may differ
 * by.
 */
const madeAfter = "interval '10 minutes'";

/**
 * A condition: attempts at the payment of a row may be lost, because it was made around a loss of
 * commits. The failure of one attempt then says nothing about another one.
 * @param row a table expression of transactions.
 */
export function mayHaveLostAttempts(row: string): string {
  return `(${isOneOf(`${row}.operation`, orderTypes)}
                    and exists (select from pix_pauses
                                 where lost_since <= ${row}.created_at + ${madeBefore}
                                   and (ended_at is null
                                        or ended_at >= ${row}.created_at - ${madeAfter})))`;
}

/**
 * A condition: the sweep does not end an order before PAYING, because its payment may have left.
 * @param row a table expression of transactions.
 * @param untouchedSince the parameter: no process has changed it since then.
 * @param now the parameter of the present time.
 */
export function isHeldAfterLoss(row: string, untouchedSince: string, now: string): string {
  return `(${isOneOf(`${row}.phase`, phasesBeforePaying)}
           and ${isAbandoned(row, untouchedSince, now)} and ${mayBeLost(row)})`;
}

/**
 * Begins a pause, or widens the open one: then its loss begins at the earlier time. Nothing happens
 * if the time of the missing row is in a loss that is recorded.
 */
const begin = statement({
  name: 'pix-pause-begin',
  parameters: {
    now: 'timestamptz',
    by: 'text',
    reason: 'text',
    lostSince: 'timestamptz null',
    missingSince: 'timestamptz null',
  },
  text: ({ now, by, reason, lostSince, missingSince }) => sql<{ result: 'begun' | 'widened' }>`
    with widened as (
      update pix_pauses set lost_since = ${lostSince}
       where ended_at is null
         and (lost_since > ${lostSince} or (lost_since is null and ${lostSince} is not null))
      returning id
    ), begun as (
      insert into pix_pauses (began_at, began_by, reason, lost_since)
      select ${now}, ${by}, ${reason}, ${lostSince}
       where not exists (select from pix_pauses where ended_at is null)
         and not exists (select from pix_pauses
                          where lost_since <= ${missingSince} and ended_at >= ${missingSince})
          on conflict do nothing
      returning id
    )
    select 'begun' as result from begun union all select 'widened' from widened`,
});

export interface NewPause {
  /** An operator, or `ponte`. */
  readonly by: string;
  readonly reason: string;
  /** Since when commits may be lost; null: none are. */
  readonly lostSince: Date | null;
  /** When the row was committed that is missing now, if a process has noticed one. */
  readonly missingSince?: Date;
}

/** @returns null when nothing has changed. */
export async function beginPause(
  { db, clock }: Store,
  { by, reason, lostSince, missingSince }: NewPause,
): Promise<'begun' | 'widened' | null> {
  const [row] = await db.query(begin, {
    now: clock.now(),
    by,
    reason,
    lostSince,
    missingSince: missingSince ?? null,
  });
  return row?.result ?? null;
}

/** A pause that has not ended. */
export interface OpenPause {
  readonly id: number;
  readonly beganAt: Date;
  readonly beganBy: string;
  readonly reason: string;
  /** Since when commits may be lost; null: none are. */
  readonly lostSince: Date | null;
}

const findOpen = statement({
  name: 'pix-pause-find',
  parameters: {},
  text: () => sql<OpenPause>`
    select id, began_at as "beganAt", began_by as "beganBy", reason, lost_since as "lostSince"
      from pix_pauses where ended_at is null`,
});

/** @returns the open pause, or null. */
export async function findPause({ db }: Pick<LocalContext, 'db'>): Promise<OpenPause | null> {
  const [pause] = await db.query(findOpen, {});
  return pause ?? null;
}

const end = statement({
  name: 'pix-pause-end',
  parameters: { id: 'int', now: 'timestamptz', by: 'text' },
  text: ({ id, now, by }) => sql`
    update pix_pauses set ended_at = ${now}, ended_by = ${by}
     where id = ${id} and ended_at is null
    returning id`,
});

/** @returns whether the pause was open. */
export async function endPause(
  { db, clock }: Store,
  { id, by }: { readonly id: number; readonly by: string },
): Promise<boolean> {
  return (await db.query(end, { id, now: clock.now(), by })).length > 0;
}

/** The reading of a statement that a user owes. */
export interface OwedReading {
  /** The last loss that it is for. */
  readonly pauseId: number;
  /** The commits between these times may be lost. */
  readonly since: Date;
  readonly until: Date;
}

const findOwed = statement({
  name: 'pix-statement-owed',
  parameters: { userId: 'int' },
  text: ({ userId }) => sql<OwedReading | { readonly pauseId: null }>`
    select max(id) as "pauseId", min(lost_since) as since, max(ended_at) as until
      from pix_pauses
     where lost_since is not null and ended_at is not null
       and id > coalesce((select pause_id from pix_statement_reads where user_id = ${userId}), 0)`,
});

/** @returns null when the user's statement was read since the last loss, or there was none. */
export async function findOwedReading(
  { db }: Pick<LocalContext, 'db'>,
  userId: number,
): Promise<OwedReading | null> {
  const [row] = await db.query(findOwed, { userId });
  return row && row.pauseId !== null ? row : null;
}

const store = statement({
  name: 'pix-statement-read',
  parameters: { userId: 'int', pauseId: 'int', since: 'timestamptz', now: 'timestamptz' },
  text: ({ userId, pauseId, since, now }) => sql`
    insert into pix_statement_reads (user_id, pause_id, read_since, read_at)
    values (${userId}, ${pauseId}, ${since}, ${now})
        on conflict (user_id) do update
       set pause_id = excluded.pause_id, read_since = excluded.read_since,
           read_at = excluded.read_at
     where pix_statement_reads.pause_id < excluded.pause_id`,
});

/** Stores that a user's statement was read whole since a loss: the user may send again. */
export async function storeReading(
  { db, clock }: Store,
  userId: number,
  { pauseId, since }: OwedReading,
): Promise<void> {
  await db.query(store, { userId, pauseId, since, now: clock.now() });
}

/** @public For the tests of plans and of the simulation. */
export const pauseStatements = { begin, findOpen, end, findOwed, store };
