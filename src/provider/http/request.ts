/** One request to the provider over HTTP, and the JSON that answers it. */
import type { TraceContext } from '../../domain/trace-context.ts';
import type { ProviderRequest } from '../provider.ts';
import type { HttpClient, HttpRequest } from './client.ts';
import { readResponse, type ResponseKind } from './response-mapping.ts';

/** The part of a request that its method decides. */
export interface WireRequest extends Pick<HttpRequest, 'method' | 'path' | 'body' | 'upload'> {
  /** What the answer is about, as far as its meaning depends on it; `other` by default. */
  readonly kind?: ResponseKind;
}

/**
 * Sends a request with the caller's signal, ids and banking token.
 *
 * @returns the JSON of a successful answer.
 * @throws ProviderError for every other answer.
 */
export type SendRequest = (wire: WireRequest, call: ProviderRequest) => Promise<unknown>;

/** Makes the function that sends requests over a client. */
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
