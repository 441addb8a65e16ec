/** How the provider is asked: one request over the client, and the JSON that answers it. */
import type { TraceContext } from '../../domain/trace-context.ts';
import type { CallOptions } from '../provider.ts';
import type { HttpClient, HttpRequest } from './client.ts';
import { jsonOf, type Asked } from './verdict.ts';

/** A request without what every request gets: its caller's signal and id. */
export type Request = Pick<HttpRequest, 'method' | 'path' | 'body' | 'upload' | 'token'>;

/**
 * Asks the provider.
 *
 * @param asked what is asked for, as far as the answer depends on it.
 * @returns the JSON of a successful answer.
 * @throws ProviderError for every other one.
 */
export type Ask = (asked: Asked, request: Request, options?: CallOptions) => Promise<unknown>;

/** Makes the way to ask over a client. */
export function asking(client: HttpClient): Ask {
  return async (asked, request, options = {}) => {
    const { signal, requestId, trace } = options;
    const answer = await client.send({
      ...request,
      ...(signal && { signal }),
      ...(requestId !== undefined && { requestId }),
      ...(trace && { headers: traceHeaders(trace) }),
    });
    return jsonOf(answer, asked);
  };
}

function traceHeaders({ traceparent, tracestate }: TraceContext): Record<string, string> {
  return { traceparent, ...(tracestate !== undefined && { tracestate }) };
}
