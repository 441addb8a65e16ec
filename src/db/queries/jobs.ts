import type { Statement } from '../database.ts';

export interface JobRow {
  readonly id: string;
  readonly kind: string;
  readonly payload: Record<string, unknown>;
  readonly attempts: number;
}

/**
 * Claims due jobs under a lease; jobs that another process is claiming are passed over, and so are
 * kinds that this version does not know: during an upgrade a newer process has put them there.
 * Parameters: worker, leased until, now, limit, kinds.
 */
export const claimJobs: Statement = {
  name: 'jobs-claim',
  text: `
    update jobs set status = 'running', leased_by = $1, leased_until = $2, attempts = attempts + 1
     where id in (select id from jobs
                   where status = 'queued' and run_at <= $3 and kind = any($5::text[])
                   order by run_at, id limit $4 for update skip locked)
    returning id, kind, payload, attempts`,
};

/**
 * Puts the jobs of dead processes back: their lease has run out. One that has been begun too often
 * is dead itself: it may be what kills the processes. A periodic one is not, because nothing would
 * ever queue it again. What the caller still runs is not put back, however late it is with its
 * heartbeat: a machine that slept finds every lease lapsed.
 * Parameters: now, attempts at most, worker, the jobs that it runs, the periodic kinds.
 */
export const releaseLapsed: Statement = {
  name: 'jobs-release-lapsed',
  text: `
    update jobs set status = case when is_over then 'dead' else 'queued' end,
                    finished_at = case when is_over then $1::timestamptz end,
                    last_error = case when is_over then 'lease_lapsed' else last_error end,
                    leased_by = null, leased_until = null
      from (select id as lapsed_id, attempts >= $2 and kind <> all($5::text[]) as is_over
              from jobs where status = 'running' and leased_until < $1
                          and not (leased_by = $3 and id = any($4::bigint[]))
             order by id for update skip locked) lapsed
     where id = lapsed_id
    returning id`,
};

/** Renews the leases of a living process. Parameters: worker, leased until, job ids. */
export const renewLeases: Statement = {
  name: 'jobs-renew',
  text: `
    update jobs set leased_until = $2
     where leased_by = $1 and status = 'running' and id = any($3::bigint[])`,
};

/** Ends a job, if its lease is still ours. Parameters: id, worker, status, error, now. */
export const finishJob: Statement = {
  name: 'jobs-finish',
  text: `
    update jobs set status = $3, last_error = $4, finished_at = $5,
                    leased_by = null, leased_until = null
     where id = $1 and leased_by = $2 and status = 'running'`,
};

/**
 * Puts a job back for later, if its lease is still ours.
 * Parameters: id, worker, run at, attempts so far, error.
 */
export const requeueJob: Statement = {
  name: 'jobs-requeue',
  text: `
    update jobs set status = 'queued', run_at = $3, attempts = $4, last_error = $5,
                    leased_by = null, leased_until = null
     where id = $1 and leased_by = $2 and status = 'running'`,
};

/**
 * Makes sure that a periodic kind has its one open job, due now: it runs at every start.
 * Parameters: kind, unique key, now.
 */
export const ensurePeriodic: Statement = {
  name: 'jobs-ensure-periodic',
  text: `
    insert into jobs (kind, payload, unique_key, status, run_at, created_at)
    values ($1, '{}', $2, 'queued', $3, $3)
        on conflict (unique_key) where unique_key is not null and status in ('queued', 'running')
        do update set run_at = least(jobs.run_at, excluded.run_at)`,
};

/** When the next queued job of a known kind is due. Parameters: kinds. */
export const nextDue: Statement = {
  name: 'jobs-next-due',
  text: `
    select min(run_at) as run_at from jobs where status = 'queued' and kind = any($1::text[])`,
};
