/** Units of work: reads and writes of entities, and transactions. */
import type { Database } from './database.ts';
import { isDatabaseTrouble } from './unavailable.ts';

/**
 * @returns the entity manager of the transaction, or a fresh one, and all entities. They load
 *   MikroORM, so they are imported when a caller needs one.
 */
export async function openUnit(db: Database) {
  const em = await db.em();
  return { em, ...(await import('./entities/index.ts')) };
}

/** @returns the pattern for `$ilike` of a text that contains `part`. */
export function containing(part: string): string {
  return `%${part.replace(/[\\%_]/g, String.raw`\$&`)}%`;
}

/**
 * Runs `work` in a transaction (see {@link Database.transaction}).
 * @param work gets the context in the transaction: its statements and entities share the commit.
 */
export function inTransaction<Context extends { readonly db: Database }, Result>(
  context: Context,
  work: (transaction: Context) => Promise<Result>,
): Promise<Result> {
  return context.db.transaction((db) => work({ ...context, db }));
}

/**
 * Runs `work` in a transaction that may wait for locks.
 * @returns false when the locks were not free in time, or the database was away: nothing is stored.
 */
export async function tryInTransaction<Context extends { readonly db: Database }>(
  context: Context,
  work: (transaction: Context) => Promise<unknown>,
): Promise<boolean> {
  try {
    await inTransaction(context, work);
    return true;
  } catch (error) {
    if (!isDatabaseTrouble(error)) throw error;
    return false;
  }
}
