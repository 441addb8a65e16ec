/** The connections to the provider: the only code that opens a socket to it. */
import { Pool } from 'undici';
import { createHttpClient, type HttpClient, type HttpClientOptions } from './client.ts';

export interface PooledClientOptions extends Omit<HttpClientOptions, 'dispatcher'> {
  /** PEMs: the authorities to trust instead of Node's, and the client certificate with its key. */
  readonly tls?: {
    readonly ca?: string | undefined;
    readonly cert?: string | undefined;
    readonly key?: string | undefined;
  };
  /** The largest number of connections, one for each attempt in flight; 64 by default. */
  readonly connections?: number;
}

/** Creates a client with a connection pool. */
export function createPooledClient(options: PooledClientOptions): HttpClient {
  return createHttpClient({ ...options, dispatcher: createPool(options) });
}

function createPool({
  baseUrl,
  timeoutMs,
  connections = 64,
  tls: { ca, cert, key } = {},
}: PooledClientOptions): Pool {
  return new Pool(new URL(baseUrl).origin, {
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
