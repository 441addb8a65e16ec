/**
 * A column that writes, of a statement that stores transactions: it queues, in the same commit, the
 * jobs of the events that wait for one of their ids. PostgreSQL computes it once, with the first
 * row of the result: so the statement has to return a row whenever it has stored something.
 *
 * The work itself is a function of the database (the migration `wake_events`), which costs nothing
 * unless it is called. Written out here, it would be prepared with every run of the statement, and
 * hardly ever does an event wait.
 * @param stored a common table expression; it has the ids, the operation and the idempotency key.
 * @param now what holds the time: a parameter, or a column of `stored`.
 * @param after the common table expressions that write jobs themselves: they are completed before,
 *   because PostgreSQL refuses to change a row that a function of the statement has changed.
 */
export function wakingEvents(stored: string, now: string, after: readonly string[] = []): string {
  const completed = after.map((name) => `, (select count(*) from ${name}) as all_${name}`);
  return `case when exists (select from webhook_waits) then
             (select wake_events(array_agg(array[stored.end_to_end, stored.provider_txid,
                       left(stored.transaction_identification, 25),
                       case when stored.operation = 'SEND' then stored.idempotency_key end]),
                     min(${now}::timestamptz))::text
                from ${stored} as stored${completed.join('')}) end as woken`;
}
