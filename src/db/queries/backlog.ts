import type { Statement } from '../database.ts';
import { isUnderWay } from './pix-transactions.ts';

export interface BacklogRow {
  /** The jobs that are not done, by kind and state. */
  readonly queue: readonly {
    readonly kind: string;
    readonly state: 'due' | 'later' | 'running' | 'dead';
    readonly jobs: number;
  }[];
  readonly oldest_due_at: Date | null;
  readonly received: number;
  readonly parked: number;
  readonly orphaned: number;
  readonly anomaly: number;
  readonly unknown: number;
  /** When the oldest send of an unknown outcome was made. */
  readonly oldest_unknown_at: Date | null;
  /** When the oldest send was made that the provider has accepted and not settled. */
  readonly oldest_accepted_at: Date | null;
  readonly paying_overdue: number;
}

/**
 * What waits, and what waits for somebody, in one reading. Every part of it goes through a partial
 * index (`jobs_due`, `jobs_leases`, `jobs_dead`, `webhook_events_waiting`,
 * `webhook_events_flagged`, `pix_transactions_unsettled`), so that it costs what the backlog is
 * long and not what the tables are: the last one holds all that is under way.
 * Parameters: now, PAYING untouched since.
 */
export const readBacklog: Statement = {
  name: 'backlog-read',
  text: `
    with queue as (
      select kind, case when run_at <= $1 then 'due' else 'later' end as state,
             count(*)::int as jobs, min(run_at) as oldest_at
        from jobs where status = 'queued' group by 1, 2
       union all
      select kind, 'running', count(*)::int, null from jobs where status = 'running' group by 1
       union all
      select kind, 'dead', count(*)::int, null from jobs where status = 'dead' group by 1
    )
    select (select coalesce(jsonb_agg(jsonb_build_object('kind', kind, 'state', state,
                                                         'jobs', jobs)), '[]'::jsonb)
              from queue) as queue,
           (select min(oldest_at) from queue where state = 'due') as oldest_due_at,
           waiting.received, waiting.parked, unsettled.orphaned, unsettled.anomaly,
           unended.unknown, unended.oldest_unknown_at, unended.oldest_accepted_at,
           unended.overdue as paying_overdue
      from (select count(*) filter (where status = 'received')::int as received,
                   count(*) filter (where status = 'parked')::int as parked
              from webhook_events where status in ('received', 'parked')) waiting,
           (select count(*) filter (where status = 'orphaned')::int as orphaned,
                   count(*) filter (where status = 'anomaly')::int as anomaly
              from webhook_events where status in ('orphaned', 'anomaly')) unsettled,
           (select count(*) filter (where phase = 'UNKNOWN')::int as unknown,
                   min(created_at) filter (where phase = 'UNKNOWN') as oldest_unknown_at,
                   min(created_at) filter (where phase = 'ACCEPTED') as oldest_accepted_at,
                   count(*) filter (where phase = 'PAYING' and updated_at <= $2
                       and (claimed_until is null or claimed_until <= $1))::int as overdue
              from pix_transactions t where ${isUnderWay('t')}) unended`,
};
