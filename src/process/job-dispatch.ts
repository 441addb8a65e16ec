/**
 * What a job is, and how a process dispatches a job that it stores to its own loop, without polling
 * the queue.
 */

import type { TraceContext } from '../domain/trace-context.ts';

/** A job that runs, under a lease. */
export interface LeasedJob {
  readonly id: string;
  readonly kind: string;
  readonly payload: Readonly<Record<string, unknown>>;
  /** The number of this run, from 1. */
  readonly attempt: number;
  /** The holder of the lease, which no other lease has. */
  readonly worker: string;
  /** The span of this run; absent without tracing. */
  readonly trace?: TraceContext | undefined;
}

/**
 * The result of a run. `undefined`: the job is done; the loop queues a periodic kind again.
 * `runAgainAt`: the job runs again at that time. `ended`: the run has stored this status itself, in
 * the commit of its work; a periodic kind never returns it, because nothing would queue it again.
 * `leavesNoRow`: the job is done, and its row, which would say nothing more, is removed.
 */
export type JobResult =
  | { readonly runAgainAt: Date }
  | { readonly ended: 'done' | 'queued' }
  | { readonly leavesNoRow: true }
  | undefined;

/** A job that was stored under the lease of a slot. */
export interface DispatchedJob extends Pick<LeasedJob, 'id' | 'kind' | 'payload'> {
  /**
   * The holder of the lease, if several slots each begin a part of the job; null: the slot itself.
   */
  readonly sharedBy: string | null;
}

/** Room for one more job in a loop. Either `begin` or `release` is called. */
export interface JobSlot {
  /** The lease to store the job under, as running for the first time. */
  readonly worker: string;
  readonly leasedUntil: Date;
  /**
   * Runs the job, or its part of a shared one, once it is stored.
   * @param work the first run, by a caller that has in memory what the handler would read.
   */
  begin(job: DispatchedJob, work: FirstRun): void;
  /** Gives the room back: no job was stored. */
  release(): void;
}

export type FirstRun = (job: LeasedJob) => Promise<JobResult>;

/** Dispatches jobs to the loop of the same process. */
export class JobDispatcher {
  #reserve: () => JobSlot | null = () => null;

  /** Sets the loop of this process. A process without one queues every job. */
  connect(loop: { reserve(): JobSlot | null }): void {
    this.#reserve = () => loop.reserve();
  }

  /** @returns room for a job that is about to be stored; null: the job is queued. */
  reserve(): JobSlot | null {
    return this.#reserve();
  }
}
