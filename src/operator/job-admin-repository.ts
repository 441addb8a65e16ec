/**
 * Jobs for operators: lists, numbers, and the retry of dead jobs. Nothing here returns a payload or
 * a unique key. Lists use the entity; a retry is SQL, because it decides, moves and notifies in one
 * statement, and so are the numbers.
 */
import type { InferEntity } from '@mikro-orm/core';
import type { LocalContext } from '../context/context.ts';
import { isOneOf, sql, statement } from '../db/statement.ts';
import type { Job } from '../db/entities/job.ts';
import { jobsChannel, openStates } from '../jobs/job-repository.ts';
import { openUnit } from '../db/unit-of-work.ts';
import { eventsKind } from '../settlement/event-queue-repository.ts';

export type JobStatus = InferEntity<typeof Job>['status'];

export interface ListedJob {
  readonly id: string;
  readonly kind: string;
  readonly status: JobStatus;
  readonly attempts: number;
  readonly runAt: Date;
  readonly leasedUntil: Date | null;
  readonly lastError: string | null;
  readonly createdAt: Date;
  readonly finishedAt: Date | null;
  /** Of a job of release 1.2.0 that settles an event; the payload of other jobs may be a secret. */
  readonly eventId: string | null;
}

/** Which jobs to list; what is left out does not matter. */
export interface JobFilter {
  readonly status?: JobStatus | undefined;
  readonly kind?: string | undefined;
  /** Only open jobs whose last run failed. */
  readonly failing?: boolean | undefined;
  readonly limit: number;
}

/** @returns jobs, the newest first. */
export async function findJobs(
  { db }: Pick<LocalContext, 'db'>,
  { status, kind, failing = false, limit }: JobFilter,
): Promise<ListedJob[]> {
  const { em, Job: Entity } = await openUnit(db);
  const jobs = await em.find(
    Entity,
    {
      ...(kind !== undefined && { kind }),
      $and: [
        ...(status === undefined ? [] : [{ status }]),
        ...(failing ? [{ status: { $in: openStates }, lastError: { $ne: null } }] : []),
      ],
    },
    { orderBy: { id: 'desc' }, limit },
  );
  return jobs.map((job) => ({
    id: String(job.id),
    kind: job.kind,
    status: job.status,
    attempts: job.attempts,
    runAt: job.runAt,
    leasedUntil: job.leasedUntil ?? null,
    lastError: job.lastError ?? null,
    createdAt: job.createdAt,
    finishedAt: job.finishedAt ?? null,
    eventId: job.kind === eventsKind ? String(job.payload['eventId']) : null,
  }));
}

/** @public For the tests of the simulation, which find it by its shape. */
export const jobStatements = {
  statuses: statement({
    name: 'inspect-job-statuses',
    parameters: { ids: 'bigint[]' },
    text: ({ ids }) => sql<{ id: string; status: JobStatus }>`
    select id, status from jobs where id = any(${ids})`,
  }),
  dead: statement({
    name: 'inspect-dead-jobs',
    parameters: { kind: 'text null', after: 'bigint', limit: 'int' },
    text: ({ kind, after, limit }) => sql<{ id: string }>`
      select id from jobs
       where status = 'dead' and (${kind} is null or kind = ${kind}) and id > ${after}
       order by id limit ${limit}`,
  }),
  /**
   * At most one open job may have a unique key: of several dead ones with one key the newest is
   * taken, and none when one with that key is open already. The others are removed: nothing would
   * end them when that work is done.
   */
  retry: statement({
    name: 'jobs-retry',
    parameters: { ids: 'bigint[]', now: 'timestamptz' },
    text: ({ ids, now }) => sql<{ id: string; isQueued: boolean }>`
      with chosen as (
        select distinct on (coalesce(unique_key, id::text)) id from jobs as dead
         where status = 'dead' and id = any(${ids})
           and not exists (select from jobs as open
                            where open.unique_key = dead.unique_key
                              and ${isOneOf('open.status', openStates)})
         order by coalesce(unique_key, id::text), id desc
      ), retried as (
        update jobs set status = 'queued', attempts = 0, run_at = ${now}, finished_at = null
         where id in (select id from chosen) and status = 'dead'
        returning id
      ), superseded as (
        delete from jobs
         where id = any(${ids}) and status = 'dead' and unique_key is not null
           and id not in (select id from chosen)
        returning id
      )
      select id, true as "isQueued", pg_notify('${jobsChannel}', '')::text as notified from retried
       union all
      select id, false, null from superseded`,
  }),
  stats: statement({
    name: 'inspect-job-stats',
    parameters: { now: 'timestamptz' },
    text: ({ now }) => sql<JobNumbers>`
      select kind, status, count(*)::int as jobs, min(coalesce(finished_at, run_at)) as "oldestAt",
             (count(*) filter (where status = 'running' and leased_until < ${now}))::int as lapsed
        from jobs group by kind, status
       union all
      select '${eventsKind}', 'queued', count(*)::int, min(due_at), 0 from webhook_queue
      having count(*) > 0
       order by kind, status`,
  }),
};

/** @returns the status of each of some jobs that exists, by its id. */
export async function findJobStatuses(
  { db }: Pick<LocalContext, 'db'>,
  ids: readonly string[],
): Promise<ReadonlyMap<string, JobStatus>> {
  const rows = await db.query(jobStatements.statuses, { ids });
  return new Map(rows.map(({ id, status }) => [id, status]));
}

/**
 * @param page of one kind, or of all; `after` is the last id of the page before.
 * @returns the ids of dead jobs, the oldest first.
 */
export async function findDeadJobs(
  { db }: Pick<LocalContext, 'db'>,
  page: { readonly kind: string | null; readonly after: string; readonly limit: number },
): Promise<string[]> {
  const rows = await db.query(jobStatements.dead, {
    kind: page.kind,
    after: page.after,
    limit: page.limit,
  });
  return rows.map(({ id }) => id);
}

/** What became of dead jobs: their ids. */
export interface RetriedJobs {
  readonly queued: readonly string[];
  /** Another open job does the same work: they are removed. */
  readonly superseded: readonly string[];
}

/** Queues dead jobs again, due now, as if they had never been tried, and wakes the job loop. */
export async function queueDeadJobs(
  { db, clock }: Pick<LocalContext, 'db' | 'clock'>,
  ids: readonly string[],
): Promise<RetriedJobs> {
  const rows = await db.query(jobStatements.retry, { ids, now: clock.now() });
  const idsOf = (isQueued: boolean): string[] =>
    rows.filter((row) => row.isQueued === isQueued).map(({ id }) => id);
  return { queued: idsOf(true), superseded: idsOf(false) };
}

/** The jobs of one kind and status. */
export interface JobNumbers {
  readonly kind: string;
  readonly status: JobStatus;
  readonly jobs: number;
  /** When the oldest was due, or has ended. */
  readonly oldestAt: Date;
  /** Of those that run: whose lease has run out. */
  readonly lapsed: number;
}

/** @returns the queue in numbers. */
export function countJobsByStatus({
  db,
  clock,
}: Pick<LocalContext, 'db' | 'clock'>): Promise<JobNumbers[]> {
  return db.query(jobStatements.stats, { now: clock.now() });
}
