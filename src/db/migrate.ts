/** Brings the schema to the version of the code. Several instances may start at once. */
import { readdir } from 'node:fs/promises';
import { parse } from 'node:path';
import type { Database, Statement } from './database.ts';
import { migrationsFolder } from './migrations-folder.ts';

/** A number of our own for `pg_advisory_xact_lock`: "ponte" in ASCII, cut to 31 bits. */
const migrationLock = 0x706f6e74;

interface Named {
  readonly name: string;
}

/**
 * Applies the migrations that are missing.
 * @returns their names.
 */
export async function migrateUp(db: Database): Promise<string[]> {
  // Most starts find nothing to do, and then need neither a lock nor MikroORM.
  if ((await pendingMigrations(db)).length === 0) return [];
  const migrator = await migratorOf(db);
  return namesOf(await alone(db, (transaction) => migrator.up(transaction)));
}

/**
 * Takes the newest migration back, with what is stored in what it had made.
 * @returns its name, or null when none is applied.
 */
export async function migrateDown(db: Database): Promise<string | null> {
  if ((await appliedMigrations(db)).length === 0) return null;
  migrated.delete(db);
  const migrator = await migratorOf(db);
  const [name] = namesOf(await alone(db, (transaction) => migrator.down(transaction)));
  return name ?? null;
}

const currentDatabase: Statement = {
  name: 'current-database',
  text: 'select current_database() as name',
};

/**
 * The migrator looks whether the database of its name is there, and would end our connections to
 * make it. Which one an address means is known to the server alone.
 */
async function migratorOf(db: Database) {
  const orm = await db.orm();
  const [row] = await db.query<Named>(currentDatabase, []);
  if (row) orm.config.set('dbName', row.name);
  return orm.migrator;
}

/** Runs migrations while no other instance does, in one commit. */
async function alone(
  db: Database,
  migrate: (transaction?: { transaction: unknown }) => Promise<readonly Named[]>,
): Promise<readonly Named[]> {
  // One process, one connection: a lock would wait for the transaction that holds it.
  if (db.kind === 'embedded') return migrate();
  const unit = await db.em();
  return unit.transactional(async (em) => {
    await em.execute(`select pg_advisory_xact_lock(${migrationLock})`);
    const transaction: unknown = em.getTransactionContext();
    return migrate({ transaction });
  });
}

/** Found migrated before; the code's migrations do not grow while it runs. */
const migrated = new WeakSet<Database>();

const isThere: Statement = { name: 'is-there', text: 'select 1' };

/**
 * @returns the names of the migrations that are not applied yet; once there are none, it only looks
 *   whether the database is there.
 */
export async function pendingMigrations(db: Database): Promise<string[]> {
  if (migrated.has(db)) {
    await db.query(isThere, []);
    return [];
  }
  const pending = (await migrationsOf(db)).filter(({ state }) => state === 'pending');
  if (pending.length === 0) migrated.add(db);
  return namesOf(pending);
}

export interface MigrationState {
  readonly name: string;
  /** `unknown`: applied, and this version of the code has no file of it. */
  readonly state: 'applied' | 'pending' | 'unknown';
  readonly appliedAt: Date | null;
}

/** @returns every migration that the code or the database knows, oldest first. */
export async function migrationsOf(db: Database): Promise<MigrationState[]> {
  const applied = await appliedMigrations(db);
  const known = (await readdir(migrationsFolder)).map((file) => parse(file));
  const inCode = known.filter(({ ext }) => ext === '.ts').map(({ name }) => name);
  const missing = inCode.filter((name) => !applied.some((one) => one.name === name));
  return [
    ...applied.map(({ name, executed_at: appliedAt }) => ({
      name,
      state: inCode.includes(name) ? ('applied' as const) : ('unknown' as const),
      appliedAt,
    })),
    ...missing.toSorted().map((name) => ({ name, state: 'pending' as const, appliedAt: null })),
  ];
}

interface AppliedRow extends Named {
  readonly executed_at: Date;
}

/** As MikroORM has noted them. */
const readApplied: Statement = {
  name: 'migrations-applied',
  text: 'select name, executed_at from schema_migrations order by id',
};

async function appliedMigrations(db: Database): Promise<AppliedRow[]> {
  try {
    return await db.query<AppliedRow>(readApplied, []);
  } catch (error) {
    if (isMissingTable(error)) return [];
    throw error;
  }
}

/** SQLSTATE 42P01, undefined_table (PostgreSQL, appendix A): nothing was ever migrated. */
function isMissingTable(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === '42P01';
}

function namesOf(migrations: readonly Named[]): string[] {
  return migrations.map(({ name }) => name);
}
