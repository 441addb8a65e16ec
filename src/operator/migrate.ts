/** `migrate status`, `migrate up` and `migrate down`: the schema of the database. */
import type { LocalContext } from '../context/context.ts';
import {
  migrateDown,
  migrateUp,
  listMigrations,
  type MigrateOptions,
  type MigrationState,
} from '../db/migrate.ts';
import { OpError, type Op } from './op.ts';

export interface MigrationView {
  readonly name: string;
  /** `unknown`: applied by another version; this one does not have its file. */
  readonly state: MigrationState['state'];
  /** ISO 8601. */
  readonly appliedAt: string | null;
}

export interface MigrateStatus {
  readonly migrations: readonly MigrationView[];
  readonly pending: number;
}

type Nothing = Readonly<Record<string, never>>;

/** Lists the migrations with their states. */
export const migrateStatus: Op<Nothing, MigrateStatus> = {
  needs: 'database',
  async run({ db }) {
    const found = await listMigrations(db);
    const migrations = found.map(({ name, state, appliedAt }) => ({
      name,
      state,
      appliedAt: appliedAt?.toISOString() ?? null,
    }));
    return { migrations, pending: found.filter(({ state }) => state === 'pending').length };
  },
};

/** A command that waits for a lock logs it. */
function migrateOptions({ clock, log }: LocalContext): MigrateOptions {
  return { clock, onWait: (reason) => log.warn({ reason }, 'a migration waits') };
}

/** Applies the pending migrations, and creates the embedded database if there is none. */
export const migrateUpOp: Op<Nothing, { readonly applied: readonly string[] }> = {
  needs: 'nothing',
  run: async (context) => ({ applied: await migrateUp(context.db, migrateOptions(context)) }),
};

/**
 * Reverts the newest migration, and deletes the content of its tables and columns.
 * @throws OpError when none is applied, or this version does not have its file.
 */
export const migrateDownOp: Op<Nothing, { readonly reverted: string }> = {
  needs: 'database',
  refusedWhileServing: 'a service runs on this database: stop it before reverting a migration',
  async run(context) {
    const { db } = context;
    const newest = (await listMigrations(db)).findLast(({ state }) => state !== 'pending');
    if (newest?.state === 'unknown') {
      throw new OpError(
        'REFUSED',
        `${newest.name} belongs to another version: revert it with that version`,
      );
    }
    const reverted = await migrateDown(db, migrateOptions(context));
    if (reverted === null) throw new OpError('REFUSED', 'no migration is applied');
    return { reverted };
  },
};
