/** The gauges that are read at the moment of a scrape. */
import { Gauge, type Registry } from 'prom-client';
import type { Metrics } from './metrics.ts';

/** How many there are in each state, at one moment. */
type Counts<State extends string> = Readonly<Record<State, number>>;

/** What waits in the database; ages are in seconds, and 0 when nothing waits. */
export interface Backlog {
  /** The jobs that are not done. */
  readonly jobs: readonly {
    readonly kind: string;
    readonly state: string;
    readonly jobs: number;
  }[];
  readonly oldestDueSeconds: number;
  readonly events: Counts<'received' | 'parked' | 'orphaned' | 'anomaly'>;
  /** Sends whose outcome is unknown. */
  readonly unknownPayments: number;
  readonly oldestUnknownSeconds: number;
  readonly oldestAcceptedSeconds: number;
  /** Sends that stand in PAYING for longer than any process works on one. */
  readonly overduePayments: number;
}

/** What is read at the moment of a scrape; nothing of it rejects. */
export interface Readings {
  connections(): Counts<'busy' | 'idle'> & { readonly waiting: number };
  /** Whether notifications of the database arrive. */
  notificationsUp(): boolean;
  hashing(): Counts<'running' | 'waiting'>;
  /** Null when the database does not give it, or not in time. */
  backlog(): Promise<Backlog | null>;
}

/** Adds what is read at each scrape. A gauge without a reading is absent: no old value stays. */
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
      // Without labels a reset would leave a zero behind, which is a value too.
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
      help: 'Passwords that this process hashes, and those that wait for their turn',
      labelNames: ['state'],
      read: () => byState(readings.hashing()),
    },
  ];
}

/** Every instance tells the same of these: they are about the database that all share. */
function backlogGauges(readings: Readings): ReadGauge[] {
  const of = (samples: (backlog: Backlog) => readonly Sample[]) => async () => {
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
      name: 'ponte_job_queue_oldest_due_seconds',
      help: 'How long the oldest due job has waited',
      read: of(({ oldestDueSeconds }) => one(oldestDueSeconds)),
    },
    {
      name: 'ponte_webhook_events_open',
      help: 'Stored events that wait (received, parked) or need somebody (orphaned, anomaly)',
      labelNames: ['state'],
      read: of(({ events }) => byState(events)),
    },
    ...paymentGauges(of),
  ];
}

function paymentGauges(
  of: (samples: (backlog: Backlog) => readonly Sample[]) => ReadGauge['read'],
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
      help: 'Payments that stand in PAYING for longer than any process works on one',
      read: of(({ overduePayments }) => one(overduePayments)),
    },
  ];
}

function one(value: number): readonly Sample[] {
  return [{ labels: {}, value }];
}

function byState(counts: Readonly<Record<string, number>>): readonly Sample[] {
  return Object.entries(counts).map(([state, value]) => ({ labels: { state }, value }));
}
