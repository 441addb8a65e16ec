/**
 * The HTTP client of the provider. It returns the status and the JSON of a complete response;
 * everything else is a {@link ProviderError} that states whether the request may have been
 * executed. Its dispatcher carries the requests: `pool.ts` over sockets, `sandbox/dispatcher.ts` to
 * the simulated bank in the same process.
 */
import { randomBytes } from 'node:crypto';
import type { Readable } from 'node:stream';
import type { Pool } from 'undici';
import { nextTurn, systemClock, type Clock } from '../../clock.ts';
import { closed, DispatchHandler, type Echo, type HttpResponse } from './dispatch-handler.ts';

export type { HttpResponse } from './dispatch-handler.ts';

/** A streamed body; the caller's signal limits its duration. */
export interface Upload {
  readonly contentType: string;
  /** The exact size of the content. */
  readonly sizeBytes: number;
  readonly content: AsyncIterable<Uint8Array>;
}

export interface HttpRequest {
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** The path below the base URL, with the query. */
  readonly path: string;
  readonly token?: string | undefined;
  /** Sent as JSON; a Buffer already contains the JSON. */
  readonly body?: unknown;
  /** Sent instead of a JSON body. */
  readonly upload?: Upload | undefined;
  /** Further headers, by lower-case name. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly requestId?: string | undefined;
  /**
   * Whether it has a connection of its own or a stream of HTTP/2, where there are connections;
   * false by default.
   */
  readonly isAlone?: boolean | undefined;
}

export interface HttpClient {
  /** @throws ProviderError when there is no complete response. */
  send(request: HttpRequest): Promise<HttpResponse>;
  /** Refuses new requests, waits for those in flight, and closes the connections. */
  close(): Promise<void>;
}

export interface HttpClientOptions {
  /** May include a path. */
  readonly baseUrl: string;
  /**
   * The time-out of one attempt, in milliseconds. The caller's signal ends the attempt; this limits
   * its phases. A request that has not been sent by then is never sent, because another process may
   * take over the work of a suspended one.
   */
  readonly timeoutMs: number;
  /** Sent with every request. */
  readonly apiKey?: { readonly header: string; readonly value: string } | null;
  readonly clock?: Clock;
  readonly dispatcher: HttpDispatcher;
  /** Opens a connection for one request; by default the dispatcher carries every request. */
  readonly openConnection?: () => OwnConnection;
  /** Finds a connection that carries JSON beside other requests; by default there is none. */
  readonly findShared?: () => Pick<OwnConnection, 'dispatch'> | null;
  /**
   * The header, in lower case, in which every response repeats the `x-request-id` of its request;
   * null, by default: none does. A response without it is not that of the request.
   */
  readonly echoHeader?: string | null;
}

/** Carries requests, as undici's connection pool does. */
export type HttpDispatcher = Pick<Pool, 'dispatch' | 'destroy'>;

/** A connection that carries one request. */
export interface OwnConnection {
  dispatch(request: WireRequest, handler: DispatchHandler): void;
  /** Whether more has arrived than one response. */
  hasSurplus(): boolean;
  destroy(error: Error): Promise<void>;
}

/** A request as it is written. */
export type WireRequest = ReturnType<typeof dispatchOptions>;

/** Creates a client, which owns its dispatcher. */
export function createHttpClient(options: HttpClientOptions): HttpClient {
  const { clock = systemClock, timeoutMs, dispatcher } = options;
  const basePath = new URL(options.baseUrl).pathname.replace(/\/+$/, '');
  const inFlight = new Set<Promise<HttpResponse>>();
  let isClosed = false;
  return {
    send(request) {
      if (isClosed) return Promise.reject<HttpResponse>(closed());
      const begunAtMs = clock.now().getTime();
      const isInTime = (): boolean => clock.now().getTime() - begunAtMs < timeoutMs;
      const own = request.isAlone ? options.openConnection?.() : undefined;
      const sent = withEcho(withApiKey(request, options), options);
      const exchange = new DispatchHandler(request.signal, isInTime, echoOf(sent, options));
      const received = own ? readAlone(own, exchange.response) : exchange.response;
      const response = received.finally(() => inFlight.delete(response));
      inFlight.add(response);
      exchange.begin(() => {
        const wire = dispatchOptions(basePath, sent);
        const shared = Buffer.isBuffer(wire.body) ? options.findShared?.() : null;
        (own ?? shared ?? dispatcher).dispatch(wire, exchange);
      });
      return response;
    },
    async close() {
      isClosed = true;
      await Promise.allSettled(inFlight);
      await dispatcher.destroy();
    },
  };
}

/** Made once, because undici would otherwise collect a stack for each connection. */
const over = new Error('the request of this connection is over');

/**
 * Reads the response on a connection of its own, and closes it. More than a response comes from a
 * gateway that answers twice or counts wrongly.
 */
async function readAlone(
  own: OwnConnection,
  response: Promise<HttpResponse>,
): Promise<HttpResponse> {
  try {
    const received = await response;
    await nextTurn();
    return { ...received, hasSurplus: own.hasSurplus() };
  } finally {
    void own.destroy(over);
  }
}

function withApiKey(request: HttpRequest, { apiKey }: HttpClientOptions): HttpRequest {
  if (!apiKey) return request;
  return { ...request, headers: { [apiKey.header]: apiKey.value, ...request.headers } };
}

/**
 * Gives an attempt an id of its own where responses repeat it: the calls of one request and of one
 * job have the same id, and a job reads the statements of many users.
 */
function withEcho(request: HttpRequest, { echoHeader }: HttpClientOptions): HttpRequest {
  if (!echoHeader) return request;
  const { requestId = 'ponte' } = request;
  return { ...request, requestId: `${requestId}.${randomBytes(6).toString('hex')}` };
}

function echoOf({ requestId }: HttpRequest, { echoHeader }: HttpClientOptions): Echo | null {
  return echoHeader && requestId !== undefined ? { header: echoHeader, id: requestId } : null;
}

function dispatchOptions(basePath: string, request: HttpRequest) {
  const { method, path, body, upload } = request;
  return {
    method,
    path: basePath + path,
    headers: buildHeaders(request),
    // undici accepts any async iterable, with back-pressure; its types only mention Readable.
    body: upload === undefined ? encodeJson(body) : (upload.content as Readable),
    ...(upload && { headersTimeout: 0 }),
  };
}

function encodeJson(body: unknown): Buffer | null {
  if (body === undefined) return null;
  return Buffer.isBuffer(body) ? body : Buffer.from(JSON.stringify(body), 'utf8');
}

function buildHeaders(request: HttpRequest): Record<string, string> {
  const { token, body, upload, headers, requestId } = request;
  return {
    accept: 'application/json',
    ...(body !== undefined && { 'content-type': 'application/json' }),
    ...(upload && {
      'content-type': upload.contentType,
      'content-length': String(upload.sizeBytes),
    }),
    ...(token !== undefined && { authorization: `Bearer ${token}` }),
    ...(requestId !== undefined && { 'x-request-id': requestId }),
    ...headers,
  };
}
