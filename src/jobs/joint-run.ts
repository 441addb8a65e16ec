/** The first run of a job that has several parts, each dispatched by its own caller. */
import type { JobResult } from '../process/job-dispatch.ts';

/** The parts of a run, which are begun in the same turn and end at different times. */
export class JointRun {
  readonly #parts: Promise<PromiseSettledResult<JobResult>>[] = [];

  /** Adds a part that has begun. */
  add(part: Promise<JobResult>): void {
    this.#parts.push(Promise.allSettled([part]).then(([result]) => result));
  }

  /**
   * Waits for all parts.
   * @returns the earliest time at which a part is to run again, if any is; else the job is removed.
   * @throws the error of the first part that failed.
   */
  async end(): Promise<JobResult> {
    const results: JobResult[] = [];
    const errors: unknown[] = [];
    for (const part of this.#parts) {
      const result = await part;
      if (result.status === 'fulfilled') results.push(result.value);
      else errors.push(result.reason);
    }
    if (errors.length > 0) throw errors[0];
    const times = results.flatMap((result) =>
      result && 'runAgainAt' in result ? [result.runAgainAt.getTime()] : [],
    );
    return times.length === 0
      ? { leavesNoRow: true }
      : { runAgainAt: new Date(Math.min(...times)) };
  }
}
