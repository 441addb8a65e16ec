/** What is read at the moment of a scrape: in this process, and what waits in the database. */
import { pause } from './clock.ts';
import type { LocalContext } from './context.ts';
import { addReadings, type Backlog } from './metrics-gauges.ts';
import { readBacklog } from './operator/inspection-repository.ts';

/** Several scrapers, or one in a hurry, cost the database no more than this. */
const freshForMs = 5_000;

/** Well below the ten seconds that Prometheus waits for a scrape by default. */
const longestReadMs = 2_000;

/** Adds to the metrics of a context what is read of it when somebody asks for them. */
export function measure(context: LocalContext): void {
  addReadings(context.metrics, {
    connections: () => context.db.connections(),
    notificationsUp: () => context.db.notificationsUp(),
    hashing: () => context.passwords.load(),
    backlog: backlogReader(context),
  });
}

/**
 * Makes the reading of the backlog. One reading serves everybody for five seconds, and while one is
 * under way no other is begun: scrapes never pile up on a database that is slow already.
 * @returns what reads; it never rejects, and gives null when the database fails or takes too long.
 */
function backlogReader(parts: Parts): () => Promise<Backlog | null> {
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
  readonly backlog: Promise<Backlog | null>;
  /** The same, or null once it has taken too long. */
  readonly inTime: Promise<Backlog | null>;
  isOver(): boolean;
}

function begin(parts: Parts, begunAtMs: number): Reading {
  const over = new AbortController();
  const backlog = readOrTell(parts);
  const late = pause(parts.clock, longestReadMs, over.signal).then(() => null);
  const inTime = Promise.race([backlog, late]);
  void backlog.then(() => over.abort());
  return { begunAtMs, backlog, inTime, isOver: () => over.signal.aborted };
}

async function readOrTell(parts: Parts): Promise<Backlog | null> {
  try {
    return await read(parts);
  } catch (error) {
    parts.log.warn({ error }, 'the backlog could not be read for the metrics');
    return null;
  }
}

async function read(parts: Parts): Promise<Backlog> {
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
  };
}
