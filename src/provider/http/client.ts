/**
 * The HTTP client of the provider, and the only code that opens a socket to it. It returns the
 * status and the JSON of a complete response; everything else is a {@link ProviderError} that
 * states whether the request may have been executed.
 */
import type { Readable } from 'node:stream';
import { Pool } from 'undici';
import { systemClock, type Clock } from '../../clock.ts';
import { closed, DispatchHandler, type HttpResponse } from './dispatch-handler.ts';

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
  /** PEMs: the authorities to trust instead of Node's, and the client certificate with its key. */
  readonly tls?: {
    readonly ca?: string | undefined;
    readonly cert?: string | undefined;
    readonly key?: string | undefined;
  };
  /** Sent with every request. */
  readonly apiKey?: { readonly header: string; readonly value: string } | null;
  /** The largest number of connections, one for each attempt in flight; 64 by default. */
  readonly connections?: number;
  readonly clock?: Clock;
  /** Replaces the connection pool. */
  readonly dispatcher?: Pick<Pool, 'dispatch' | 'destroy'>;
}

/** Creates a client, which owns a connection pool. */
export function createHttpClient(options: HttpClientOptions): HttpClient {
  const { clock = systemClock, timeoutMs } = options;
  const { origin, pathname } = new URL(options.baseUrl);
  const basePath = pathname.replace(/\/+$/, '');
  const pool = options.dispatcher ?? createPool(origin, options);
  const inFlight = new Set<Promise<HttpResponse>>();
  let isClosed = false;
  return {
    send(request) {
      if (isClosed) return Promise.reject<HttpResponse>(closed());
      const begunAtMs = clock.now().getTime();
      const isInTime = (): boolean => clock.now().getTime() - begunAtMs < timeoutMs;
      const exchange = new DispatchHandler(request.signal, isInTime);
      const answer = exchange.answer.finally(() => inFlight.delete(answer));
      inFlight.add(answer);
      exchange.begin(() =>
        pool.dispatch(dispatchOptions(basePath, withApiKey(request, options)), exchange),
      );
      return answer;
    },
    async close() {
      isClosed = true;
      await Promise.allSettled(inFlight);
      await pool.destroy();
    },
  };
}

function createPool(
  origin: string,
  { timeoutMs, connections = 64, tls: { ca, cert, key } = {} }: HttpClientOptions,
): Pool {
  return new Pool(origin, {
    connections,
    // HTTP/1.1 with one request per connection at a time: a broken connection concerns exactly one
    // request, and undici does not resend any.
    allowH2: false,
    pipelining: 1,
    connect: {
      // Shorter than the attempt, so that an unreachable host fails as `not_sent`.
      timeout: Math.max(1, Math.floor(timeoutMs / 2)),
      // Explicit, because NODE_TLS_REJECT_UNAUTHORIZED could otherwise disable it.
      rejectUnauthorized: true,
      ...(ca !== undefined && { ca }),
      ...(cert !== undefined && key !== undefined && { cert, key }),
    },
    headersTimeout: timeoutMs,
    bodyTimeout: timeoutMs,
    // With the default of two seconds, a provider that keeps connections alive for two seconds or
    // less would need a new connection for each request.
    keepAliveTimeoutThreshold: 100,
  });
}

function withApiKey(request: HttpRequest, { apiKey }: HttpClientOptions): HttpRequest {
  if (!apiKey) return request;
  return { ...request, headers: { [apiKey.header]: apiKey.value, ...request.headers } };
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
