/**
 * HTTP to the provider: the only place that opens a socket to it. It hands on the status and the
 * JSON of an answer that has come whole; everything else is a {@link ProviderError} that says
 * whether the request can have been carried out.
 */
import { Pool, type Dispatcher } from 'undici';
import { ProviderError } from '../outcome.ts';

export interface HttpRequest {
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** Below the base address, with its query. */
  readonly path: string;
  readonly token?: string;
  /** Sent as JSON. */
  readonly body?: unknown;
  readonly signal?: AbortSignal;
  readonly requestId?: string;
}

export interface HttpAnswer {
  readonly status: number;
  /** What the provider asks to wait before the next try, in milliseconds. */
  readonly retryAfterMs: number | undefined;
  /** The parsed JSON; undefined when the body is empty or no JSON. */
  readonly json: unknown;
}

export interface HttpClient {
  /** @throws ProviderError when no whole answer has come. */
  send(request: HttpRequest): Promise<HttpAnswer>;
  close(): Promise<void>;
}

export interface HttpClientOptions {
  /** Without a slash at its end; it may have a path. */
  readonly baseUrl: string;
  /** Of one attempt; the caller's signal ends it, this bounds its parts. */
  readonly timeoutMs: number;
}

/** No answer that is of use is longer: a statement's page has some hundred KiB. */
const maxAnswerBytes = 1024 * 1024;

/** Made once for each provider; it holds the connections. */
export function createHttpClient({ baseUrl, timeoutMs }: HttpClientOptions): HttpClient {
  const { origin, pathname } = new URL(baseUrl);
  const basePath = pathname === '/' ? '' : pathname;
  const pool = new Pool(origin, {
    connections: 64,
    // Shorter than the attempt, so that a host that takes no connection is told as such: then
    // nothing was sent.
    connect: { timeout: Math.max(1, Math.floor(timeoutMs / 2)) },
    headersTimeout: timeoutMs,
    bodyTimeout: timeoutMs,
    // A provider that keeps connections for two seconds or less would otherwise get a new one for
    // each request: the default threshold is a second.
    keepAliveTimeoutThreshold: 100,
    maxResponseSize: maxAnswerBytes,
  });
  return {
    send: (request) => send(pool, basePath, request),
    close: () => pool.destroy(),
  };
}

async function send(pool: Pool, basePath: string, request: HttpRequest): Promise<HttpAnswer> {
  try {
    const answer = await pool.request({
      method: request.method,
      path: basePath + request.path,
      headers: headersOf(request),
      body: request.body === undefined ? null : JSON.stringify(request.body),
      ...(request.signal && { signal: request.signal }),
    });
    return { status: answer.statusCode, ...(await readAnswer(answer)) };
  } catch (error) {
    throw failureOf(error, request.signal);
  }
}

function headersOf({ token, body, requestId }: HttpRequest): Record<string, string> {
  return {
    accept: 'application/json',
    ...(body !== undefined && { 'content-type': 'application/json' }),
    ...(token !== undefined && { authorization: `Bearer ${token}` }),
    ...(requestId !== undefined && { 'x-request-id': requestId }),
  };
}

/** The body is always read to its end or cut: an unread one would block its connection. */
async function readAnswer(
  answer: Dispatcher.ResponseData,
): Promise<Pick<HttpAnswer, 'json' | 'retryAfterMs'>> {
  const text = await answer.body.text();
  return { json: parseJson(text), retryAfterMs: retryAfter(answer.headers['retry-after']) };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** RFC 9110, section 10.2.3, in its form as seconds; a date would need the provider's clock. */
function retryAfter(header: string | string[] | undefined): number | undefined {
  const text = Array.isArray(header) ? header[0] : header;
  return text !== undefined && /^\d{1,6}$/.test(text) ? Number(text) * 1_000 : undefined;
}

/** Errors before a connection stands: nothing of the request can have left. */
const beforeConnecting = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EHOSTDOWN',
  'ENETDOWN',
  'EADDRNOTAVAIL',
  'UND_ERR_CONNECT_TIMEOUT',
]);

/** Names of the errors with which OpenSSL and Node end a handshake. */
const handshakeFailure = /^(?:ERR_TLS_|ERR_SSL_|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO_|EPROTO$)/;

function failureOf(error: unknown, signal: AbortSignal | undefined): unknown {
  const code = codeOf(error);
  if (code !== null && (beforeConnecting.has(code) || handshakeFailure.test(code))) {
    return unreachable(error);
  }
  if (signal?.aborted || code?.endsWith('_TIMEOUT')) return timedOut(error);
  if (code === 'UND_ERR_RES_EXCEEDED_MAX_SIZE') return oversized(error);
  return broken(error);
}

/** The code of an error or of what brought it about: of several addresses, each may have failed. */
function codeOf(error: unknown): string | null {
  if (!(error instanceof Error)) return null;
  if (error instanceof AggregateError && error.errors.length > 0) return codeOf(error.errors[0]);
  if ('code' in error && typeof error.code === 'string') return error.code;
  return codeOf(error.cause);
}

function unreachable(cause: unknown): ProviderError {
  return new ProviderError({
    outcome: 'not_sent',
    code: 'PROVIDER_UNAVAILABLE',
    statusClass: 'connect',
    retryable: true,
    cause,
  });
}

function timedOut(cause: unknown): ProviderError {
  return new ProviderError({
    outcome: 'unknown',
    code: 'PROVIDER_TIMEOUT',
    statusClass: 'timeout',
    retryable: true,
    cause,
  });
}

/** The connection broke after bytes may have left. */
function broken(cause: unknown): ProviderError {
  return new ProviderError({
    outcome: 'unknown',
    code: 'PROVIDER_UNAVAILABLE',
    statusClass: 'reset',
    retryable: true,
    cause,
  });
}

function oversized(cause: unknown): ProviderError {
  return new ProviderError({
    outcome: 'unknown',
    code: 'PROVIDER_INVALID_RESPONSE',
    statusClass: 'invalid',
    cause,
  });
}
