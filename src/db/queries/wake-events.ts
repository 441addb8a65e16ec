/**
 * A column of a statement that stores transactions: the events that wait for one of their ids are
 * looked at again, in the same commit. It does so once, for the first row that comes with it: the
 * statement has to answer a row with this column whenever it has stored something.
 *
 * The work itself is a function of the database (the migration `wake_events`), because hardly ever
 * does an event wait for anything: a part of a statement is made ready each time that the statement
 * runs, and a function where it is called.
 * @param stored a common table expression; it has the ids, the operation and the idempotency key.
 * @param now what holds the time: a parameter, or a column of `told`.
 */
export function waking(stored: string, now: string): string {
  return `case when exists (select from webhook_waits) then
             (select wake_events(array_agg(array[told.end_to_end, told.provider_txid,
                       left(told.transaction_identification, 25),
                       case when told.operation = 'SEND' then told.idempotency_key end]),
                     min(${now}::timestamptz))::text
                from ${stored} as told) end as woken`;
}
