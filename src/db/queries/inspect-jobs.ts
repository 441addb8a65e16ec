/** Statements of the operators' view of the queue. None of them gives a payload or a unique key. */
import type { Statement } from '../database.ts';
import { jobsChannel } from './jobs.ts';

export type JobStatus = 'queued' | 'running' | 'done' | 'dead';

export interface InspectedJobRow {
  readonly id: string;
  readonly kind: string;
  readonly status: JobStatus;
  readonly attempts: number;
  readonly run_at: Date;
  readonly leased_until: Date | null;
  readonly last_error: string | null;
  readonly created_at: Date;
  readonly finished_at: Date | null;
  /** Of a settle-webhook job; what other jobs are about may be a secret. */
  readonly event_id: string | null;
}

const columns = `id, kind, status, attempts, run_at, leased_until, last_error, created_at,
  finished_at, case when kind = 'settle-webhook' then payload->>'eventId' end as event_id`;

/** Jobs, newest first. Parameters: status or null, kind or null, limit. */
export const listJobs: Statement = {
  name: 'inspect-jobs',
  text: `
    select ${columns} from jobs
     where ($1::text is null or status = $1) and ($2::text is null or kind = $2)
     order by id desc limit $3`,
};

/**
 * The jobs of one event that are not done, and one that is where it is still kept, the newest
 * first. Parameters: event id, limit.
 */
export const jobsOfEvent: Statement = {
  name: 'inspect-jobs-of-event',
  text: `
    select ${columns} from jobs
     where kind = 'settle-webhook' and payload->>'eventId' = $1
     order by id desc limit $2`,
};

/** The state of each of some jobs. Parameters: ids. */
export const jobStatuses: Statement = {
  name: 'inspect-job-statuses',
  text: `select id, status from jobs where id = any($1::bigint[])`,
};

/** A page of dead jobs, oldest first. Parameters: kind or null, after this id, limit. */
export const deadJobs: Statement = {
  name: 'inspect-dead-jobs',
  text: `
    select id from jobs
     where status = 'dead' and ($1::text is null or kind = $1) and id > $2::bigint
     order by id limit $3`,
};

/**
 * Queues dead jobs again, due now, as if they had never been tried, and wakes the job loop. At most
 * one open job may have a unique key: of several dead ones with one key the newest is taken, and
 * none when one with that key is open already.
 * Parameters: ids, now. Answers the jobs that were queued.
 */
export const retryJobs: Statement = {
  name: 'jobs-retry',
  text: `
    with chosen as (
      select distinct on (coalesce(unique_key, id::text)) id from jobs as dead
       where status = 'dead' and id = any($1::bigint[])
         and not exists (select from jobs as open
                          where open.unique_key = dead.unique_key
                            and open.status in ('queued', 'running'))
       order by coalesce(unique_key, id::text), id desc
    ), retried as (
      update jobs set status = 'queued', attempts = 0, run_at = $2, finished_at = null
       where id in (select id from chosen) and status = 'dead'
      returning id
    )
    select id, pg_notify('${jobsChannel}', '')::text as told from retried`,
};

export interface JobStatsRow {
  readonly kind: string;
  readonly status: JobStatus;
  readonly jobs: number;
  /** When the oldest was due, or has ended. */
  readonly oldest_at: Date;
  readonly lapsed: number;
}

/** The queue in numbers. Parameters: now. */
export const jobStats: Statement = {
  name: 'inspect-job-stats',
  text: `
    select kind, status, count(*)::int as jobs, min(coalesce(finished_at, run_at)) as oldest_at,
           (count(*) filter (where status = 'running' and leased_until < $1))::int as lapsed
      from jobs group by kind, status order by kind, status`,
};
