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
    unknownOutcomes: new Counter({
      name: 'ponte_pix_unknown_outcomes_total',
      help: 'Payments whose outcome the answer of the provider left open',
      registers,
    }),
  };
}
