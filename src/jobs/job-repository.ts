/**
 * The jobs in the database. They are SQL: a job is queued, claimed and ended in one statement each,
 * and the statements of other capabilities queue and end jobs in their own commit.
 */
import type { LocalContext } from '../context/context.ts';
import { columnsOf, type RowOf } from '../db/rows.ts';
import { batchedStatement, isOneOf, sql, statement } from '../db/statement.ts';
import type { LeasedJob } from './job.ts';

/** The channel that is notified when a job is queued or requested again; every loop listens. */
export const jobsChannel = 'ponte_jobs';

/** The states of a job that is not over. */
export const openStates = ['queued', 'running'] as const;

/** Of an INSERT that queues jobs: the conflict with the one open job that a key may have. */
const onOpenJob = `on conflict (unique_key)
        where unique_key is not null and ${isOneOf('status', openStates)}`;

/**
 * The end of an INSERT that queues jobs: it wakes the loops. A key has at most one open job. If
 * that is queued, it is due at the earlier of the two times; if it runs, it is run once more,
 * because it may have read before the cause of this request was stored. The newest payload counts.
 */
export const orRequestAgain = `
        ${onOpenJob}
        do update set payload = excluded.payload,
                      run_at = case when jobs.status = 'queued'
                                    then least(jobs.run_at, excluded.run_at) else jobs.run_at end,
                      wanted = jobs.status = 'running'
    returning pg_notify('${jobsChannel}', '')::text as notified`;

const enqueue = statement({
  name: 'jobs-enqueue',
  parameters: {
    kind: 'text',
    payload: 'jsonb',
    uniqueKey: 'text',
    runAt: 'timestamptz',
    now: 'timestamptz',
  },
  text: ({ kind, payload, uniqueKey, runAt, now }) => sql`
    insert into jobs (kind, payload, unique_key, status, run_at, created_at)
    values (${kind}, ${payload}, ${uniqueKey}, 'queued', ${runAt}, ${now})
    ${orRequestAgain}`,
});

/** A job to be done, at least once. */
export interface JobRequest {
  /** Its line in `app/jobs.ts`. */
  readonly kind: string;
  /**
   * Names the work over all kinds, such as `webhook:<id>`: while a job with this key is open, a
   * second request makes no second job.
   */
  readonly uniqueKey: string;
  /** The input of the handler; an open job with the key gets the newest payload. */
  readonly payload: Readonly<Record<string, unknown>>;
  /** By default now. */
  readonly runAt?: Date;
}

/**
 * Queues a job in the same commit as the fact that it follows from; the commit wakes the loops. An
 * open job with the same key is not doubled: if it is queued, it is due at the earlier of the two
 * times; if it runs, it is run once more.
 * @param transaction the context of the transaction that stores the fact.
 */
export async function enqueueJob(
  { db, clock }: Pick<LocalContext, 'db' | 'clock'>,
  { kind, payload, uniqueKey, runAt = clock.now() }: JobRequest,
): Promise<void> {
  const job = { kind, payload: JSON.stringify(payload), uniqueKey, runAt, now: clock.now() };
  await db.query(enqueue, job);
}

const leased = columnsOf('jobs', 'id, kind, payload, attempts');

/**
 * Claims due jobs under a lease, of each kind as many as it has room for. It skips jobs that
 * another process is claiming, and kinds that this version does not know: during an upgrade a newer
 * process has queued them. The run that begins now does all that the job was requested for before.
 * A row is returned for each job, or one without a job; every row has the time of the next job that
 * is not due yet.
 */
const claim = statement({
  name: 'jobs-claim',
  parameters: {
    worker: 'text',
    leasedUntil: 'timestamptz',
    now: 'timestamptz',
    kinds: 'text[]',
    rooms: 'int[]',
  },
  indexed: true,
  text: ({ worker, leasedUntil, now, kinds, rooms }) => sql<ClaimedRow>`
    with claimed as (
      update jobs set status = 'running', leased_by = ${worker}, leased_until = ${leasedUntil},
                      wanted = false, attempts = attempts + 1
       where id = any(array(
         select due.id
           from unnest(${kinds}, ${rooms}) as lane (kind, room),
                lateral (select id from jobs
                          where status = 'queued' and run_at <= ${now} and kind = lane.kind
                          order by run_at, id limit room for update skip locked) as due))
      returning ${leased.select()}
    )
    select claimed.*, next_run_at as "nextRunAt"
      from (select min(run_at) as next_run_at from jobs
             where status = 'queued' and run_at > ${now} and kind = any(${kinds})) as next
      left join claimed on true`,
});

type ClaimedRow = (RowOf<typeof leased> | { readonly id: null }) & {
  readonly nextRunAt: Date | null;
};

/** A lease of jobs that are claimed together. */
export interface Lease {
  /**
   * The holder, which no other lease has. After a loss of commits the database may give the id of a
   * lost job to another one: the run of the lost job does not end that one.
   */
  readonly worker: string;
  readonly leasedUntil: Date;
}

/**
 * Claims due jobs.
 * @param rooms how many jobs of each kind are claimed at most.
 * @returns the jobs, and when the next job is due that is not due yet, or null.
 */
export async function claimJobs(
  { db, clock }: Pick<LocalContext, 'db' | 'clock'>,
  { worker, leasedUntil }: Lease,
  rooms: ReadonlyMap<string, number>,
): Promise<{ readonly jobs: readonly LeasedJob[]; readonly nextRunAt: Date | null }> {
  const rows = await db.query(claim, {
    worker,
    leasedUntil,
    now: clock.now(),
    kinds: [...rooms.keys()],
    rooms: [...rooms.values()],
  });
  const jobs = rows.flatMap((row) => {
    if (row.id === null) return [];
    const { id, kind, payload, attempts: attempt } = row;
    return { id, kind, payload, attempt, worker };
  });
  return { jobs, nextRunAt: rows[0]?.nextRunAt ?? null };
}

/**
 * Puts the jobs of dead processes back: their lease has lapsed. A job that has run too often, and
 * whose lease lapsed in the run before as well, is dead: it may be what kills the processes. A
 * periodic job is never dead, because nothing would queue it again, and neither is a job that was
 * requested again since. A job that the caller still runs is not put back, however late its
 * heartbeat is: on a machine that slept every lease has lapsed.
 */
const releaseLapsed = statement({
  name: 'jobs-release-lapsed',
  parameters: {
    now: 'timestamptz',
    maxAttempts: 'int',
    workers: 'text[]',
    ids: 'bigint[]',
    periodicKinds: 'text[]',
  },
  indexed: true,
  text: ({ now, maxAttempts, workers, ids, periodicKinds }) => sql`
    update jobs set status = case when is_over then 'dead' else 'queued' end,
                    finished_at = case when is_over then ${now} end,
                    last_error = 'lease_lapsed',
                    attempts = case when jobs.wanted then 0 else attempts end,
                    leased_by = null, leased_until = null
      from (select id as lapsed_id,
                   attempts >= ${maxAttempts} and last_error = 'lease_lapsed'
                     and kind <> all(${periodicKinds})
                     and not jobs.wanted as is_over
              from jobs where status = 'running' and leased_until < ${now}
                          and not (leased_by = any(${workers}) and id = any(${ids}))
             order by id for update skip locked) lapsed
     where id = lapsed_id
    returning id`,
});

/** Jobs that a process runs, and the holders of their leases. */
export interface RunningJobs {
  readonly ids: readonly string[];
  readonly workers: readonly string[];
}

/** Which lapsed jobs are put back. */
export interface LapsedJobs {
  readonly maxAttempts: number;
  /** The jobs that the caller runs. */
  readonly running: RunningJobs;
  readonly periodicKinds: readonly string[];
}

/** Puts back the jobs whose lease has lapsed, or ends them as dead after too many attempts. */
export async function releaseLapsedJobs(
  { db, clock }: Pick<LocalContext, 'db' | 'clock'>,
  { maxAttempts, running, periodicKinds }: LapsedJobs,
): Promise<void> {
  await db.query(releaseLapsed, { now: clock.now(), maxAttempts, ...running, periodicKinds });
}

const releaseAll = statement({
  name: 'after-crash-jobs',
  parameters: {},
  text: () => sql`
    update jobs set status = 'queued', leased_by = null, leased_until = null
     where status = 'running'`,
});

/** Puts every running job back. Only for a database on which no process runs jobs. */
export async function releaseAllLeases({ db }: Pick<LocalContext, 'db'>): Promise<void> {
  await db.query(releaseAll, {});
}

/**
 * Renews the leases of a living process. A job that is requested again at this very moment is
 * skipped until the next heartbeat: to wait for several rows at once could end in a deadlock.
 */
const renew = statement({
  name: 'jobs-renew',
  parameters: { workers: 'text[]', leasedUntil: 'timestamptz', ids: 'bigint[]' },
  indexed: true,
  text: ({ workers, leasedUntil, ids }) => sql`
    update jobs set leased_until = ${leasedUntil}
     where id = any(array(
       select id from jobs
        where leased_by = any(${workers}) and status = 'running'
          and id = any(${ids})
        for update skip locked))`,
});

/** Renews the leases of the jobs that a process runs. */
export async function renewLeases(
  { db }: Pick<LocalContext, 'db'>,
  { ids, workers }: RunningJobs,
  leasedUntil: Date,
): Promise<void> {
  await db.query(renew, { workers, leasedUntil, ids });
}

/**
 * Ends a job, if the worker still has its lease. Only a running job is leased
 * (`jobs_lease_while_running`); with this condition it is found by its id and not among all that
 * have run since the last vacuum. A job that was requested again while it ran is queued instead, as
 * if requested a moment later.
 */
const finish = batchedStatement({
  name: 'jobs-finish',
  parameters: {
    id: 'bigint',
    worker: 'text',
    status: 'text',
    error: 'text null',
    now: 'timestamptz',
  },
  batching: { conflictKey: 'id' },
  text: (requested) => sql<{ status: EndedStatus }>`
    update jobs set status = case when jobs.wanted then 'queued' else requested.status end,
                    run_at = case when jobs.wanted then requested.now else run_at end,
                    attempts = case when jobs.wanted then 0 else attempts end,
                    finished_at = case when jobs.wanted then null else requested.now end,
                    last_error = requested.error, leased_by = null, leased_until = null
      from ${requested}
     where jobs.id = any(array[requested.id]) and leased_by = worker
    returning ordinal, jobs.status`,
});

type EndedStatus = 'done' | 'dead' | 'queued';

/**
 * Ends a job, if its worker still has the lease.
 * @param status what it ends as.
 * @param error the name of the error of a dead job.
 * @returns the status that is stored, `queued` when the job was requested again meanwhile; null:
 *   another worker has the lease.
 */
export async function finishJob(
  { db, clock }: Pick<LocalContext, 'db' | 'clock'>,
  { id, worker }: LeasedJob,
  { status, error }: { readonly status: 'done' | 'dead'; readonly error: string | null },
): Promise<EndedStatus | null> {
  const [ended] = await db.query(finish, { id, worker, status, error, now: clock.now() });
  return ended?.status ?? null;
}

/**
 * Puts a job back for later, if the worker still has its lease; a job that was requested again
 * while it ran is due at once. It is found as in `finish`.
 */
const requeue = batchedStatement({
  name: 'jobs-requeue',
  parameters: {
    id: 'bigint',
    worker: 'text',
    runAt: 'timestamptz',
    attempts: 'int',
    error: 'text null',
    now: 'timestamptz',
  },
  batching: { conflictKey: 'id' },
  text: (requested) => sql`
    update jobs set status = 'queued', attempts = requested.attempts,
                    last_error = requested.error,
                    run_at = case when jobs.wanted
                                  then least(requested.run_at, requested.now)
                                  else requested.run_at end,
                    leased_by = null, leased_until = null
      from ${requested}
     where jobs.id = any(array[requested.id]) and leased_by = worker
    returning ordinal`,
});

/** How a job goes back to the queue. */
export interface Requeued {
  readonly runAt: Date;
  /** Failed attempts so far. */
  readonly attempts: number;
  /** The name of the error of the last run, or null. */
  readonly error: string | null;
}

/** Puts a job back for later, if its worker still has the lease. */
export async function requeueJob(
  { db, clock }: Pick<LocalContext, 'db' | 'clock'>,
  { id, worker }: LeasedJob,
  { runAt, attempts, error }: Requeued,
): Promise<void> {
  await db.query(requeue, { id, worker, runAt, attempts, error, now: clock.now() });
}

/**
 * Brings periodic jobs back that are due later than a period from now: a wall clock that was ahead
 * for some seconds has queued them.
 */
const bringForward = statement({
  name: 'jobs-bring-forward',
  parameters: { uniqueKeys: 'text[]', latest: 'timestamptz[]' },
  text: ({ uniqueKeys, latest }) => sql`
    update jobs set run_at = latest.run_at
      from unnest(${uniqueKeys}, ${latest}) as latest (unique_key, run_at)
     where jobs.unique_key = latest.unique_key and jobs.status = 'queued'
       and jobs.run_at > latest.run_at`,
});

/** @param latest when the job of each periodic kind is due at the latest. */
export async function bringPeriodicJobsForward(
  { db }: Pick<LocalContext, 'db'>,
  latest: ReadonlyMap<string, Date>,
): Promise<void> {
  await db.query(bringForward, {
    uniqueKeys: [...latest.keys()].map(periodicKey),
    latest: [...latest.values()],
  });
}

/**
 * Makes sure that a periodic kind has its one open job, due by then at the latest.
 */
const ensurePeriodic = statement({
  name: 'jobs-ensure-periodic',
  parameters: { kind: 'text', uniqueKey: 'text', runAt: 'timestamptz', now: 'timestamptz' },
  text: ({ kind, uniqueKey, runAt, now }) => sql`
    insert into jobs (kind, payload, unique_key, status, run_at, created_at)
    values (${kind}, '{}', ${uniqueKey}, 'queued', ${runAt}, ${now})
        ${onOpenJob}
        do update set run_at = least(jobs.run_at, excluded.run_at)`,
});

/** Makes sure that a periodic kind has its one open job, due at `runAt` at the latest. */
export async function ensurePeriodicJob(
  { db, clock }: Pick<LocalContext, 'db' | 'clock'>,
  kind: string,
  runAt: Date,
): Promise<void> {
  await db.query(ensurePeriodic, { kind, uniqueKey: periodicKey(kind), runAt, now: clock.now() });
}

function periodicKey(kind: string): string {
  return `every:${kind}`;
}

/** @public For the tests of plans and of the simulation. */
export const jobStatements = {
  enqueue,
  claim,
  releaseLapsed,
  renew,
  finish,
  requeue,
  bringForward,
  ensurePeriodic,
};
