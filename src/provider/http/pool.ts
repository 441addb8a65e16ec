/** The connections to the provider: the only code that opens a socket to it. */
import type { Socket } from 'node:net';
import { createSecureContext } from 'node:tls';
import { buildConnector, Client, Pool } from 'undici';
import { systemClock, type Clock } from '../../clock.ts';
import { createHttpClient, type HttpClient, type HttpClientOptions } from './client.ts';
import { OwnConnections } from './own-connections.ts';

export interface PooledClientOptions extends Omit<
  HttpClientOptions,
  'dispatcher' | 'openConnection'
> {
  /** PEMs: the authorities to trust instead of Node's, and the client certificate with its key. */
  readonly tls?: {
    readonly ca?: string | undefined;
    readonly cert?: string | undefined;
    readonly key?: string | undefined;
  };
  /** The largest number of shared connections, in use or at rest; 64 by default. */
  readonly connections?: number;
  /** Times the rests of connections; by default the computer's, as for undici's time-outs. */
  readonly restClock?: Clock;
}

/**
 * Creates a client with a pool of connections that requests share, one after the other, and with
 * connections of their own, or streams of HTTP/2, for requests that want one. Other requests with
 * JSON take a stream, too, while there is a connection with streams.
 */
export function createPooledClient(options: PooledClientOptions): HttpClient {
  const { baseUrl, timeoutMs, connections = 64, restClock = systemClock } = options;
  const origin = new URL(new URL(baseUrl).origin);
  const connectors = createConnectors(options);
  const settings = {
    connect: connectors.http1,
    // HTTP/1.1 with one request per connection at a time: a broken connection concerns exactly one
    // request, and undici does not resend any.
    allowH2: false,
    pipelining: 1,
    headersTimeout: timeoutMs,
    bodyTimeout: timeoutMs,
  };
  const dispatcher = new RestingPool(origin, restClock, {
    ...settings,
    connections,
    // With the default of two seconds, a provider that keeps connections alive for two seconds or
    // less would need a new connection for each request.
    keepAliveTimeoutThreshold: 100,
  });
  const { host, hostname, protocol, port } = origin;
  const target = { host, hostname: hostname.replaceAll(/[[\]]/g, ''), protocol, port };
  const connect = (offersHttp2: boolean): Promise<Socket> =>
    opened(target, offersHttp2 ? connectors.both : connectors.http1);
  const own = new OwnConnections({ origin, clock: restClock, timeoutMs, connect, settings });
  const client = createHttpClient({
    ...options,
    dispatcher,
    openConnection: () => own.open(),
    findShared: () => own.findFree(),
  });
  return {
    send: (request) => client.send(request),
    async close() {
      await client.close();
      own.destroy();
    },
  };
}

/** undici's connector, with the socket that it returns and that its types leave out. */
type Connect = (...args: Parameters<buildConnector.connector>) => Socket;

/** Creates the connector that offers HTTP/1.1 only, and the one that lets the bank choose. */
function createConnectors({
  timeoutMs,
  tls: { ca, cert, key } = {},
}: Pick<PooledClientOptions, 'timeoutMs' | 'tls'>): Record<'http1' | 'both', Connect> {
  const settings = {
    // Shorter than the attempt, so that an unreachable host fails as `not_sent`.
    timeout: Math.max(1, Math.floor(timeoutMs / 2)),
    // Explicit, because NODE_TLS_REJECT_UNAUTHORIZED could otherwise disable it.
    rejectUnauthorized: true,
    // Made once: otherwise each connection would read the certificates again.
    secureContext: createSecureContext({
      ...(ca !== undefined && { ca }),
      ...(cert !== undefined && key !== undefined && { cert, key }),
    }),
  };
  const http1 = buildConnector({ ...settings, allowH2: false }) as Connect;
  const both = buildConnector({ ...settings, allowH2: true, preferH2: true }) as Connect;
  return { http1: resuming(http1), both: resuming(both) };
}

/** undici holds the sessions of TLS weakly: without this, short connections would resume none. */
function resuming(connect: Connect): Connect {
  const newest: { session?: Buffer } = {};
  return (...args) =>
    connect(...args).on('session', (session: Buffer) => {
      newest.session = session;
    });
}

function opened(target: buildConnector.Options, connect: Connect): Promise<Socket> {
  return new Promise((resolve, reject) => {
    connect(target, (error, socket) => (error === null ? resolve(socket) : reject(error)));
  });
}

/** How long a connection rests after a response, in milliseconds. */
const restMs = 100;

/** More than rest at 600 responses a second; each further one costs a look at each request. */
const maxAtRest = 64;

/**
 * A pool whose connections rest after each response. A gateway that answers twice does so while no
 * request waits there, and undici then closes the connection: the second answer would be that of
 * the next request. A request that would have to wait takes the connection that has rested longest.
 */
class RestingPool extends Pool {
  readonly #clock: Clock;
  /** What ends each rest; the longest is the first. */
  readonly #rests = new Set<() => void>();
  /** Whether the last request has left a connection free, or one that may be opened. */
  #hasFree = true;

  constructor(origin: URL, clock: Clock, options: Pool.Options) {
    const rest = (end: () => void): void => this.#rest(end);
    super(origin, { ...options, factory: (url, shared) => resting(new Client(url, shared), rest) });
    this.#clock = clock;
  }

  override dispatch(...request: Parameters<Pool['dispatch']>): boolean {
    this.#hasFree = super.dispatch(...request);
    if (this.#isAwaited()) this.#wakeOldest();
    return this.#hasFree;
  }

  /** undici looks at each connection for its numbers. */
  #isAwaited(): boolean {
    return !this.#hasFree && this.stats.queued > 0;
  }

  #wakeOldest(): void {
    this.#rests.values().next().value?.();
  }

  #rest(end: () => void): void {
    if (this.#isAwaited()) return end();
    const wake = (): void => {
      cancel();
      this.#rests.delete(wake);
      end();
    };
    const cancel = this.#clock.after(restMs, wake);
    this.#rests.add(wake);
    if (this.#rests.size > maxAtRest) this.#wakeOldest();
  }
}

/** Lets a connection of a pool rest: the pool gives it the next request after `drain`. */
function resting(client: Client, rest: (end: () => void) => void): Client {
  const emit = client.emit.bind(client) as (...event: unknown[]) => boolean;
  client.emit = (...event: unknown[]) => {
    if (event[0] !== 'drain') return emit(...event);
    rest(() => void emit(...event));
    return true;
  };
  return client;
}
