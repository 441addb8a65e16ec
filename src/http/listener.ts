/** The listening socket: Node's HTTP server with limits, time-outs and a two-stage stop. */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { inNextTurn, type Clock } from '../clock.ts';
import type { ConnectionCloseReason } from '../telemetry/metrics.ts';
import type { Tracing } from '../telemetry/tracing.ts';
import type { WithRefusalHeaders } from '../context/operation.ts';
import { announcesBody } from './body.ts';
import {
  createClientErrorListener,
  RequestTooSlow,
  type ClientErrorsOptions,
} from './client-errors.ts';
import { type ConnectionLimits, Connections, limitConnections } from './connections.ts';
import { Exchange } from './exchange.ts';

// A named import evaluates every export of the module and so loads Node's HTTP client (megabytes).
const { createServer } = process.getBuiltinModule('node:http');

/** How long a body may take to arrive completely. */
const bodyMs = 30_000;

/** How long a multipart form may take: enough for 10 MiB at 300 kbit/s. */
const slowBodyMs = 300_000;

/** Bytes of a form that must arrive in each further {@link bodyMs}: 32 kbit/s. */
const slowBodyBytes = 120_000;

const listenerLimits = {
  headersTimeout: 10_000,
  // Node has one limit for all requests; `watchBodyProgress` enforces the shorter ones.
  requestTimeout: slowBodyMs + 10_000,
  connectionsCheckingInterval: 1_000,
  // Longer than the idle time-out of common load balancers (60 s), which otherwise reuse a
  // connection that is closing.
  keepAliveTimeout: 65_000,
  maxHeaderSize: 16 * 1024,
  // The pipeline refuses a missing Host, so that the reply has the usual error body.
  requireHostHeader: false,
};

/** How long requests in flight may take to finish once the service stops. */
const drainMs = 15_000;

/**
 * How long a stop leaves idle connections open: a request may be on its way. Its reply tells the
 * client that the connection closes.
 */
const graceMs = 500;

export interface ListenerOptions {
  readonly clock: Clock;
  /** Returns the digest that the log shows in place of a caller's id. */
  digest(callersId: string): string;
  /** Null: no traces. */
  readonly tracing: Tracing | null;
  readonly connectionLimits: ConnectionLimits;
  /** Answers a request; it never rejects. */
  handle(exchange: Exchange): Promise<void>;
  readonly refusalSource: WithRefusalHeaders;
  readonly complete: ClientErrorsOptions['complete'];
  readonly onRefused: ClientErrorsOptions['onRefused'];
  /** Called when a connection is closed because of what its client does. */
  onConnectionClosed(reason: ConnectionCloseReason): void;
}

export interface Listener {
  /**
   * @param port 0 takes any free one.
   * @throws Error when the address cannot be listened on.
   */
  listen(host: string, port: number): Promise<AddressInfo>;
  /**
   * Stops accepting. Each connection ends with its next reply, or after half a second without a
   * request; resolves when all have ended, or were cut after 15 s.
   */
  stop(): Promise<void>;
}

/** Makes a server that keeps the limits and stops in two stages; it does not listen yet. */
export function createListener(options: ListenerOptions): Listener {
  const { clock, refusalSource, complete, onRefused, onConnectionClosed } = options;
  const server = createServer(listenerLimits);
  const idle = idleConnections(server, clock, () => connections.closeUnused());
  let isStopping = false;
  const start = (exchange: Exchange): void => {
    const { request } = exchange;
    if (announcesBody(request)) {
      watchBodyProgress(exchange, clock, () => onClientError(new RequestTooSlow(), request.socket));
    }
    void options.handle(exchange);
  };
  const onSent = (): void => {
    // The head of a long reply may date from before the stop, and so leave the connection open.
    if (isStopping) idle.closeAfterGrace();
  };
  const connections = new Connections({ clock, start, onSent, onCut: onConnectionClosed });
  const onClientError = createClientErrorListener({
    connections,
    clock,
    refusalSource,
    complete,
    onRefused,
  });
  const receive = (
    request: IncomingMessage,
    response: ServerResponse,
    awaitsContinue = false,
  ): void => {
    // Node parses everything that it has read, even after the connection was closed.
    if (request.socket.destroyed) return;
    const { digest, tracing } = options;
    const facts = { startedAt: clock.now(), digest, tracing };
    const exchange = new Exchange({ request, response }, facts);
    exchange.awaitsContinue = awaitsContinue;
    // A connection that breaks during the reply needs no handling.
    response.on('error', ignore);
    connections.open(exchange);
  };
  limitConnections(server, options.connectionLimits, onConnectionClosed);
  server.on('connection', (socket: Socket) => {
    if (!socket.destroyed) connections.add(socket);
  });
  server.on('request', (request, response) => receive(request, response));
  server.on('checkContinue', (request, response) => receive(request, response, true));
  // Any other expectation may be ignored (RFC 9110, section 10.1.1).
  server.on('checkExpectation', (request, response) => receive(request, response));
  server.on('clientError', onClientError);
  return {
    listen: (host, port) => listen(server, host, port),
    stop() {
      isStopping = true;
      idle.closeAfterGrace();
      return close(server, clock).then(() => {
        isStopping = false;
        idle.cancel();
        // The server may close before its last sockets emit `close`.
        return connections.allClosed();
      });
    },
  };
}

function ignore(): void {
  // Nothing is left to do.
}

interface IdleConnections {
  /** Closes them after {@link graceMs}; a further call restarts the wait. */
  closeAfterGrace(): void;
  cancel(): void;
}

/** Keeps the server's `close` from closing idle connections at once. */
function idleConnections(server: Server, clock: Clock, closeUnused: () => void): IdleConnections {
  const closeIdle = server.closeIdleConnections.bind(server);
  server.closeIdleConnections = ignore;
  let cancel = ignore;
  const closeBoth = (): void => {
    closeIdle();
    closeUnused();
  };
  return {
    closeAfterGrace() {
      cancel();
      // To close a connection with an unread request resets it: what has arrived is read first.
      cancel = clock.after(graceMs, () => inNextTurn(closeBoth));
    },
    cancel: () => cancel(),
  };
}

/**
 * Calls `refuse` when the body does not arrive in time or a form arrives too slowly, even after the
 * reply has been sent.
 */
function watchBodyProgress(exchange: Exchange, clock: Clock, refuse: () => void): void {
  const { request } = exchange;
  let waitedMs = 0;
  let bytesRead = 0;
  const check = (): void => {
    if (request.complete) return;
    waitedMs += bodyMs;
    // Unread bytes mean that this process causes the delay, not the client.
    const isSlow =
      request.socket.bytesRead - bytesRead < slowBodyBytes && request.readableLength === 0;
    const isLate = waitedMs >= (exchange.allowsSlowBody ? slowBodyMs : bodyMs);
    if (isLate || (waitedMs > bodyMs && isSlow)) {
      refuse();
      return;
    }
    ({ bytesRead } = request.socket);
    cancel = clock.after(bodyMs, check);
  };
  let cancel = clock.after(bodyMs, check);
  request.on('close', () => cancel());
}

function listen(server: Server, host: string, port: number): Promise<AddressInfo> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ host, port }, () => {
      server.off('error', reject);
      resolve(server.address() as AddressInfo);
    });
  });
}

function close(server: Server, clock: Clock): Promise<void> {
  return new Promise((resolve) => {
    const cancel = clock.after(drainMs, () => server.closeAllConnections());
    // The callback's only possible error is that the server never listened.
    server.close(() => {
      cancel();
      resolve();
    });
  });
}
