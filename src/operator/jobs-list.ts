/** `jobs list`: the queue, without what the jobs are about where that may be a secret. */
import {
  listJobs as statement,
  type InspectedJobRow,
  type JobStatus,
} from '../db/queries/inspect-jobs.ts';
import type { Op } from './op.ts';

export interface JobsListInput {
  readonly state?: JobStatus;
  readonly kind?: string;
  readonly limit: number;
}

/** A job; times are ISO 8601 texts. */
export interface JobView {
  readonly id: string;
  readonly kind: string;
  readonly state: JobStatus;
  readonly attempts: number;
  /** When it is due, or was due before its last run. */
  readonly dueAt: string;
  readonly leasedUntil: string | null;
  /** It runs, and whoever runs it has stopped saying so: any job loop takes it up again. */
  readonly lapsed: boolean;
  /** The name of the last error. */
  readonly lastError: string | null;
  readonly createdAt: string;
  readonly finishedAt: string | null;
  /** The webhook event of a settle-webhook job; null for every other kind. */
  readonly eventId: string | null;
}

/** Gives jobs, newest first. */
export const listJobs: Op<JobsListInput, { readonly jobs: readonly JobView[] }> = {
  async run({ db, clock }, { state, kind, limit }) {
    const rows = await db.query<InspectedJobRow>(statement, [state ?? null, kind ?? null, limit]);
    const now = clock.now();
    return { jobs: rows.map((row) => viewOfJob(row, now)) };
  },
};

/** A job as an operator sees it. */
export function viewOfJob(row: InspectedJobRow, now: Date): JobView {
  return {
    id: row.id,
    kind: row.kind,
    state: row.status,
    attempts: row.attempts,
    dueAt: row.run_at.toISOString(),
    leasedUntil: row.leased_until?.toISOString() ?? null,
    lapsed: row.leased_until !== null && row.leased_until < now,
    lastError: row.last_error,
    createdAt: row.created_at.toISOString(),
    finishedAt: row.finished_at?.toISOString() ?? null,
    eventId: row.event_id,
  };
}
