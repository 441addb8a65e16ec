/** `jobs stats`: the queue in numbers. */
import {
  jobStats as statement,
  type JobStatsRow,
  type JobStatus,
} from '../db/queries/inspect-jobs.ts';
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
  async run({ db, clock }) {
    const now = clock.now();
    const rows = await db.query<JobStatsRow>(statement, [now]);
    return { counts: rows.map((row) => countOf(row, now)) };
  },
};

function countOf(row: JobStatsRow, now: Date): JobCount {
  const ageMs = Math.max(0, now.getTime() - row.oldest_at.getTime());
  return {
    kind: row.kind,
    state: row.status,
    jobs: row.jobs,
    oldestAt: row.oldest_at.toISOString(),
    oldestAgeSeconds: Math.floor(ageMs / 1_000),
    lapsed: row.lapsed,
  };
}
