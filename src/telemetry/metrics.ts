/**
 * The metrics of a service. Each service has its own registry, so that several in one process do
 * not share counts. Labels have few values, and never an id or personal data.
 */
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';

/** The value of `ponte_provider_breaker_state`. */
export const breakerStates = { closed: 0, half_open: 1, open: 2 } as const;

/** How an unhandled error was detected. */
export type DefectKind = (typeof defectKinds)[number];

const defectKinds = ['unhandled_rejection', 'uncaught_exception'] as const;

/**
 * Why the service closes a connection: the limit of all connections or of one address, a client
 * that does not read, or too many pipelined requests.
 */
const connectionCloseReasons = ['total', 'per_address', 'stalled', 'pipelined'] as const;

export type ConnectionCloseReason = (typeof connectionCloseReasons)[number];

export interface Metrics {
  /** `metrics()` returns the text for Prometheus, `contentType` its media type. */
  readonly registry: Registry;
  /** Seconds from the head of the request to the end of the response. */
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
  /** Webhooks whose sender did not prove to be the provider. */
  readonly webhookRefusals: Counter<'reason'>;
  readonly jobs: Counter<'kind' | 'result'>;
  /** Runs of jobs that have taken longer than their kind may. */
  readonly stuckJobs: Counter<'kind'>;
  /** Events that contradict a settled transaction. */
  readonly pixAnomalies: Counter;
  /** FAILED transactions that were paid and are COMPLETED now. */
  readonly pixCorrections: Counter;
  /** Rows that this process saw committed and that are missing: the database went back in time. */
  readonly lostCommits: Counter;
  /** Events about an open transaction that could not be read; the log has the reason. */
  readonly pixUnreadEvents: Counter;
  /** Events that no dialect reads; the log has the word that is why. */
  readonly unreadEvents: Counter<'reason'>;
  /** Payments whose outcome the provider's response left open. */
  readonly unknownOutcomes: Counter;
  /** Responses to payments that prove nothing, by status and code; the code is bounded. */
  readonly unknownResponses: Counter<'status' | 'code'>;
  /** Outcomes of payments that this process knows and the database has not stored yet. */
  readonly unstoredOutcomes: Gauge;
  /** Limits of the whole service of which half, or all, was used in their window. */
  readonly serviceLimits: Counter<'limit' | 'share'>;
  /** E-mails whose failed logins by strangers have reached the number of an attack. */
  readonly guessedEmails: Counter;
  /** Unhandled errors; the log has them. */
  readonly defects: Counter<'kind'>;
}

/**
 * The counters of the code that also runs in commands, which have no `/metrics` and count nothing.
 */
export type LocalMetrics = {
  readonly [
    Name in
      | 'databaseQueries'
      | 'guessedEmails'
      | 'serviceLimits'
      | 'webhookEvents'
      | 'pixAnomalies'
      | 'pixCorrections'
      | 'lostCommits'
      | 'pixUnreadEvents'
      | 'unreadEvents'
  ]: Pick<Metrics[Name], 'inc'>;
};

/** From reads of a few milliseconds to provider calls that time out, in seconds. */
const requestBuckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
const callBuckets = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/** Creates all metrics, including those of the process: memory, CPU, event loop delay. */
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

/** Initialises every reason to zero, so that the first connection counts as an increase. */
function closedConnections(registry: Registry): Counter<'reason'> {
  const counter = new Counter({
    name: 'ponte_http_connections_closed_total',
    help: `Connections that the service closed, by reason: ${connectionCloseReasons.join(', ')}`,
    labelNames: ['reason'],
    registers: [registry],
  });
  for (const reason of connectionCloseReasons) counter.inc({ reason }, 0);
  return counter;
}

/** Initialises every label to zero, so that the first time counts as an increase. */
function serviceLimits(registry: Registry): Counter<'limit' | 'share'> {
  const counter = new Counter({
    name: 'ponte_service_limits_reached_total',
    help: 'Limits of the whole service (codes, uploads) of which half or the whole was used',
    labelNames: ['limit', 'share'],
    registers: [registry],
  });
  for (const limit of ['codes', 'uploads']) {
    for (const share of ['half', 'whole']) counter.inc({ limit, share }, 0);
  }
  return counter;
}

type WorkMetrics = Omit<Metrics, 'registry' | keyof WireMetrics>;

function workMetrics(registry: Registry): WorkMetrics {
  const registers = [registry];
  const defects = new Counter({
    name: 'ponte_defects_total',
    help: 'Unhandled errors, by kind',
    labelNames: ['kind'],
    registers,
  });
  const webhookEvents = new Counter({
    name: 'ponte_webhook_events_total',
    help: 'Webhook events, by result',
    labelNames: ['result'],
    registers,
  });
  // A counter that is absent at first shows no increase, and not that there is none.
  for (const kind of defectKinds) defects.inc({ kind }, 0);
  webhookEvents.inc({ result: 'received' }, 0);
  return {
    webhookEvents,
    webhookRefusals: new Counter({
      name: 'ponte_webhook_refusals_total',
      help: 'Webhooks that were refused (401), by reason',
      labelNames: ['reason'],
      registers,
    }),
    jobs: new Counter({
      name: 'ponte_jobs_total',
      help: 'Runs of jobs, by kind and result',
      labelNames: ['kind', 'result'],
      registers,
    }),
    stuckJobs: new Counter({
      name: 'ponte_jobs_stuck_total',
      help: 'Runs of jobs that have taken longer than their kind may, by kind',
      labelNames: ['kind'],
      registers,
    }),
    ...paymentMetrics(registry),
    serviceLimits: serviceLimits(registry),
    guessedEmails: new Counter({
      name: 'ponte_login_guessed_emails_total',
      help: 'E-mails with 300 failed logins by strangers in a day',
      registers,
    }),
    defects,
  };
}

function paymentMetrics(registry: Registry) {
  const registers = [registry];
  return {
    pixAnomalies: new Counter({
      name: 'ponte_pix_anomalies_total',
      help: 'Events that contradict a settled transaction',
      registers,
    }),
    lostCommits: new Counter({
      name: 'ponte_commits_lost_total',
      help: 'Rows that this process saw committed and that are missing: the database went back',
      registers,
    }),
    pixCorrections: new Counter({
      name: 'ponte_pix_corrections_total',
      help: 'Failed transactions that were paid and are completed now',
      registers,
    }),
    unreadEvents: new Counter({
      name: 'ponte_unread_events_total',
      help: 'Events that no dialect of the provider reads, by reason',
      labelNames: ['reason'],
      registers,
    }),
    pixUnreadEvents: new Counter({
      name: 'ponte_pix_unread_events_total',
      help: 'Events about an open transaction that could not be read',
      registers,
    }),
    unstoredOutcomes: new Gauge({
      name: 'ponte_pix_unstored_outcomes',
      help: 'Outcomes of payments that the database has not stored yet',
      registers,
    }),
    unknownResponses: new Counter({
      name: 'ponte_provider_unknown_answers_total',
      help: 'Attempts at payments whose answer proves nothing, by status and code',
      labelNames: ['status', 'code'],
      registers,
    }),
    unknownOutcomes: new Counter({
      name: 'ponte_pix_unknown_outcomes_total',
      help: 'Payments whose outcome the answer of the provider left open',
      registers,
    }),
  };
}
