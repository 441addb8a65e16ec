/**
 * The end of a statement that stores transactions in a common table expression: the events that
 * wait for one of their ids are looked at again, in the same commit. Jobs are locked in one order,
 * so that no two statements wait for each other. A job that runs is asked for once more, because it
 * may have looked before this commit. Mostly no event waits for anything: that is asked once,
 * before four ids of each transaction are looked for.
 * @param stored the expression's name; it has the ids, the operation and the idempotency key.
 * @param now what holds the time: a parameter, or a column of `told`.
 */
export function waking(stored: string, now: string): string {
  return `woken as (
      update jobs set wanted = status = 'running',
                      run_at = case when status = 'queued' then least(run_at, woken_at)
                                    else run_at end
        from (select job.id as woken_id, ${now}::timestamptz as woken_at
                from ${stored} as told
                join webhook_waits wait
                  on wait.id_value in (told.end_to_end, told.provider_txid,
                       left(told.transaction_identification, 25),
                       case when told.operation = 'SEND' then told.idempotency_key end)
                join jobs job on job.unique_key = 'webhook:' || wait.event_id
                             and job.status in ('queued', 'running')
               where exists (select from webhook_waits)
               order by job.id for update of job) waiting
       where id = woken_id and status in ('queued', 'running')
      returning pg_notify('ponte_jobs', '')
    )`;
}
