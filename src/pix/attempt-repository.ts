/** What the timeline says about each attempt at a payment. */
import { notSentNote, repeatNotes } from '../domain/pix.ts';

/**
 * A condition: every attempt at a payment was provably not executed. The response to an attempt
 * has a listed code, or the attempt was not sent. The response stands in the row of the next
 * attempt, or in the row UNKNOWN of the last one.
 * @param table the transactions.
 * @param codes an SQL expression: the listed codes, a text array.
 */
export function isAccountedFor(table: string, codes: string): string {
  return `coalesce((select count(*) filter (where attempt.phase = 'PAYING')
                         = count(*) filter (where (attempt.attempt > 1 or attempt.phase = 'UNKNOWN')
                             and (attempt.note in ('${repeatNotes.notSent}', '${notSentNote}')
                                  or attempt.provider_code = any(${codes})))
                     from pix_timeline attempt
                    where attempt.transaction_id = ${table}.id
                      and attempt.phase in ('PAYING', 'UNKNOWN')
                   having count(*) filter (where attempt.phase = 'PAYING') > 0), false)`;
}
