/** Reads the gauges at each scrape: the state of this process, and the backlog in the database. */
import { pause } from '../clock.ts';
import type { Context, LocalContext } from '../context/context.ts';
import { addReadings, type BacklogGauges } from '../telemetry/metrics-gauges.ts';
import { readBacklog } from '../operator/inspection-repository.ts';

/** Limits the load of frequent or concurrent scrapes on the database. */
const freshForMs = 5_000;

/** Well below Prometheus' default time-out of ten seconds for a scrape. */
const maxReadMs = 2_000;

/** Adds the gauges of a context to its metrics. */
export function measure(context: Context): void {
  addReadings(context.metrics, {
    connections: () => context.db.connections(),
    notificationsUp: () => context.db.notificationsUp(),
    hashing: () => context.passwords.load(),
    waitingLogins: () => ({
      customers: context.loginLines.count('customers'),
      strangers: context.loginLines.count('strangers') + context.loginLines.count('places'),
    }),
    backlog: backlogReader(context),
  });
}

/**
 * Creates the reader of the backlog. A reading is shared for five seconds, and only one is in
 * progress at a time, so that scrapes do not accumulate on a slow database.
 * @returns a function that never rejects, and returns null when the database fails or is too slow.
 */
function backlogReader(parts: Parts): () => Promise<BacklogGauges | null> {
  let last: Reading | null = null;
  return () => {
    const nowMs = parts.clock.now().getTime();
    if (last === null || (last.isOver() && nowMs - last.begunAtMs >= freshForMs)) {
      last = begin(parts, nowMs);
    }
    return last.isOver() ? last.backlog : last.inTime;
  };
}

type Parts = Pick<LocalContext, 'config' | 'db' | 'clock' | 'log'>;

interface Reading {
  readonly begunAtMs: number;
  readonly backlog: Promise<BacklogGauges | null>;
  /** The same reading, or null when it takes too long. */
  readonly inTime: Promise<BacklogGauges | null>;
  isOver(): boolean;
}

function begin(parts: Parts, begunAtMs: number): Reading {
  const over = new AbortController();
  const backlog = readOrWarn(parts);
  const late = pause(parts.clock, maxReadMs, over.signal).then(() => null);
  const inTime = Promise.race([backlog, late]);
  void backlog.then(() => over.abort());
  return { begunAtMs, backlog, inTime, isOver: () => over.signal.aborted };
}

async function readOrWarn(parts: Parts): Promise<BacklogGauges | null> {
  try {
    return await read(parts);
  } catch (error) {
    parts.log.warn({ error }, 'the backlog could not be read for the metrics');
    return null;
  }
}

async function read(parts: Parts): Promise<BacklogGauges> {
  const now = parts.clock.now();
  const backlog = await readBacklog(parts);
  const age = (since: Date | null): number =>
    since === null ? 0 : Math.max(0, now.getTime() - since.getTime()) / 1_000;
  const { received, parked, orphaned, anomaly } = backlog;
  return {
    jobs: backlog.queue,
    oldestDueSeconds: age(backlog.oldestDueAt),
    events: { received, parked, orphaned, anomaly },
    unknownPayments: backlog.unknown,
    oldestUnknownSeconds: age(backlog.oldestUnknownAt),
    oldestAcceptedSeconds: age(backlog.oldestAcceptedAt),
    overduePayments: backlog.overdue,
    differences: {
      new: backlog.differences - backlog.oldDifferences,
      old: backlog.oldDifferences,
    },
    isPaused: backlog.isPaused,
    unaccountedPayments: backlog.unaccounted,
    oldestDisputeSeconds: {
      requested: age(backlog.oldestRequestedDisputeAt),
      open: age(backlog.oldestOpenDisputeAt),
    },
  };
}
