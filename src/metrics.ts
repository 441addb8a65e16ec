/**
 * What is counted and measured, by name. The registry is this object's own, not the library's
 * global one, so that two services in one process do not add up. Labels take few values: never an
 * id, never a person.
 */
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';

/** The value of `ponte_provider_breaker_state`. */
export const breakerStates = { closed: 0, half_open: 1, open: 2 } as const;

/** How an error has shown itself that no code handled. */
export type DefectKind = (typeof defectKinds)[number];

const defectKinds = ['unhandled_rejection', 'uncaught_exception'] as const;

/**
 * Why the service closes a connection by itself: a limit on all connections, or on those of one
 * address; answers that are not read; too many requests at a time.
 */
const connectionCloseReasons = ['total', 'per_address', 'stalled', 'pipelined'] as const;

export type ConnectionCloseReason = (typeof connectionCloseReasons)[number];

export interface Metrics {
  /** `metrics()` gives the text for Prometheus, `contentType` its media type. */
  readonly registry: Registry;
  /** Seconds from the request's head to the end of the answer. */
  readonly requests: Histogram<'operation' | 'status'>;
  /** By {@link ConnectionCloseReason}. */
  readonly closedConnections: Counter<'reason'>;
  /** One per round trip to the database. */
  readonly databaseQueries: Counter;
  /** Seconds of one attempt at a provider call. */
  readonly providerCalls: Histogram<'method' | 'status_class'>;
  /** One of {@link breakerStates}. */
  readonly breakerState: Gauge<'lane'>;
  readonly webhookEvents: Counter<'result'>;
  readonly jobs: Counter<'kind' | 'result'>;
  /** Events that contradict a settled transaction. */
  readonly pixAnomalies: Counter;
  /** Events about an open transaction that were not understood; the log has the reason. */
  readonly pixUnreadEvents: Counter;
  /** Payments whose outcome the provider's answer left open. */
  readonly unknownOutcomes: Counter;
  /** Outcomes of payments that this process knows and the database has not stored. */
  readonly unstoredOutcomes: Gauge;
  /** Errors that no code has handled; the log has them. */
  readonly defects: Counter<'kind'>;
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

type WireMetrics = Pick<
  Metrics,
  'requests' | 'closedConnections' | 'databaseQueries' | 'providerCalls' | 'breakerState'
>;

function wireMetrics(registry: Registry): WireMetrics {
  const registers = [registry];
  return {
    breakerState: new Gauge({
      name: 'ponte_provider_breaker_state',
      help: 'Circuit breaker of the provider, by lane: 0 closed, 1 half open, 2 open',
      labelNames: ['lane'],
      registers,
    }),
    requests: new Histogram({
      name: 'ponte_http_request_seconds',
      help: 'Time to answer a request, by operation and status',
      labelNames: ['operation', 'status'],
      buckets: requestBuckets,
      registers,
    }),
    closedConnections: closedConnections(registry),
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
  };
}

/** Every reason begins at zero, so that the first connection shows as growth. */
function closedConnections(registry: Registry): Counter<'reason'> {
  const counter = new Counter({
    name: 'ponte_http_connections_closed_total',
    help: `Connections that the service closed by itself: ${connectionCloseReasons.join(', ')}`,
    labelNames: ['reason'],
    registers: [registry],
  });
  for (const reason of connectionCloseReasons) counter.inc({ reason }, 0);
  return counter;
}

type WorkMetrics = Omit<Metrics, 'registry' | keyof WireMetrics>;

function workMetrics(registry: Registry): WorkMetrics {
  const registers = [registry];
  const defects = new Counter({
    name: 'ponte_defects_total',
    help: 'Errors that no code has handled, by kind',
    labelNames: ['kind'],
    registers,
  });
  // A counter that is absent before the first one shows no increase.
  for (const kind of defectKinds) defects.inc({ kind }, 0);
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
    unstoredOutcomes: new Gauge({
      name: 'ponte_pix_unstored_outcomes',
      help: 'Outcomes of payments that the database has not stored yet',
      registers,
    }),
    unknownOutcomes: new Counter({
      name: 'ponte_pix_unknown_outcomes_total',
      help: 'Payments whose outcome the answer of the provider left open',
      registers,
    }),
    defects,
  };
}
