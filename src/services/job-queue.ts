/** Asking for work without a caller. What runs it is the loop in `jobs/`. */
import type { EntityManager } from '@mikro-orm/postgresql';
import type { Clock } from '../clock.ts';
import * as queries from '../db/queries/jobs.ts';
import { queryIn } from '../db/query-in.ts';

/** A job to be done, at least once. */
export interface JobRequest {
  /** Its line in `jobs/index.ts`. */
  readonly kind: string;
  /**
   * Names the work over all kinds, such as `webhook:<id>`: while a job of this key is open, asking
   * again makes no second one.
   */
  readonly uniqueKey: string;
  /** What the key says already, for the handler: of an open job the first payload stays. */
  readonly payload: Readonly<Record<string, unknown>>;
  /** Now, unless said otherwise. */
  readonly runAt?: Date;
}

/**
 * Queues a job in the same commit as the fact that it follows from; the loops are woken by the
 * commit. An open job of the same key is not doubled: one that is queued is due at the earlier
 * time, one that runs is run once more, so that what was stored before this call is always looked
 * at after it.
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
