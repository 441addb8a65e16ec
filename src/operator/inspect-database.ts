/** Inspects the database for `doctor`: latency, schema, clock, durability, backlog. */
import type { LocalContext } from '../context.ts';
import { migrationsOf } from '../db/migrate.ts';
import { readBacklog, readServerState, type ServerState } from './inspection-repository.ts';
import type { Op } from './op.ts';
import { countUnlisted } from './unknown-repository.ts';

export interface DatabaseInspection {
  readonly kind: 'embedded' | 'postgresql';
  readonly version: string;
  /** Of one round trip, in milliseconds. */
  readonly latencyMs: number;
  /** How far its clock is ahead of this machine's, in milliseconds. */
  readonly aheadMs: number;
  readonly durability: Durability;
  /** Whether this connection's role may drop the tables or the database; null without tables. */
  readonly ownsTables: boolean | null;
  /** Whether this service's connections write app events. */
  readonly writesAppEvents: boolean;
  readonly pending: readonly string[];
  /** Migrations of another version. */
  readonly unknown: readonly string[];
  /** Null when the schema is not this version's. */
  readonly backlog: InspectedBacklog | null;
}

/** The settings that decide whether a commit survives a crash. */
export type Durability = Omit<ServerState, 'now' | 'version' | 'ownsTables' | 'writesAppEvents'>;

/** The waiting work, and what needs an operator. */
export interface InspectedBacklog {
  /** How long the oldest due job has waited; 0 without one. */
  readonly oldestDueSeconds: number;
  readonly deadJobs: number;
  readonly anomalies: number;
  readonly orphanedEvents: number;
  readonly unknownPayments: number;
  /** The age of the oldest payment with an unknown outcome; 0 without one. */
  readonly oldestUnknownSeconds: number;
  /** Open payments that wait for a code that is not listed. */
  readonly unlistedCodes: number;
}

/** Inspects the database. */
export const inspectDatabase: Op<Readonly<Record<string, never>>, DatabaseInspection> = {
  needs: 'database',
  async run(context) {
    const { db, clock } = context;
    // The first statement may have to open a connection.
    await readServerState(context);
    const sentMs = clock.now().getTime();
    const { now, version, ownsTables, writesAppEvents, ...durability } =
      await readServerState(context);
    const answeredMs = clock.now().getTime();
    const migrations = await migrationsOf(db);
    const named = (wanted: string): string[] =>
      migrations.filter(({ state }) => state === wanted).map(({ name }) => name);
    const pending = named('pending');
    const unknown = named('unknown');
    const isReadable = pending.length + unknown.length === 0;
    return {
      kind: db.kind,
      version,
      latencyMs: answeredMs - sentMs,
      aheadMs: Math.round(now.getTime() - (sentMs + answeredMs) / 2),
      durability,
      ownsTables,
      writesAppEvents,
      pending,
      unknown,
      backlog: isReadable ? await inspectBacklog(context) : null,
    };
  },
};

async function inspectBacklog(context: LocalContext): Promise<InspectedBacklog> {
  const backlog = await readBacklog(context);
  const nowMs = context.clock.now().getTime();
  const secondsSince = (time: Date | null): number =>
    time === null ? 0 : Math.max(0, Math.floor((nowMs - time.getTime()) / 1_000));
  const dead = backlog.queue.filter(({ state }) => state === 'dead');
  return {
    oldestDueSeconds: secondsSince(backlog.oldestDueAt),
    deadJobs: dead.reduce((total, { jobs }) => total + jobs, 0),
    anomalies: backlog.anomaly,
    orphanedEvents: backlog.orphaned,
    unknownPayments: backlog.unknown,
    oldestUnknownSeconds: secondsSince(backlog.oldestUnknownAt),
    unlistedCodes: await countUnlisted(context),
  };
}
