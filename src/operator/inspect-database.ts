/** What `doctor` asks of the database: whether it answers, its schema, its time, what waits. */
import type { LocalContext } from '../context.ts';
import type { Statement } from '../db/database.ts';
import { migrationsOf } from '../db/migrate.ts';
import { readBacklog, type BacklogRow } from '../db/queries/backlog.ts';
import { staleAfterMs } from '../domain/call-duration.ts';
import type { Op } from './op.ts';

export interface DatabaseInspection {
  readonly kind: 'embedded' | 'postgresql';
  readonly version: string;
  /** Of one round trip, in milliseconds. */
  readonly latencyMs: number;
  /** How far its clock is ahead of this machine's, in milliseconds. */
  readonly aheadMs: number;
  readonly durability: Durability;
  /** Whether the role of this connection may drop the tables or the database; null: no tables. */
  readonly ownsTables: boolean | null;
  readonly pending: readonly string[];
  /** Migrations that were applied by another version. */
  readonly unknown: readonly string[];
  /** Null where the schema is not this version's. */
  readonly backlog: InspectedBacklog | null;
}

/** The server's settings that decide whether a commit outlives a crash; `on`, `off` and so on. */
export interface Durability {
  readonly fsync: string;
  readonly fullPageWrites: string;
  /** As it is on the connections of this service. */
  readonly synchronousCommit: string;
  /** Whether a commit waits for a standby. */
  readonly hasSynchronousStandby: boolean;
}

/** What waits, and what waits for somebody. */
export interface InspectedBacklog {
  /** For how long the oldest job has been due that nobody has begun; 0 without one. */
  readonly oldestDueSeconds: number;
  readonly deadJobs: number;
  readonly anomalies: number;
  readonly orphanedEvents: number;
  readonly unknownPayments: number;
  /** How long ago the oldest payment of an unknown outcome was made; 0 without one. */
  readonly oldestUnknownSeconds: number;
}

const look: Statement = {
  name: 'ops-inspect-database',
  text: `
    select clock_timestamp() as now, current_setting('server_version') as version,
           current_setting('fsync') as fsync,
           current_setting('full_page_writes') as "fullPageWrites",
           current_setting('synchronous_commit') as "synchronousCommit",
           current_setting('synchronous_standby_names') <> '' as "hasSynchronousStandby",
           (select pg_has_role(relowner, 'member') or pg_has_role(datdba, 'member')
              from pg_class, pg_database
             where pg_class.oid = to_regclass('pix_timeline')
               and datname = current_database()) as "ownsTables"`,
};

interface Looked extends Durability {
  readonly ownsTables: boolean | null;
  readonly now: Date;
  readonly version: string;
}

/** Looks at the database. */
export const inspectDatabase: Op<Readonly<Record<string, never>>, DatabaseInspection> = {
  needs: 'database',
  async run(context) {
    const { db, clock } = context;
    // The first one may have to open a connection.
    await db.query(look, []);
    const askedMs = clock.now().getTime();
    const [row] = await db.query<Looked>(look, []);
    const answeredMs = clock.now().getTime();
    if (!row) throw new Error('the database gave no row');
    const { now, version, ownsTables, ...durability } = row;
    const migrations = await migrationsOf(db);
    const named = (wanted: string): string[] =>
      migrations.filter(({ state }) => state === wanted).map(({ name }) => name);
    const pending = named('pending');
    const unknown = named('unknown');
    const isReadable = pending.length + unknown.length === 0;
    return {
      kind: db.kind,
      version,
      latencyMs: answeredMs - askedMs,
      aheadMs: Math.round(now.getTime() - (askedMs + answeredMs) / 2),
      durability,
      ownsTables,
      pending,
      unknown,
      backlog: isReadable ? await backlogOf(context) : null,
    };
  },
};

async function backlogOf({ config, db, clock }: LocalContext): Promise<InspectedBacklog> {
  const now = clock.now();
  const overdueSince = new Date(now.getTime() - staleAfterMs(config.provider));
  const [row] = await db.query<BacklogRow>(readBacklog, [now, overdueSince]);
  if (!row) throw new Error('the backlog has no row');
  const secondsSince = (time: Date | null): number =>
    time === null ? 0 : Math.max(0, Math.floor((now.getTime() - time.getTime()) / 1_000));
  const dead = row.queue.filter(({ state }) => state === 'dead');
  return {
    oldestDueSeconds: secondsSince(row.oldest_due_at),
    deadJobs: dead.reduce((total, { jobs }) => total + jobs, 0),
    anomalies: row.anomaly,
    orphanedEvents: row.orphaned,
    unknownPayments: row.unknown,
    oldestUnknownSeconds: secondsSince(row.oldest_unknown_at),
  };
}
