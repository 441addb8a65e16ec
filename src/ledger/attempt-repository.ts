/** What the timeline says about each attempt at a payment. */
import { isOneOf } from '../db/statement.ts';
import { notSentNote, repeatNotes } from '../domain/pix.ts';
import { doubtfulStatuses } from '../provider/refusals.ts';

const doubtful = [...doubtfulStatuses].join(', ');

/** The status of a response that refuses the banking session: the bank may have said nothing. */
export const sessionRefused = 401;

/** A number: the attempts that the bank has answered by {@link sessionRefused}. */
export function countRefusedSessions(row: string): string {
  return countAnswered(row, `${row}.http_status = ${sessionRefused}`);
}

/**
 * A condition: a response refuses a payment. A code proves nothing in a status with which the
 * provider does not refuse payments, such as 503: the payment may have been executed.
 * @param response the row of the timeline that has the response.
 * @param codes an SQL expression: the codes that mean "not executed", a text array.
 */
export function isRefusal(response: string, codes: string): string {
  return `coalesce(${response}.provider_code = any(${codes})
                   and (${response}.http_status >= 400 and ${response}.http_status < 500
                          and ${response}.http_status not in (${doubtful})
                        or ${response}.provider_status = '2xx'), false)`;
}

/**
 * A condition: a row of the timeline has the response to an attempt at a payment. It is the row of
 * the next attempt, or the row UNKNOWN of the last one.
 */
export function hasResponse(row: string): string {
  return `(${row}.phase = 'UNKNOWN' or ${row}.phase = 'PAYING' and ${row}.attempt > 1)`;
}

/**
 * A number: the attempts with a response that meets a condition. A move whose commit has lost its
 * acknowledgement is made again, and notes its response twice: each attempt counts once.
 * @param row the row of the timeline that has the response.
 */
function countAnswered(row: string, condition: string): string {
  const answered = `${row}.attempt - case when ${row}.phase = 'PAYING' then 1 else 0 end`;
  return `count(distinct ${answered}) filter (where ${hasResponse(row)} and ${condition})`;
}

/** A condition: the attempt to which a row of the timeline has the response was not sent. */
export function wasNotSent(row: string): string {
  return isOneOf(`coalesce(${row}.note, '')`, [repeatNotes.notSent, notSentNote]);
}

/**
 * A condition: every attempt at a payment was provably not executed. The response to an attempt
 * refuses it, or the attempt was not sent.
 * @param table the transactions.
 * @param codes as for `isRefusal`.
 */
export function isAccountedFor(table: string, codes: string): string {
  const isHarmless = `(${wasNotSent('attempt')} or ${isRefusal('attempt', codes)})`;
  return `coalesce((select count(*) filter (where attempt.phase = 'PAYING')
                         = ${countAnswered('attempt', isHarmless)}
                     from pix_timeline attempt
                    where attempt.transaction_id = ${table}.id
                      and attempt.phase in ('PAYING', 'UNKNOWN')
                   having count(*) filter (where attempt.phase = 'PAYING') > 0), false)`;
}

/**
 * A condition: no event about an order waits for the end of its call. Such an event may report that
 * the payment has failed, and an attempt after it would be executed although it is stored as
 * failed. An event that names the order only by the idempotency key may be another user's: it
 * counts only if it was received after the order was stored. The clock of each process may be wrong
 * by five minutes.
 */
export function isUnopposed(order: string): string {
  return `not exists (select from webhook_waits wait
                          where wait.id_value = ${order}.end_to_end)
         and not exists (select from webhook_waits wait
                           join webhook_events event on event.id = wait.event_id
                          where wait.id_value = ${order}.idempotency_key
                            and event.received_at >= ${order}.created_at - interval '10 minutes')`;
}
