import type { Statement } from '../database.ts';

export interface JobRow {
  readonly id: string;
  readonly kind: string;
  readonly payload: Record<string, unknown>;
  readonly attempts: number;
}

/** A claimed job, or none, and when the next one is due that is not due yet. */
export type ClaimRow = (JobRow | { readonly id: null }) & { readonly next_run_at: Date | null };

/** Told by the database when a job is queued or asked for again; every loop listens. */
export const jobsChannel = 'ponte_jobs';

/**
 * The end of a statement that queues a job: it wakes the loops. A key has at most one open job. If
 * that is queued, it is due at the earlier of the two times; if it runs, it is run once more,
 * because it may have looked before there was what it is asked for now. The newest payload counts.
 */
export const orAskAgain = `
        on conflict (unique_key) where unique_key is not null and status in ('queued', 'running')
        do update set payload = excluded.payload,
                      run_at = case when jobs.status = 'queued'
                                    then least(jobs.run_at, excluded.run_at) else jobs.run_at end,
                      wanted = jobs.status = 'running'
    returning pg_notify('${jobsChannel}', '')::text as told`;

/**
 * Queues a job, or asks again for the open one of its key.
 * Parameters: kind, payload as JSON, unique key, run at, now.
 */
export const enqueueJob: Statement = {
  name: 'jobs-enqueue',
  text: `
    insert into jobs (kind, payload, unique_key, status, run_at, created_at)
    values ($1, $2::jsonb, $3, 'queued', $4::timestamptz, $5::timestamptz)
    ${orAskAgain}`,
};

/**
 * Claims due jobs under a lease, of each kind as many as it has room for; jobs that another process
 * is claiming are passed over, and so are kinds that this version does not know: during an upgrade
 * a newer process has put them there. Whatever the job was asked for before is done by the run that
 * begins now. A row comes back for each job, or one without a job; every row tells when the next
 * job is due that is not due yet.
 * Parameters: worker, leased until, now, kinds, how many of each at most.
 */
export const claimJobs: Statement = {
  name: 'jobs-claim',
  indexed: true,
  text: `
    with claimed as (
      update jobs set status = 'running', leased_by = $1, leased_until = $2, wanted = false,
                      attempts = attempts + 1
       where id = any(array(
         select due.id
           from unnest($4::text[], $5::int[]) as lane (kind, room),
                lateral (select id from jobs
                          where status = 'queued' and run_at <= $3 and kind = lane.kind
                          order by run_at, id limit room for update skip locked) as due))
      returning id, kind, payload, attempts
    )
    select claimed.*, next_run_at
      from (select min(run_at) as next_run_at from jobs
             where status = 'queued' and run_at > $3 and kind = any($4::text[])) as next
      left join claimed on true`,
};

/**
 * Puts the jobs of dead processes back: their lease has lapsed. A job that has run too often, and
 * whose lease lapsed in the run before as well, is dead: it may be what kills the processes. A
 * periodic job is never dead, because nothing would queue it again, and neither is a job that was
 * requested again since. A job that the caller still runs is not put back, however late its
 * heartbeat is: on a machine that slept every lease has lapsed.
 * Parameters: now, attempts at most, worker, the jobs that it runs, the periodic kinds.
 */
export const releaseLapsed: Statement = {
  name: 'jobs-release-lapsed',
  indexed: true,
  text: `
    update jobs set status = case when is_over then 'dead' else 'queued' end,
                    finished_at = case when is_over then $1::timestamptz end,
                    last_error = 'lease_lapsed',
                    attempts = case when wanted then 0 else attempts end,
                    leased_by = null, leased_until = null
      from (select id as lapsed_id,
                   attempts >= $2 and last_error = 'lease_lapsed' and kind <> all($5::text[])
                     and not wanted as is_over
              from jobs where status = 'running' and leased_until < $1
                          and not (leased_by = $3 and id = any($4::bigint[]))
             order by id for update skip locked) lapsed
     where id = lapsed_id
    returning id`,
};

/**
 * Renews the leases of a living process. A job that somebody asks for again at this very moment is
 * left to the next beat: to wait for several rows at once could end in a deadlock.
 * Parameters: worker, leased until, job ids.
 */
export const renewLeases: Statement = {
  name: 'jobs-renew',
  indexed: true,
  text: `
    update jobs set leased_until = $2
     where id = any(array(
       select id from jobs
        where leased_by = $1 and status = 'running'
          and id = any($3::bigint[])
        for update skip locked))`,
};

/**
 * How a job ends whose lease is still ours, as assignments of an UPDATE that takes `now` from what
 * was asked. One that was asked for again while it ran is queued instead, as if it had been asked
 * for a moment later.
 * @param status what it ends as, an SQL expression.
 * @param error why, an SQL expression.
 */
export function ending(status: string, error: string): string {
  return `status = case when wanted then 'queued' else ${status} end,
                    run_at = case when wanted then call.now else run_at end,
                    attempts = case when wanted then 0 else attempts end,
                    finished_at = case when wanted then null else call.now end,
                    last_error = ${error}, leased_by = null, leased_until = null`;
}

/** How a job stands that was ended: queued, because it was asked for again meanwhile. */
export interface EndedRow {
  readonly status: 'done' | 'dead' | 'queued';
}

/**
 * Ends a job, if its lease is still ours. Only a running job is leased to somebody
 * (`jobs_lease_while_running`); asked for in these words, it is found by its id and not among all
 * that have run since the last vacuum.
 * Parameters, grouped: id, worker, status, error, now.
 */
export const finishJob: Statement = {
  name: 'jobs-finish',
  grouping: { apartBy: 1 },
  text: `
    update jobs set ${ending('call.status', 'call.error')}
      from unnest($1::bigint[], $2::text[], $3::text[], $4::text[], $5::timestamptz[])
           with ordinality as call (id, worker, status, error, now, place)
     where jobs.id = any(array[call.id]) and leased_by = worker
    returning place, jobs.status`,
};

/**
 * Puts a job back for later, if its lease is still ours; one that was asked for again while it ran
 * is due at once. It is found as in `finishJob`.
 * Parameters, grouped: id, worker, run at, attempts so far, error, now.
 */
export const requeueJob: Statement = {
  name: 'jobs-requeue',
  grouping: { apartBy: 1 },
  text: `
    update jobs set status = 'queued', attempts = call.attempts, last_error = call.error,
                    run_at = case when wanted then least(call.run_at, call.now)
                                  else call.run_at end,
                    leased_by = null, leased_until = null
      from unnest($1::bigint[], $2::text[], $3::timestamptz[], $4::int[], $5::text[],
                  $6::timestamptz[])
           with ordinality as call (id, worker, run_at, attempts, error, now, place)
     where jobs.id = any(array[call.id]) and leased_by = worker
    returning place`,
};

/**
 * Brings periodic jobs back that are due later than a period from now: a wall clock that was ahead
 * for some seconds has queued them. Parameters: unique keys, when each is due at the latest.
 */
export const bringForward: Statement = {
  name: 'jobs-bring-forward',
  text: `
    update jobs set run_at = latest.run_at
      from unnest($1::text[], $2::timestamptz[]) as latest (unique_key, run_at)
     where jobs.unique_key = latest.unique_key and jobs.status = 'queued'
       and jobs.run_at > latest.run_at`,
};

/**
 * Makes sure that a periodic kind has its one open job, due by then at the latest.
 * Parameters: kind, unique key, run at, now.
 */
export const ensurePeriodic: Statement = {
  name: 'jobs-ensure-periodic',
  text: `
    insert into jobs (kind, payload, unique_key, status, run_at, created_at)
    values ($1, '{}', $2, 'queued', $3, $4)
        on conflict (unique_key) where unique_key is not null and status in ('queued', 'running')
        do update set run_at = least(jobs.run_at, excluded.run_at)`,
};
