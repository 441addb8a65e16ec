/** Records one log line and one measurement per request, without any of its values. */
import type { Context } from '../context/context.ts';
import { logRequest } from '../telemetry/log.ts';
import type { Tracing } from '../telemetry/tracing.ts';
import type { Exchange } from './exchange.ts';

/** The operation label of requests that reached no route. */
const noOperation = 'none';

/** The status that nginx logs when the client closed the connection before the reply. */
export const clientGone = 499;

/**
 * Records a request when its reply has been sent, or can no longer be sent.
 *
 * @param status the status of the reply; {@link clientGone} when there is none.
 */
export function recordRequest(context: Context, exchange: Exchange, status: number): void {
  if (exchange.refusedStatus !== null || exchange.hasEnded) {
    record(context, exchange, { status: exchange.refusedStatus ?? status });
    return;
  }
  exchange.onceEnded((isSent) => {
    if (isSent || status === clientGone) record(context, exchange, { status });
    else record(context, exchange, { status: clientGone, unsentStatus: status });
  });
}

interface LoggedReply {
  readonly status: number;
  /** The status of a reply that was not sent. */
  readonly unsentStatus?: number;
}

function record(context: Context, exchange: Exchange, reply: LoggedReply): void {
  const { operation, startedAtMs } = exchange;
  const { status } = reply;
  const durationMs = context.clock.now().getTime() - startedAtMs;
  const name = operation ?? noOperation;
  context.metrics.requests.observe({ operation: name, status }, durationMs / 1_000);
  // Probes come every few seconds, and a development page loads many files: only those that fail
  // are of interest.
  const isQuiet = (name.startsWith('health.') || name === 'page') && status < 400;
  const level = isQuiet ? 'debug' : 'info';
  if (context.tracing !== null && !isQuiet) traceRequest(context.tracing, exchange, reply);
  // The ids of a request are generated at their first use.
  if (!context.log.isLevelEnabled(level)) return;
  const { path, userId } = exchange;
  const { requestId, requestIdDigest, traceId } = exchange.names;
  logRequest(context.log, level, {
    requestId,
    requestIdDigest,
    traceId,
    spanId: exchange.trace.spanId,
    operation,
    method: exchange.request.method,
    path,
    status,
    unsentStatus: reply.unsentStatus,
    durationMs,
    userId,
  });
}

/**
 * Records the request. If its trace is the caller's, the trace of the transaction that it has
 * stored gets a first span of its own, which links to the request.
 */
function traceRequest(tracing: Tracing, exchange: Exchange, { status }: LoggedReply): void {
  const { operation, path, startedAtMs: startMs, trace, transactionId: id } = exchange;
  const method = exchange.request.method ?? '';
  const attributes = {
    'http.request.method': method,
    'http.response.status_code': status,
    ...(path !== null && { 'http.route': path }),
    ...(operation !== null && { 'ponte.operation': operation }),
    ...(id !== null && { 'ponte.transaction.id': id }),
  };
  const name = `${method} ${path ?? ''}`.trim();
  const error = status >= 500 ? String(status) : null;
  tracing.record({ name, kind: 'server', trace, startMs, attributes, error });
  const own = id === null ? null : tracing.ofTransaction(id);
  if (own === null || own.spanId === trace.spanId) return;
  tracing.record({ name, kind: 'internal', trace: own, startMs, attributes, error, link: trace });
}

/** Records a message that was refused before it was parsed as a request. */
export function recordRefusal(context: Context, id: string, status: number): void {
  context.metrics.requests.observe({ operation: noOperation, status }, 0);
  logRequest(context.log, 'info', { requestId: id, operation: null, status });
}
