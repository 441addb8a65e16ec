/**
 * Why a user may not order now: an operator or a process has paused all orders, the statement of
 * the user was not read since a loss of commits, or a line of it may be the payment of a lost
 * order. These are parts of the statements that every order runs.
 */
import { isOneOf } from '../db/statement.ts';
import { orderTypes, phasesBeforePaying } from '../domain/pix.ts';
import { isAbandoned } from './pix-transaction-repository.ts';

/** A condition: an operator, or a process that misses a commit, has paused all sends. */
export const isPixPaused = 'exists (select from pix_pauses where ended_at is null)';

/** When the first recorded loss of commits began; null: there was none. */
const firstLoss = '(select min(lost_since) from pix_pauses)';

/** The last recorded loss of commits; 0: there was none. */
const lastLoss = 'coalesce((select max(id) from pix_pauses where lost_since is not null), 0)';

/**
 * A condition: the statement of an account was not read since the last loss of commits.
 * @param account a row of `accounts`.
 */
function isUnread(account: string): string {
  return `${lastLoss} > coalesce(${account}.loss_read, 0)`;
}

/**
 * A condition: an order accounts for the line of a difference. It is a send with the end-to-end id
 * of the line, or a refund with its return id, made here or reported.
 * @param line a table expression of differences.
 */
export function isAccounted(line: string): string {
  return `exists (select from pix_transactions t
                        where t.end_to_end = ${line}.subject
                          and ${isOneOf('t.operation', orderTypes)})`;
}

/** A condition of the differences `line`: neither a closure nor an order accounts for it. */
export const isUnaccounted = `line.closed_at is null
                                and not ${isAccounted('line')}`;

/**
 * A condition: a difference blocks orders of an account. Without `blocked_by` of the account,
 * the differences are not read.
 * @param account a row of `accounts`.
 * @param which the condition of the differences `line` that block it.
 */
function isBlocked(account: string, which: string): string {
  return `${account}.blocked_by is not null
                and exists (select from reconciliation_differences line
                             where line.user_id = ${account}.user_id and ${which}
                               and ${isUnaccounted})`;
}

/**
 * The common table expression `unblocked`, which writes: the accounts of users name the last of the
 * differences that still block. Their rows are locked before the statement (`lockAccounts`), so
 * that no other process closes or stores one meanwhile.
 * @param closed a common table expression of differences that the statement closes, with the
 *   columns `id` and `user_id`.
 */
export function unblocking(closed: string): string {
  return `unblocked as (
      update accounts a set blocked_by = (
             select max(line.id) from reconciliation_differences line
              where line.user_id = a.user_id and line.blocks is not null
                and line.closed_at is null and line.id not in (select id from ${closed}))
       where a.user_id in (select user_id from ${closed}) and a.blocked_by is not null
    )`;
}

/** Why an order may not be made now. */
export type OrderBlock = 'paused' | 'unread' | 'unaccounted';

/** An order, in SQL. */
interface OrderInSql {
  /** The row of `accounts` of its user. */
  readonly account: string;
  /** A table expression with the column `amount`. */
  readonly row: string;
  /** An expression: the type of the order. */
  readonly operation: string;
}

/**
 * A column: why an order may not be made now (see {@link OrderBlock}), or null. The line of a
 * payment blocks sends of its amount, and that of a return blocks returns.
 */
export function orderBlock({ account, row, operation }: OrderInSql): string {
  const which = `line.blocks in (${operation}, 'ANY')
                               and coalesce(line.amount = ${row}.amount, true)`;
  return `case when ${isPixPaused} then 'paused'
                when ${isUnread(account)} then 'unread'
                when ${isBlocked(account, which)} then 'unaccounted' end`;
}

/**
 * A condition: the account of the user of the order `t` is ACTIVE, and nothing blocks the order.
 * A scalar subquery: for `exists` PostgreSQL may read all accounts.
 */
export const mayBePaid = `
             (select a.status = 'ACTIVE'
                     and ${orderBlock({ account: 'a', row: 't', operation: 't.operation' })} is null
                from accounts a where a.user_id = t.user_id) is true`;

/**
 * How long before a loss an order may have been stored whose attempts are lost: the longest claim,
 * and what the clocks of processes may differ by.
 */
const madeBefore = "interval '10 minutes'";

/**
 * A condition: commits about orders of the user of a row may be lost. A line that blocks may be the
 * payment of any of the user's keys.
 * @param row a table expression with the column `user_id`.
 */
function mayHaveLostCommits(row: string): string {
  return `(${isPixPaused}
                or (select ${isUnread('a')} or ${isBlocked('a', 'line.blocks is not null')}
                      from accounts a where a.user_id = ${row}.user_id) is true)`;
}

/**
 * A condition: nothing stored proves that the user of a row has sent nothing with a key, because
 * commits about orders may be lost. A refund that was only reported, at any time since a loss
 * began, may be the return of any of the user's keys. With `is true` the planner finds it by its
 * key, and not among all rows of the user.
 * @param row a table expression with the columns `user_id` and `operation`.
 */
export function mayHaveLostOrders(row: string): string {
  return `(${mayHaveLostCommits(row)}
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
 * said so may be lost.
 * @param row a table expression of transactions.
 */
export function isBlockedOrder(row: string): string {
  return `(${isOneOf(`${row}.operation`, orderTypes)}
           and ${mayHaveLostCommits(row)})`;
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
export function isBlockedAtStart(row: string, untouchedSince: string, now: string): string {
  return `(${isOneOf(`${row}.phase`, phasesBeforePaying)}
           and ${isAbandoned(row, untouchedSince, now)} and ${isBlockedOrder(row)})`;
}
