/** `jobs stats`: the queue in numbers. */
import { countJobsByStatus, type JobNumbers, type JobStatus } from './job-admin-repository.ts';
import type { Op } from './op.ts';

export interface JobCount {
  readonly kind: string;
  readonly state: JobStatus;
  readonly jobs: number;
  /** When the oldest was due; of those that have ended, when the first one did. */
  readonly oldestAt: string;
  /** How long ago that is; 0 for what is due in the future. */
  readonly oldestAgeSeconds: number;
  /** Of those that run: whose lease has run out, because their process has died. */
  readonly lapsed: number;
}

/** Counts the jobs by kind and state. */
export const countJobs: Op<Record<string, never>, { readonly counts: readonly JobCount[] }> = {
  async run(context) {
    const numbers = await countJobsByStatus(context);
    const now = context.clock.now();
    return { counts: numbers.map((of) => countOf(of, now)) };
  },
};

function countOf({ kind, status, jobs, oldestAt, lapsed }: JobNumbers, now: Date): JobCount {
  const ageMs = Math.max(0, now.getTime() - oldestAt.getTime());
  return {
    ...{ kind, state: status, jobs },
    oldestAt: oldestAt.toISOString(),
    oldestAgeSeconds: Math.floor(ageMs / 1_000),
    lapsed,
  };
}
