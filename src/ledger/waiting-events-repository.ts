/** Events that wait for an id of a transaction, and are woken when it is stored. */

import { columnsOf } from '../db/rows.ts';
import { shortTxid } from './pix-transaction-repository.ts';

/** The columns of a transaction that {@link wakingEvents} reads, and its id. */
export const naming = columnsOf(
  'pix_transactions',
  'id, operation, idempotencyKey, endToEnd, providerTxid, transactionIdentification',
);

/** The ids of a transaction that events may wait for; a null is none. */
export function waitedIds(table: string): string {
  return `${table}.end_to_end, ${table}.provider_txid,
                       ${shortTxid(`${table}.transaction_identification`)},
                       case when ${table}.operation = 'SEND' then ${table}.idempotency_key end`;
}

/**
 * The common table expression `woken`, which writes: in the commit of a statement that stores
 * transactions, the events that wait for one of their ids become due. The select at the end
 * of the statement has to read it: PostgreSQL runs it once, when it is first read, or not at all.
 *
 * The work itself is a function of the database (the migration `new_tables`), which costs nothing
 * unless it is called. Written out here, it would be prepared with every run of the statement, and
 * hardly ever does an event wait.
 * @param stored a common table expression with the columns `naming`.
 * @param now a column of it: the present time.
 * @param after the common table expression that writes the queue itself: it ends before this one,
 *   because PostgreSQL refuses to change a row that a function of the statement has changed.
 */
export function wakingEvents(stored: string, now: string, after?: string): string {
  const completed = after === undefined ? '' : `, (select count(*) from ${after}) as completed`;
  return `woken as (
      select case when exists (select from webhook_waits) then
             (select wake_events(array_agg(array[${waitedIds('stored')}]),
                                 min(stored.${now}))::text
                from ${stored} as stored${completed}) end as events
    )`;
}
