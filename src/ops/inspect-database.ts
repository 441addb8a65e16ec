/** What `doctor` asks of the database: whether it answers, how soon, its schema and its time. */
import type { Statement } from '../db/database.ts';
import { migrationsOf } from '../db/migrate.ts';
import type { Op } from './op.ts';

export interface DatabaseInspection {
  readonly kind: 'embedded' | 'postgresql';
  readonly version: string;
  /** Of one round trip, in milliseconds. */
  readonly latencyMs: number;
  /** How far its clock is ahead of this machine's, in milliseconds. */
  readonly aheadMs: number;
  readonly pending: readonly string[];
  /** Migrations that were applied by another version. */
  readonly unknown: readonly string[];
}

const look: Statement = {
  name: 'ops-inspect-database',
  text: `select clock_timestamp() as now, current_setting('server_version') as version`,
};

/** Looks at the database. */
export const inspectDatabase: Op<Readonly<Record<string, never>>, DatabaseInspection> = {
  needs: 'database',
  async run({ db, clock }) {
    // The first one may have to open a connection.
    await db.query(look, []);
    const askedMs = clock.now().getTime();
    const [row] = await db.query<{ now: Date; version: string }>(look, []);
    const answeredMs = clock.now().getTime();
    if (!row) throw new Error('the database gave no row');
    const migrations = await migrationsOf(db);
    const named = (wanted: string): string[] =>
      migrations.filter(({ state }) => state === wanted).map(({ name }) => name);
    return {
      kind: db.kind,
      version: row.version,
      latencyMs: answeredMs - askedMs,
      aheadMs: Math.round(row.now.getTime() - (askedMs + answeredMs) / 2),
      pending: named('pending'),
      unknown: named('unknown'),
    };
  },
};
