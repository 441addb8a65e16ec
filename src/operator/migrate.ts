/** `migrate status`, `migrate up`, `migrate down`: the schema of the database. */
import type { LocalContext } from '../context.ts';
import {
  migrateDown,
  migrateUp,
  migrationsOf,
  type MigrateOptions,
  type MigrationState,
} from '../db/migrate.ts';
import { OpError, type Op } from './op.ts';

export interface MigrationView {
  readonly name: string;
  /** `unknown`: applied by another version, which this one has no file of. */
  readonly state: MigrationState['state'];
  /** ISO 8601. */
  readonly appliedAt: string | null;
}

export interface MigrateStatus {
  readonly migrations: readonly MigrationView[];
  readonly pending: number;
}

type Nothing = Readonly<Record<string, never>>;

/** Tells which migrations are applied, and which are not. */
export const migrateStatus: Op<Nothing, MigrateStatus> = {
  needs: 'database',
  async run({ db }) {
    const found = await migrationsOf(db);
    const migrations = found.map(({ name, state, appliedAt }) => ({
      name,
      state,
      appliedAt: appliedAt?.toISOString() ?? null,
    }));
    return { migrations, pending: found.filter(({ state }) => state === 'pending').length };
  },
};

/** How a command waits for a lock: it says so in the log. */
function waitsOf({ clock, log }: LocalContext): MigrateOptions {
  return { clock, onWait: (reason) => log.warn({ reason }, 'a migration waits') };
}

/** Applies what is missing; it makes the embedded database where there is none. */
export const migrateUpOp: Op<Nothing, { readonly applied: readonly string[] }> = {
  needs: 'nothing',
  run: async (context) => ({ applied: await migrateUp(context.db, waitsOf(context)) }),
};

/**
 * Takes the newest migration back, and what is stored in its tables and columns with it.
 * @throws OpError when none is applied, or this version has no file of the newest one.
 */
export const migrateDownOp: Op<Nothing, { readonly reverted: string }> = {
  needs: 'database',
  refusedWhileServing: 'a service runs on this database: stop it before you take a migration back',
  async run(context) {
    const { db } = context;
    const newest = (await migrationsOf(db)).findLast(({ state }) => state !== 'pending');
    if (newest?.state === 'unknown') {
      throw new OpError('REFUSED', `${newest.name} is of another version: take it back with that`);
    }
    const reverted = await migrateDown(db, waitsOf(context));
    if (reverted === null) throw new OpError('REFUSED', 'no migration is applied');
    return { reverted };
  },
};
