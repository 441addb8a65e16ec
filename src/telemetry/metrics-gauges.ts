/** The gauges that are read at each scrape. */
import { Gauge, type Registry } from 'prom-client';
import type { Metrics } from './metrics.ts';

/** The current number in each state. */
type Counts<State extends string> = Readonly<Record<State, number>>;

/** The pending work in the database; ages are in seconds, 0 when nothing waits. */
export interface BacklogGauges {
  /** The jobs that are not done. */
  readonly jobs: readonly {
    readonly kind: string;
    readonly state: string;
    readonly jobs: number;
    /** Those that fail again and again. */
    readonly failing: number;
  }[];
  readonly oldestDueSeconds: number;
  readonly events: Counts<'received' | 'parked' | 'orphaned' | 'anomaly'>;
  /** Sends whose outcome is unknown. */
  readonly unknownPayments: number;
  readonly oldestUnknownSeconds: number;
  readonly oldestAcceptedSeconds: number;
  /** Sends that have been in PAYING for longer than any process works on one. */
  readonly overduePayments: number;
  /** Open differences of reconciliation; `old`: found more than a day ago. */
  readonly differences: Counts<'new' | 'old'>;
  /** Whether all sends are paused. */
  readonly isPaused: boolean;
  /** Lines of statements that block payments of their amount. */
  readonly unaccountedPayments: number;
  /** The age of the oldest dispute that the provider has not confirmed, and not decided. */
  readonly oldestDisputeSeconds: Counts<'requested' | 'open'>;
}

/** The functions that read the gauges; none rejects. */
export interface Readings {
  connections(): Counts<'busy' | 'idle'> & { readonly waiting: number };
  /** Whether notifications of the database arrive. */
  notificationsUp(): boolean;
  hashing(): Counts<'running' | 'waiting'>;
  waitingLogins(): Counts<'customers' | 'strangers'>;
  /** Null when the database fails or does not respond in time. */
  backlog(): Promise<BacklogGauges | null>;
}

/** Adds the gauges. A gauge without a reading is absent rather than outdated. */
export function addReadings({ registry }: Metrics, readings: Readings): void {
  for (const gauge of [...processGauges(readings), ...backlogGauges(readings)]) {
    addGauge(registry, gauge);
  }
}

interface Sample {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

interface ReadGauge {
  readonly name: string;
  readonly help: string;
  readonly labelNames?: readonly string[];
  read(): readonly Sample[] | Promise<readonly Sample[]>;
}

function addGauge(registry: Registry, { name, help, labelNames = [], read }: ReadGauge): void {
  const gauge: Gauge = new Gauge({
    name,
    help,
    labelNames: [...labelNames],
    registers: [registry],
    async collect() {
      const samples = await read();
      // Without labels, a reset would set the gauge to zero, which is also a value.
      if (labelNames.length === 0) gauge.remove();
      else gauge.reset();
      for (const { labels, value } of samples) gauge.set(labels, value);
    },
  });
}

function processGauges(readings: Readings): ReadGauge[] {
  return [
    {
      name: 'ponte_database_connections',
      help: 'Connections to the database of this process, by state',
      labelNames: ['state'],
      read() {
        const { busy, idle } = readings.connections();
        return byState({ busy, idle });
      },
    },
    {
      name: 'ponte_database_waiting',
      help: 'Statements of this process that wait for a connection',
      read: () => one(readings.connections().waiting),
    },
    {
      name: 'ponte_database_notifications_up',
      help: 'Whether notifications of the database arrive in this process: 1 or 0',
      read: () => one(readings.notificationsUp() ? 1 : 0),
    },
    {
      name: 'ponte_password_hashes',
      help: 'Password hashes of this process, by state: running, waiting',
      labelNames: ['state'],
      read: () => byState(readings.hashing()),
    },
    {
      name: 'ponte_logins_waiting',
      help: 'Logins of this process that wait for their turn: those of customers, of strangers',
      labelNames: ['state'],
      read: () => byState(readings.waitingLogins()),
    },
  ];
}

/** Every instance reports the same values, because all share one database. */
function backlogGauges(readings: Readings): ReadGauge[] {
  const of = (samples: (backlog: BacklogGauges) => readonly Sample[]) => async () => {
    const backlog = await readings.backlog();
    return backlog ? samples(backlog) : [];
  };
  return [
    {
      name: 'ponte_metrics_database_up',
      help: 'Whether the gauges that are read in the database could be read: 1 or 0',
      read: async () => one((await readings.backlog()) ? 1 : 0),
    },
    {
      name: 'ponte_job_queue',
      help: 'Jobs that are not done, by kind and state: due, later, running, dead',
      labelNames: ['kind', 'state'],
      read: of(({ jobs: queue }) =>
        queue.map(({ kind, state, jobs }) => ({ labels: { kind, state }, value: jobs })),
      ),
    },
    {
      name: 'ponte_job_queue_failing',
      help: 'Open jobs that have failed five times, and periodic ones that failed last, by kind',
      labelNames: ['kind'],
      read: of(({ jobs: queue }) => failingByKind(queue)),
    },
    {
      name: 'ponte_job_queue_oldest_due_seconds',
      help: 'How long the oldest due job has waited',
      read: of(({ oldestDueSeconds }) => one(oldestDueSeconds)),
    },
    {
      name: 'ponte_webhook_events_open',
      help: 'Stored events that wait (received, parked) or need an operator (orphaned, anomaly)',
      labelNames: ['state'],
      read: of(({ events }) => byState(events)),
    },
    ...paymentGauges(of),
  ];
}

function paymentGauges(
  of: (samples: (backlog: BacklogGauges) => readonly Sample[]) => ReadGauge['read'],
): ReadGauge[] {
  return [
    {
      name: 'ponte_pix_unknown',
      help: 'Payments whose outcome is unknown now',
      read: of(({ unknownPayments }) => one(unknownPayments)),
    },
    {
      name: 'ponte_pix_unknown_oldest_seconds',
      help: 'Age of the oldest payment whose outcome is unknown now',
      read: of(({ oldestUnknownSeconds }) => one(oldestUnknownSeconds)),
    },
    {
      name: 'ponte_pix_accepted_oldest_seconds',
      help: 'Age of the oldest payment that is accepted and not settled',
      read: of(({ oldestAcceptedSeconds }) => one(oldestAcceptedSeconds)),
    },
    {
      name: 'ponte_pix_paying_overdue',
      help: 'Payments that have been in PAYING for longer than any process works on one',
      read: of(({ overduePayments }) => one(overduePayments)),
    },
    {
      name: 'ponte_reconciliation_differences',
      help: "Open differences between the provider's statement and what is stored: new, old (a day)",
      labelNames: ['state'],
      read: of(({ differences }) => byState(differences)),
    },
    {
      name: 'ponte_pix_paused',
      help: 'Whether all sends are paused: 1 or 0',
      read: of(({ isPaused }) => one(isPaused ? 1 : 0)),
    },
    {
      name: 'ponte_pix_unaccounted',
      help: 'Payments that only a statement shows, after a loss of commits',
      read: of(({ unaccountedPayments }) => one(unaccountedPayments)),
    },
    {
      name: 'ponte_pix_dispute_oldest_seconds',
      help: 'Age of the oldest dispute that the provider has not confirmed (requested) or decided (open)',
      labelNames: ['state'],
      read: of(({ oldestDisputeSeconds }) => byState(oldestDisputeSeconds)),
    },
  ];
}

/** A kind may be in several states. */
function failingByKind(queue: BacklogGauges['jobs']): readonly Sample[] {
  const counts = new Map<string, number>();
  for (const { kind, failing } of queue) counts.set(kind, (counts.get(kind) ?? 0) + failing);
  return [...counts].map(([kind, value]) => ({ labels: { kind }, value }));
}

function one(value: number): readonly Sample[] {
  return [{ labels: {}, value }];
}

function byState(counts: Readonly<Record<string, number>>): readonly Sample[] {
  return Object.entries(counts).map(([state, value]) => ({ labels: { state }, value }));
}
