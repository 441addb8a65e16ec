import type { Context } from '../context.ts';
import type { Statement } from '../db/database.ts';

/** A statement of `db/queries/retention.ts`, with what it needs beside its limit. */
export interface Purge {
  readonly statement: Statement;
  readonly parameters: readonly unknown[];
  /** The most rows of one statement: each holds its locks for a moment only. */
  readonly batch: number;
}

/**
 * Repeats a statement until there is nothing left for it, or the service stops.
 * @returns the number of rows that it took.
 */
export async function inBatches(context: Context, purge: Purge): Promise<number> {
  const { statement, parameters, batch } = purge;
  let total = 0;
  while (!context.stopping.aborted) {
    const [taken] = await context.db.query<{ rows: number }>(statement, [...parameters, batch]);
    total += taken?.rows ?? 0;
    if ((taken?.rows ?? 0) < batch) break;
  }
  return total;
}
