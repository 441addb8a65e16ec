/** Brings the schema to the version of the code. Several instances may start at once. */
import type { Database } from './database.ts';

/** A number of our own for `pg_advisory_xact_lock`: "ponte" in ASCII, cut to 31 bits. */
const migrationLock = 0x706f6e74;

/** Applies the migrations that are missing. */
export async function migrateUp(db: Database): Promise<void> {
  const { migrator } = db.orm;
  if (db.kind === 'embedded') {
    // One process, one connection: a lock would wait for the transaction that holds it.
    await migrator.up();
    return;
  }
  if ((await migrator.getPending()).length === 0) return;
  await db.em().transactional(async (em) => {
    await em.execute(`select pg_advisory_xact_lock(${migrationLock})`);
    const transaction: unknown = em.getTransactionContext();
    await migrator.up({ transaction });
  });
}

/** @returns the names of the migrations that are not applied yet. */
export async function pendingMigrations(db: Database): Promise<string[]> {
  return (await db.orm.migrator.getPending()).map(({ name }) => name);
}
