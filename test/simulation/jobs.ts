/** The work of a process without a request: the jobs that a history runs, and the events. */
import type { Context } from '../../src/context/context.ts';
import { repeatDisputes } from '../../src/disputes/repeat-disputes.ts';
import type { JobTable } from '../../src/jobs/job.ts';
import { JobLoop } from '../../src/jobs/loop.ts';
import { applyRetention } from '../../src/retention/maintenance.ts';
import { EventQueue } from '../../src/settlement/event-queue.ts';
import { sweepPix } from '../../src/settlement/sweep-pix.ts';

/** The jobs that sends need; the simulation needs no others without disputes. */
export const sendJobs = {
  'sweep-pix': sweepPix,
  'apply-retention': applyRetention,
} as const satisfies JobTable;

const disputeJobs = { 'repeat-disputes': repeatDisputes } as const satisfies JobTable;

/** The queues are polled rarely, so that idle minutes are cheap; notifications wake them. */
const pollMs = 60_000;

/** The queues of jobs and of events, in one process. */
export interface Work {
  start(): Promise<void>;
  stop(): Promise<void>;
}

interface WorkOptions {
  /** Replace the jobs with their names; undefined: none. */
  readonly jobs: JobTable | undefined;
  readonly hasDisputes: boolean;
  readonly random: () => number;
}

/** Composes the queues as `src/app/app.ts` does. */
export function openWork(
  context: Context,
  { jobs = sendJobs, hasDisputes, random }: WorkOptions,
): Work {
  const table = { ...(hasDisputes && disputeJobs), ...jobs };
  const loop = new JobLoop({ context, jobs: table, pollMs, random });
  const events = new EventQueue({ context, pollMs, random });
  return {
    async start() {
      await Promise.all([loop.start(), events.start()]);
      context.eventPlaces.connect(events);
    },
    async stop() {
      await Promise.all([loop.stop(), events.stop()]);
    },
  };
}
