/** Sends requests to the provider over HTTP. */
import { routes, type OperationId, type Operations } from '../../../contract/provider-types.ts';
import type { TraceContext } from '../../domain/trace-context.ts';
import type { ProviderRequest } from '../provider.ts';
import type { HttpClient, HttpRequest, HttpResponse } from './client.ts';
import {
  readResponse,
  refuseFailure,
  type Failures,
  type ResponseKind,
} from './response-mapping.ts';

/** The input of an operation of contract/provider.yaml. */
export interface WireInput<Id extends OperationId> extends Pick<HttpRequest, 'upload' | 'isAlone'> {
  readonly path?: Operations[Id]['path'];
  readonly query?: Operations[Id]['query'];
  readonly body?: Operations[Id]['body'];
  /** The kind of response, if its meaning depends on it; `other` by default. */
  readonly kind?: ResponseKind;
}

/**
 * Sends a request of an operation with the caller's signal, ids and banking token.
 *
 * @returns the JSON of a successful response.
 * @throws ProviderError for every other response.
 */
export type SendRequest = <Id extends OperationId>(
  id: Id,
  input: WireInput<Id>,
  call: ProviderRequest,
) => Promise<unknown>;

/** Creates the function that sends requests with a client and reads the responses. */
export function createSendRequest(client: HttpClient): SendRequest {
  const exchange = createExchange(client);
  return async (id, { kind = 'other', ...input }, call) =>
    readResponse(await exchange(id, input, call), kind);
}

/** The same, where a successful status whose content says that the request failed is a refusal. */
export function refusingFailures(send: SendRequest, failures: Failures): SendRequest {
  return async (...input) => {
    const json = await send(...input);
    refuseFailure(json, failures);
    return json;
  };
}

/**
 * Creates the function that sends requests with a client and returns every complete response,
 * whatever its status. It throws a ProviderError when there is none.
 */
export function createExchange(client: HttpClient) {
  return <Id extends OperationId>(
    id: Id,
    { path, query, isAlone, ...content }: Omit<WireInput<Id>, 'kind'>,
    { session, signal, requestId, trace }: ProviderRequest,
  ): Promise<HttpResponse> => {
    const { method, path: template } = routes[id];
    const search = query === undefined ? '' : `?${new URLSearchParams(query).toString()}`;
    const target = fillTemplate(template, path) + search;
    const headers = trace && traceHeaders(trace);
    const token = session?.token;
    const call = { token, signal, requestId, headers, isAlone };
    return client.send({ method, path: target, ...content, ...call });
  };
}

function fillTemplate(template: string, values: Readonly<Record<string, string>> = {}): string {
  return template.replaceAll(/\{(\w+)\}/g, (_whole, name: string) =>
    encodeURIComponent(values[name] ?? ''),
  );
}

function traceHeaders({ traceparent, tracestate }: TraceContext): Record<string, string> {
  return { traceparent, ...(tracestate !== undefined && { tracestate }) };
}
