/**
 * Asking for work without a caller. The loop in `jobs/` runs it: it takes jobs from the queue. A
 * job that its own process stores may be handed to it at once, without the way through the queue.
 */
import type { EntityManager } from '@mikro-orm/postgresql';
import type { Clock } from '../clock.ts';
import * as queries from '../db/queries/jobs.ts';
import { queryIn } from '../db/unit-of-work.ts';

/** A job to be done, at least once. */
export interface JobRequest {
  /** Its line in `jobs/index.ts`. */
  readonly kind: string;
  /**
   * Names the work over all kinds, such as `webhook:<id>`: while a job of this key is open, asking
   * again makes no second one.
   */
  readonly uniqueKey: string;
  /** What the handler reads; an open job of the key gets the newest payload. */
  readonly payload: Readonly<Record<string, unknown>>;
  /** Now, unless said otherwise. */
  readonly runAt?: Date;
}

/**
 * Queues a job in the same commit as the fact that it follows from; the commit wakes the loops. An
 * open job of the same key is not doubled. If it is queued, it is due at the earlier of the two
 * times; if it runs, it is run once more, because it may have looked before the fact was stored.
 * @param em what `context.db.em().transactional` has handed out.
 */
export async function enqueueJobIn(
  em: EntityManager,
  clock: Clock,
  job: JobRequest,
): Promise<void> {
  const { kind, payload, uniqueKey, runAt } = job;
  const now = clock.now();
  const parameters = [kind, JSON.stringify(payload), uniqueKey, runAt ?? now, now];
  await queryIn(em, queries.enqueueJob, parameters);
}

/** A job that runs, under a lease. */
export interface LeasedJob {
  readonly id: string;
  readonly kind: string;
  readonly payload: Readonly<Record<string, unknown>>;
  /** This run's number, from 1. */
  readonly attempt: number;
  /** Who holds the lease. */
  readonly worker: string;
}

/**
 * What a run asks for: nothing more, or the same job again at a later time. One that has ended the
 * job itself, in the commit of its work, tells how the job stands; a periodic kind never does,
 * because nothing would run it again.
 */
export type JobResult =
  { readonly runAgainAt: Date } | { readonly ended: 'done' | 'queued' } | undefined;

/** Room for one more job in a loop. Either `begin` or `leave` is called. */
export interface JobPlace {
  /** The lease to store the job under, as running for the first time. */
  readonly worker: string;
  readonly leasedUntil: Date;
  /**
   * Runs the job, once it is stored.
   * @param work the first run, by whoever still has at hand what the handler would look up.
   */
  begin(job: Pick<LeasedJob, 'id' | 'kind' | 'payload'>, work: FirstRun): void;
  /** No job was stored. */
  leave(): void;
}

export type FirstRun = (job: LeasedJob) => Promise<JobResult>;

/** Where a process hands jobs to its own loop. */
export class JobHandOver {
  #reserve: () => JobPlace | null = () => null;

  /** Names the loop of this process. A process without one queues every job. */
  connect(loop: { reserve(): JobPlace | null }): void {
    this.#reserve = () => loop.reserve();
  }

  /** @returns a place for a job that is about to be stored; null: it has to queue. */
  reserve(): JobPlace | null {
    return this.#reserve();
  }
}
