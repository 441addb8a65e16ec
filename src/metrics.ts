/**
 * What is counted and measured, by name. The registry is this object's own, not the library's
 * global one, so that two services in one process do not add up. Labels take few values: never an
 * id, never a person.
 */
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';

/** The value of `ponte_provider_breaker_state`. */
export const breakerStates = { closed: 0, half_open: 1, open: 2 } as const;

export interface Metrics {
  /** `metrics()` gives the text for Prometheus, `contentType` its media type. */
  readonly registry: Registry;
  /** Seconds from the request's head to the end of the answer. */
  readonly requests: Histogram<'operation' | 'status'>;
  /** One per round trip to the database. */
  readonly databaseQueries: Counter;
  /** Seconds of one attempt at a provider call. */
  readonly providerCalls: Histogram<'method' | 'status_class'>;
  /** One of {@link breakerStates}. */
  readonly breakerState: Gauge;
  readonly webhookEvents: Counter<'result'>;
  readonly jobs: Counter<'kind' | 'result'>;
  /** Events that contradict a settled transaction. */
  readonly pixAnomalies: Counter;
  /** Events about an open transaction that were not understood; the log has the reason. */
  readonly pixUnreadEvents: Counter;
  /** Payments whose outcome the provider's answer left open. */
  readonly unknownOutcomes: Counter;
}

/** Around the reads of a few milliseconds and the provider calls that run into their time-out. */
const requestBuckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
const callBuckets = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/** Makes every metric at zero, with those of the process: memory, CPU, delay of the event loop. */
export function createMetrics(): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  return { registry, ...wireMetrics(registry), ...workMetrics(registry) };
}

type WireMetrics = Pick<Metrics, 'requests' | 'databaseQueries' | 'providerCalls' | 'breakerState'>;

function wireMetrics(registry: Registry): WireMetrics {
  const registers = [registry];
  return {
    requests: new Histogram({
      name: 'ponte_http_request_seconds',
      help: 'Time to answer a request, by operation and status',
      labelNames: ['operation', 'status'],
      buckets: requestBuckets,
      registers,
    }),
    databaseQueries: new Counter({
      name: 'ponte_database_queries_total',
      help: 'Round trips to the database',
      registers,
    }),
    providerCalls: new Histogram({
      name: 'ponte_provider_call_seconds',
      help: 'Time of one attempt at a provider call, by method and class of answer',
      labelNames: ['method', 'status_class'],
      buckets: callBuckets,
      registers,
    }),
    breakerState: new Gauge({
      name: 'ponte_provider_breaker_state',
      help: 'Circuit breaker of the provider: 0 closed, 1 half open, 2 open',
      registers,
    }),
  };
}

type WorkMetrics = Omit<Metrics, 'registry' | keyof WireMetrics>;

function workMetrics(registry: Registry): WorkMetrics {
  const registers = [registry];
  return {
    webhookEvents: new Counter({
      name: 'ponte_webhook_events_total',
      help: 'Webhook events, by what became of them',
      labelNames: ['result'],
      registers,
    }),
    jobs: new Counter({
      name: 'ponte_jobs_total',
      help: 'Runs of jobs, by kind and result',
      labelNames: ['kind', 'result'],
      registers,
    }),
    pixAnomalies: new Counter({
      name: 'ponte_pix_anomalies_total',
      help: 'Events that contradict a settled transaction',
      registers,
    }),
    pixUnreadEvents: new Counter({
      name: 'ponte_pix_unread_events_total',
      help: 'Events about an open transaction that were not understood',
      registers,
    }),
    unknownOutcomes: new Counter({
      name: 'ponte_pix_unknown_outcomes_total',
      help: 'Payments whose outcome the answer of the provider left open',
      registers,
    }),
  };
}

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
  /** Sends whose outcome nobody knows yet. */
  readonly unknownPayments: number;
  readonly oldestUnknownSeconds: number;
  /** Sends that stand in PAYING for longer than any process works on one. */
  readonly overduePayments: number;
}

/** What is read at the moment of a scrape; nothing of it rejects. */
export interface Readings {
  connections(): Counts<'busy' | 'idle'> & { readonly waiting: number };
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
