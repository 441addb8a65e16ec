/** One log line and one measurement per request; never a value of it. */
import type { Context } from '../context.ts';
import type { Exchange } from './exchange.ts';

/** The name by which requests are counted that reached no route. */
const NO_OPERATION = 'none';

/** Records an answer, or that there was nobody left to answer (499, as proxies write it). */
export function recordRequest(context: Context, exchange: Exchange, status: number): void {
  const { operation, startedAtMs } = exchange;
  const durationMs = context.clock.now().getTime() - startedAtMs;
  const name = operation ?? NO_OPERATION;
  context.metrics.requests.observe({ operation: name, status }, durationMs / 1_000);
  if (!context.log.isLevelEnabled('info')) return;
  const { names, path, userId } = exchange;
  const { spanId } = exchange.trace;
  const { method } = exchange.request;
  context.log.info(
    { ...names, spanId, operation, method, path, status, durationMs, userId },
    'request',
  );
}

/** Records what was refused before it became a request. */
export function recordRefusal(context: Context, id: string, status: number): void {
  context.metrics.requests.observe({ operation: NO_OPERATION, status }, 0);
  context.log.info({ requestId: id, operation: null, status }, 'request');
}
