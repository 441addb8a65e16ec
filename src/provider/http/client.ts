/**
 * HTTP to the provider: the only place that opens a socket to it. It hands on the status and the
 * JSON of an answer that has come whole; everything else is a {@link ProviderError} that says
 * whether the request can have been carried out.
 */
import type { Readable } from 'node:stream';
import { Pool } from 'undici';
import { systemClock, type Clock } from '../../clock.ts';
import { Exchange, type HttpAnswer } from './exchange.ts';
import { closed } from './failure.ts';

export type { HttpAnswer } from './exchange.ts';

/** A body that is written while it is read; how long that may take, its caller's signal tells. */
export interface Upload {
  readonly contentType: string;
  /** Exactly as many as the content has. */
  readonly sizeBytes: number;
  readonly content: AsyncIterable<Uint8Array>;
}

export interface HttpRequest {
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** Below the base address, with its query. */
  readonly path: string;
  readonly token?: string;
  /** Sent as JSON; a Buffer holds the JSON already. */
  readonly body?: unknown;
  /** Sent in place of a JSON body. */
  readonly upload?: Upload;
  /** Further headers, by their lower-case names. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
  readonly requestId?: string;
}

export interface HttpClient {
  /** @throws ProviderError when no whole answer has come. */
  send(request: HttpRequest): Promise<HttpAnswer>;
  /** Sends nothing more, waits for what is under way, and closes the connections. */
  close(): Promise<void>;
}

export interface HttpClientOptions {
  /** It may have a path. */
  readonly baseUrl: string;
  /**
   * Of one attempt; the caller's signal ends it, this bounds its parts. A request that has not left
   * by then never does: others count on it, who take over what a stopped process had in hand.
   */
  readonly timeoutMs: number;
  /** PEMs: the authorities to trust in place of Node's, and what proves who this service is. */
  readonly tls?: {
    readonly ca?: string | undefined;
    readonly cert?: string | undefined;
    readonly key?: string | undefined;
  };
  /** Sent with every request. */
  readonly apiKey?: { readonly header: string; readonly value: string } | null;
  /** How many there may be, one for each attempt under way; 64 by default. */
  readonly connections?: number;
  readonly clock?: Clock;
  /** Carries the requests in place of a pool of connections. */
  readonly dispatcher?: Pick<Pool, 'dispatch' | 'destroy'>;
}

/** Made once for each provider; it holds the connections. */
export function createHttpClient(options: HttpClientOptions): HttpClient {
  const { clock = systemClock, timeoutMs } = options;
  const { origin, pathname } = new URL(options.baseUrl);
  const basePath = pathname.replace(/\/+$/, '');
  const pool = options.dispatcher ?? createPool(origin, options);
  const underWay = new Set<Promise<HttpAnswer>>();
  let isClosed = false;
  return {
    send(request) {
      if (isClosed) return Promise.reject<HttpAnswer>(closed());
      const begunAtMs = clock.now().getTime();
      const isInTime = (): boolean => clock.now().getTime() - begunAtMs < timeoutMs;
      const exchange = new Exchange(request.signal, isInTime);
      const answer = exchange.answer.finally(() => underWay.delete(answer));
      underWay.add(answer);
      exchange.begin(() =>
        pool.dispatch(written(basePath, withApiKey(request, options)), exchange),
      );
      return answer;
    },
    async close() {
      isClosed = true;
      await Promise.allSettled(underWay);
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
    // HTTP/1.1, and one request on a connection at a time: when the connection breaks, it is known
    // which request that concerns, and none is sent again unasked.
    allowH2: false,
    pipelining: 1,
    connect: {
      // Shorter than the attempt, so that a host that takes no connection is told as such: then
      // nothing was sent.
      timeout: Math.max(1, Math.floor(timeoutMs / 2)),
      // Said aloud, or the environment (NODE_TLS_REJECT_UNAUTHORIZED) could switch it off.
      rejectUnauthorized: true,
      ...(ca !== undefined && { ca }),
      ...(cert !== undefined && key !== undefined && { cert, key }),
    },
    headersTimeout: timeoutMs,
    bodyTimeout: timeoutMs,
    // A provider that keeps connections for two seconds or less would otherwise get a new one for
    // each request: the default threshold is two seconds.
    keepAliveTimeoutThreshold: 100,
  });
}

function withApiKey(request: HttpRequest, { apiKey }: HttpClientOptions): HttpRequest {
  if (!apiKey) return request;
  return { ...request, headers: { [apiKey.header]: apiKey.value, ...request.headers } };
}

function written(basePath: string, request: HttpRequest) {
  const { method, path, body, upload } = request;
  return {
    method,
    path: basePath + path,
    headers: headersOf(request),
    // Undici takes any iterable, and reads no more of it than it can write; its types know of one.
    body: upload === undefined ? jsonOf(body) : (upload.content as Readable),
    ...(upload && { headersTimeout: 0 }),
  };
}

function jsonOf(body: unknown): Buffer | null {
  if (body === undefined) return null;
  return Buffer.isBuffer(body) ? body : Buffer.from(JSON.stringify(body), 'utf8');
}

function headersOf(request: HttpRequest): Record<string, string> {
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
