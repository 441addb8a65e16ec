/** Inspects the database for `doctor`: latency, schema, clock, durability, backlog. */
import type { LocalContext } from '../context/context.ts';
import { listMigrations } from '../db/migrate.ts';
import {
  readBacklog,
  readServerState,
  readWebhookState,
  type StoredBacklog,
  type ServerState,
} from './inspection-repository.ts';
import { findPause } from '../ledger/pause-repository.ts';
import type { Op } from './op.ts';
import { countCorrectedPix } from './pix-repository.ts';
import { countUnlisted } from './unknown-repository.ts';

export interface DatabaseInspection {
  readonly kind: 'embedded' | 'postgresql';
  readonly version: string;
  /** Of one round trip, in milliseconds. */
  readonly latencyMs: number;
  /** How far its clock is ahead of this machine's, in milliseconds. */
  readonly aheadMs: number;
  /** Whether it is a standby, or refuses writes by its settings. */
  readonly isReadOnly: boolean;
  readonly durability: Durability;
  /** Whether this connection's role may drop the tables or the database; null without tables. */
  readonly ownsTables: boolean | null;
  /** Whether this service's connections write app events. */
  readonly writesAppEvents: boolean;
  readonly pending: readonly string[];
  /** Migrations of another version. */
  readonly unknown: readonly string[];
  /** Null when the schema is older than this version's. */
  readonly backlog: InspectedBacklog | null;
  /** Null when the schema is older than this version's. */
  readonly webhooks: InspectedWebhooks | null;
}

/** The settings that decide whether a commit survives a crash. */
export type Durability = Omit<
  ServerState,
  'now' | 'version' | 'isReadOnly' | 'ownsTables' | 'writesAppEvents'
>;

/** The waiting work, and what needs an operator. */
export interface InspectedBacklog {
  /** How long the oldest due job has waited; 0 without one. */
  readonly oldestDueSeconds: number;
  readonly deadJobs: number;
  /** Jobs that fail again and again, by kind. */
  readonly failingJobs: readonly { readonly kind: string; readonly jobs: number }[];
  readonly anomalies: number;
  readonly orphanedEvents: number;
  readonly parkedEvents: number;
  readonly receivedEvents: number;
  readonly unknownPayments: number;
  /** The age of the oldest payment with an unknown outcome; 0 without one. */
  readonly oldestUnknownSeconds: number;
  /** Open payments that wait for a code that is not listed. */
  readonly unlistedCodes: number;
  /** Failed payments that turned out to be paid within the last day. */
  readonly correctedPayments: number;
  /** Sends that are accepted and not settled. */
  readonly acceptedPayments: number;
  /** The age of the oldest one; 0 without one. */
  readonly oldestAcceptedSeconds: number;
  /** Sends in PAYING for longer than any process works on one. */
  readonly overduePayments: number;
  /** Sends before PAYING whose payment may have left, because commits may be lost. */
  readonly heldSends: number;
  /** Open differences between the provider's statement and what is stored. */
  readonly differences: number;
  /** Those that were found more than a day ago. */
  readonly oldDifferences: number;
  /** Null: sends are not paused. */
  readonly pause: InspectedPause | null;
  /** Lines of statements that block payments of their amount. */
  readonly unaccountedPayments: number;
  /** Those among them that block nothing, because the fact at the account is missing. */
  readonly unstoredBlocks: number;
  /** The age of the oldest dispute that the provider has not confirmed; 0 without one. */
  readonly oldestRequestedDisputeSeconds: number;
  /** The age of the oldest dispute that the provider has not decided; 0 without one. */
  readonly oldestOpenDisputeSeconds: number;
}

/** The pause of all sends. */
export interface InspectedPause {
  /** How long it has lasted. */
  readonly seconds: number;
  readonly by: string;
  readonly reason: string;
  /** Since when commits may be lost, ISO 8601; null: none are. */
  readonly lostSince: string | null;
}

/** What the database has of the provider's webhooks. */
export interface InspectedWebhooks {
  /** The age of the newest event; null without one. */
  readonly newestWebhookSeconds: number | null;
  /** The webhooks of the last hour that were refused, by reason. */
  readonly refusals: readonly { readonly reason: string; readonly refusals: number }[];
  /** The age of the last of them; 0 without one. */
  readonly lastRefusedSeconds: number;
  /** Events of the last day about an open transaction that could not be read. */
  readonly unreadEvents: number;
}

/** Inspects the database. */
export const inspectDatabase: Op<Readonly<Record<string, never>>, DatabaseInspection> = {
  needs: 'database',
  needsDialects: true,
  async run(context) {
    const { db, clock } = context;
    // The first statement may have to open a connection.
    await readServerState(context);
    const sentMs = clock.now().getTime();
    const { now, version, isReadOnly, ownsTables, writesAppEvents, ...durability } =
      await readServerState(context);
    const answeredMs = clock.now().getTime();
    const migrations = await listMigrations(db);
    const named = (wanted: string): string[] =>
      migrations.filter(({ state }) => state === wanted).map(({ name }) => name);
    const pending = named('pending');
    const unknown = named('unknown');
    // The previous release runs on a newer schema, and its backlog is still to be watched.
    const isReadable = pending.length === 0;
    return {
      kind: db.kind,
      version,
      latencyMs: answeredMs - sentMs,
      aheadMs: Math.round(now.getTime() - (sentMs + answeredMs) / 2),
      isReadOnly,
      durability,
      ownsTables,
      writesAppEvents,
      pending,
      unknown,
      backlog: isReadable ? await inspectBacklog(context) : null,
      webhooks: isReadable ? await inspectWebhooks(context) : null,
    };
  },
};

async function inspectBacklog(context: LocalContext): Promise<InspectedBacklog> {
  const backlog = await readBacklog(context);
  const now = context.clock.now();
  const secondsSince = ageFrom(now);
  const dead = backlog.queue.filter(({ state }) => state === 'dead');
  return {
    oldestDueSeconds: secondsSince(backlog.oldestDueAt),
    deadJobs: dead.reduce((total, { jobs }) => total + jobs, 0),
    failingJobs: sumByKind(backlog.queue.filter(({ failing }) => failing > 0)),
    anomalies: backlog.anomaly,
    orphanedEvents: backlog.orphaned,
    parkedEvents: backlog.parked,
    receivedEvents: backlog.received,
    unknownPayments: backlog.unknown,
    oldestUnknownSeconds: secondsSince(backlog.oldestUnknownAt),
    unlistedCodes: await countUnlisted(context),
    correctedPayments: await countCorrectedPix(context, new Date(now.getTime() - 24 * hourMs)),
    acceptedPayments: backlog.accepted,
    oldestAcceptedSeconds: secondsSince(backlog.oldestAcceptedAt),
    overduePayments: backlog.overdue,
    heldSends: backlog.held,
    differences: backlog.differences,
    oldDifferences: backlog.oldDifferences,
    pause: await inspectPause(context),
    unaccountedPayments: backlog.unaccounted,
    unstoredBlocks: backlog.unblocked,
    oldestRequestedDisputeSeconds: secondsSince(backlog.oldestRequestedDisputeAt),
    oldestOpenDisputeSeconds: secondsSince(backlog.oldestOpenDisputeAt),
  };
}

async function inspectPause(context: LocalContext): Promise<InspectedPause | null> {
  const pause = await findPause(context);
  if (!pause) return null;
  const { beganAt, beganBy: by, reason, lostSince } = pause;
  const seconds = ageFrom(context.clock.now())(beganAt);
  return { seconds, by, reason, lostSince: lostSince?.toISOString() ?? null };
}

/** A kind may fail in two states. */
function sumByKind(failing: StoredBacklog['queue']): InspectedBacklog['failingJobs'] {
  const counts = new Map<string, number>();
  for (const { kind, failing: jobs } of failing) counts.set(kind, (counts.get(kind) ?? 0) + jobs);
  return [...counts].map(([kind, jobs]) => ({ kind, jobs }));
}

const hourMs = 3_600_000;

async function inspectWebhooks(context: LocalContext): Promise<InspectedWebhooks> {
  const now = context.clock.now();
  const { newestAt, unread, refusals } = await readWebhookState(context, {
    refusedSince: new Date(now.getTime() - hourMs),
    unreadSince: new Date(now.getTime() - 24 * hourMs),
  });
  const secondsSince = ageFrom(now);
  const lastRefusals = refusals.map(({ lastAt }) => secondsSince(new Date(lastAt)));
  return {
    newestWebhookSeconds: newestAt === null ? null : secondsSince(newestAt),
    refusals: refusals.map(({ reason, refusals: count }) => ({ reason, refusals: count })),
    lastRefusedSeconds: lastRefusals.length === 0 ? 0 : Math.min(...lastRefusals),
    unreadEvents: unread,
  };
}

function ageFrom(now: Date): (time: Date | null) => number {
  return (time) =>
    time === null ? 0 : Math.max(0, Math.floor((now.getTime() - time.getTime()) / 1_000));
}
