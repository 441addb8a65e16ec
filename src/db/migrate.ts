/** Brings the schema to the version of the code. Several instances may start at once. */
import { readdir } from 'node:fs/promises';
import { parse } from 'node:path';
import type { MikroORM } from '@mikro-orm/postgresql';
import { pause, systemClock, type Clock } from '../clock.ts';
import type { Database } from './database.ts';
import { sql, statement } from './statement.ts';
import { migrationsFolder } from './migrations-folder.ts';

/** The project's number for `pg_try_advisory_xact_lock`: "ponte" in ASCII, cut to 31 bits. */
const migrationLock = 0x706f6e74;

/** How often an instance checks whether another one has finished its migrations. */
const pollMs = 500;

/** The first pause after a refused lock, in which the statements behind it can run. */
const firstPauseMs = 2_000;
const maxPauseMs = 10_000;

/** The longest wait for a lock; then an operator has to end the blocking transaction. */
const maxWaitMs = 10 * 60_000;

export interface MigrateOptions {
  /** Times the waits; the system's by default. */
  readonly clock?: Clock;
  /** Called with a sentence before each wait. */
  readonly onWait?: (reason: string) => void;
  /** Called before pending migrations are applied. */
  readonly onPending?: (count: number) => void;
  /** Where the migrations are; the project's own by default. */
  readonly folder?: string;
}

interface Named {
  readonly name: string;
}

/**
 * Applies the pending migrations, each in its own transaction; an `OnlineMigration` has none. It
 * waits while another instance migrates, and repeats a migration whose lock is refused.
 * @returns their names.
 * @throws MigrationBlockedError when a lock is not free within ten minutes.
 */
export async function migrateUp(db: Database, options: MigrateOptions = {}): Promise<string[]> {
  const { folder = migrationsFolder } = options;
  // Most starts find nothing to do, and then need neither a lock nor MikroORM.
  const pending = await pendingMigrations(db, folder);
  if (pending.length === 0) return [];
  options.onPending?.(pending.length);
  const applied: string[] = [];
  await withLock(db, options, () =>
    untilUnlocked(db, options, async (orm) => {
      // Read again: another instance, or an earlier attempt, has applied some.
      for (const name of await pendingMigrations(db, folder)) {
        await orm.migrator.up({ migrations: [name] });
        applied.push(name);
      }
    }),
  );
  return applied;
}

/**
 * Reverts the newest migration, with the data in the tables and columns that it had created.
 * @returns its name, or null when none is applied.
 * @throws MigrationBlockedError when a lock is not free within ten minutes.
 */
export async function migrateDown(
  db: Database,
  options: MigrateOptions = {},
): Promise<string | null> {
  if ((await appliedMigrations(db)).length === 0) return null;
  let reverted: readonly Named[] = [];
  await withLock(db, options, () =>
    untilUnlocked(db, options, async (orm) => {
      reverted = await orm.migrator.down();
    }),
  );
  return reverted[0]?.name ?? null;
}

/** The operator has to end a transaction before the schema can change. */
export class MigrationBlockedError extends Error {
  constructor() {
    super(
      'a migration waited ten minutes for a lock: end the transaction that holds it ' +
        '(pg_stat_activity lists the open ones), then start again',
    );
    this.name = 'MigrationBlockedError';
  }
}

/**
 * Runs migrations while no other instance does. The lock belongs to a transaction that is idle
 * while the migrations run. The other instances poll for it: a statement that waited for the lock
 * would block a concurrent index build, which waits for every running statement.
 */
async function withLock(
  db: Database,
  { clock = systemClock, onWait }: MigrateOptions,
  work: () => Promise<void>,
): Promise<void> {
  // One process, one connection: there is no other instance.
  if (db.kind === 'embedded') return work();
  for (let attempt = 0; ; attempt += 1) {
    const unit = await db.em();
    const isDone = await unit.transactional(async (em) => {
      const [lock] = await em.execute<{ taken: boolean }[]>(
        `select pg_try_advisory_xact_lock(${migrationLock}) as taken`,
      );
      if (!lock?.taken) return false;
      await em.execute('set local idle_in_transaction_session_timeout = 0');
      await work();
      return true;
    });
    if (isDone) return;
    if (attempt === 0) onWait?.('another instance migrates the database');
    await pause(clock, pollMs);
  }
}

/** Repeats migrations while another transaction holds a lock that they need. */
async function untilUnlocked(
  db: Database,
  { clock = systemClock, onWait, folder = migrationsFolder }: MigrateOptions,
  work: (orm: MikroORM) => Promise<void>,
): Promise<void> {
  const deadlineMs = clock.now().getTime() + maxWaitMs;
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(2 * pauseMs, maxPauseMs)) {
    const isDone = await db.migrating(async (orm) => {
      await prepare(db, orm, folder);
      return work(orm).then(
        () => true,
        (error: unknown) => {
          if (!isLockRefused(error)) throw error;
          return false;
        },
      );
    });
    if (isDone) return;
    if (clock.now().getTime() >= deadlineMs) throw new MigrationBlockedError();
    onWait?.('another transaction holds a lock that a migration needs');
    await pause(clock, pauseMs);
  }
}

/** SQLSTATE 55P03 (lock_not_available) and 40P01 (deadlock_detected), PostgreSQL, appendix A. */
function isLockRefused(error: unknown): boolean {
  return error instanceof Error && 'code' in error && /^(?:55P03|40P01)$/.test(String(error.code));
}

const currentDatabase = statement({
  name: 'current-database',
  parameters: {},
  text: () => sql<Named>`select current_database() as name`,
});

/**
 * The migrator checks whether the database of its name exists, and would end our connections to
 * create it. Only the server knows which database an address means.
 */
async function prepare(db: Database, { config }: MikroORM, folder: string): Promise<void> {
  const [row] = await db.query(currentDatabase, {});
  if (row) config.set('dbName', row.name);
  config.set('migrations', { ...config.get('migrations'), path: folder, pathTs: folder });
}

/**
 * @param folder where the migrations are.
 * @returns the names of the migrations that are not applied yet.
 */
export async function pendingMigrations(
  db: Database,
  folder: string = migrationsFolder,
): Promise<string[]> {
  const migrations = await listMigrations(db, folder);
  return listNames(migrations.filter(({ state }) => state === 'pending'));
}

export interface MigrationState {
  readonly name: string;
  /** `unknown`: applied, and this version of the code has no file of it. */
  readonly state: 'applied' | 'pending' | 'unknown';
  readonly appliedAt: Date | null;
}

/**
 * @param folder where the migrations are.
 * @returns every migration that the code or the database knows, oldest first.
 */
export async function listMigrations(
  db: Database,
  folder: string = migrationsFolder,
): Promise<MigrationState[]> {
  const applied = await appliedMigrations(db);
  const known = (await readdir(folder)).map((file) => parse(file));
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

/** As MikroORM has stored them. */
const readApplied = statement({
  name: 'migrations-applied',
  parameters: {},
  text: () => sql<AppliedRow>`select name, executed_at from schema_migrations order by id`,
});

async function appliedMigrations(db: Database): Promise<AppliedRow[]> {
  try {
    return await db.query(readApplied, {});
  } catch (error) {
    if (isMissingTable(error)) return [];
    throw error;
  }
}

/** SQLSTATE 42P01, undefined_table (PostgreSQL, appendix A): nothing was ever migrated. */
function isMissingTable(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === '42P01';
}

function listNames(migrations: readonly Named[]): string[] {
  return migrations.map(({ name }) => name);
}
