/** What the timeline says about each attempt at a payment. */
import { isOneOf } from '../db/statement.ts';
import { notSentNote, repeatNotes } from '../domain/pix.ts';
import { doubtfulStatuses } from '../provider/refusals.ts';

const doubtful = [...doubtfulStatuses].join(', ');

/** The status of a response that refuses the banking session: the bank may have said nothing. */
export const sessionRefused = 401;

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
  return `coalesce((select count(*) filter (where attempt.phase = 'PAYING')
                         = count(*) filter (where ${hasResponse('attempt')}
                             and (${wasNotSent('attempt')} or ${isRefusal('attempt', codes)}))
                     from pix_timeline attempt
                    where attempt.transaction_id = ${table}.id
                      and attempt.phase in ('PAYING', 'UNKNOWN')
                   having count(*) filter (where attempt.phase = 'PAYING') > 0), false)`;
}
