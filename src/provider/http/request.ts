/** Sends a request to the provider over HTTP and returns the JSON of the response. */
import type { TraceContext } from '../../domain/trace-context.ts';
import type { ProviderRequest } from '../provider.ts';
import type { HttpClient, HttpRequest } from './client.ts';
import { readResponse, type ResponseKind } from './response-mapping.ts';

/** The parts of a request that depend on the method. */
export interface WireRequest extends Pick<HttpRequest, 'method' | 'path' | 'body' | 'upload'> {
  /** The kind of response, if its meaning depends on it; `other` by default. */
  readonly kind?: ResponseKind;
}

/**
 * Sends a request with the caller's signal, ids and banking token.
 *
 * @returns the JSON of a successful response.
 * @throws ProviderError for every other response.
 */
export type SendRequest = (wire: WireRequest, call: ProviderRequest) => Promise<unknown>;

/** Creates the function that sends requests with a client. */
export function createSendRequest(client: HttpClient): SendRequest {
  return async ({ kind = 'other', ...wire }, { session, signal, requestId, trace }) => {
    const response = await client.send({
      ...wire,
      ...(session && { token: session.token }),
      ...(signal && { signal }),
      ...(requestId !== undefined && { requestId }),
      ...(trace && { headers: traceHeaders(trace) }),
    });
    return readResponse(response, kind);
  };
}

function traceHeaders({ traceparent, tracestate }: TraceContext): Record<string, string> {
  return { traceparent, ...(tracestate !== undefined && { tracestate }) };
}
