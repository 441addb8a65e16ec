/** A listening socket: node's HTTP server with its limits, its time-outs and its two-stage stop. */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Clock } from '../clock.ts';
import type { ConnectionCloseReason } from '../metrics.ts';
import type { Refusing } from './operation.ts';
import { announcesBody } from './body.ts';
import {
  createClientErrorListener,
  RequestTooSlow,
  type ClientErrorsOptions,
} from './client-errors.ts';
import { limitConnections, type ConnectionLimits } from './connection-limits.ts';
import { Connections } from './connections.ts';
import { Exchange } from './exchange.ts';

// An import by name reads every export, and so loads Node's own client of HTTP and its megabytes.
const { createServer } = process.getBuiltinModule('node:http');

/** How long a body may take to come in whole. */
const BODY_MS = 30_000;

/** The same for a form: enough for 10 MiB at 300 kbit/s. */
const SLOW_BODY_MS = 300_000;

/** What has to come of a form in each further {@link BODY_MS}: 32 kbit/s. */
const SLOW_BODY_BYTES = 120_000;

const LIMITS = {
  headersTimeout: 10_000,
  // Node has one limit for all requests: the shorter ones are kept here.
  requestTimeout: SLOW_BODY_MS + 10_000,
  connectionsCheckingInterval: 1_000,
  // Longer than the idle time of common balancers (60 s), or they reuse a connection as it closes.
  keepAliveTimeout: 65_000,
  maxHeaderSize: 16 * 1024,
  // A missing Host is refused by the stages, so that the answer has its usual form.
  requireHostHeader: false,
};

/** How long requests in flight may take to finish once the service stops. */
const DRAIN_MS = 15_000;

export interface ListenerOptions {
  readonly clock: Clock;
  /** Makes of an id that a caller has given what the log has in its place. */
  digest(callersId: string): string;
  readonly connectionLimits: ConnectionLimits;
  /** Answers a request; it never rejects. */
  handle(exchange: Exchange): Promise<void>;
  readonly refusing: Refusing;
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
   * Stops accepting and closes idle connections; resolves when the others have finished, or were
   * cut after 15 s.
   */
  stop(): Promise<void>;
}

/** Makes a server that keeps the limits and stops in two stages; it does not listen yet. */
export function createListener(options: ListenerOptions): Listener {
  const { clock, refusing, onRefused, onConnectionClosed } = options;
  const connections = new Connections({ clock, onCut: onConnectionClosed });
  const server = createServer(LIMITS);
  let isStopping = false;
  const onClientError = createClientErrorListener({ connections, clock, refusing, onRefused });
  const start = (exchange: Exchange): void => {
    const { request } = exchange;
    if (announcesBody(request)) {
      whenLate(exchange, clock, () => onClientError(new RequestTooSlow(), request.socket));
    }
    void options.handle(exchange);
  };
  const whenSent = (): void => {
    if (isStopping) server.closeIdleConnections();
  };
  const receive = (
    request: IncomingMessage,
    response: ServerResponse,
    awaitsContinue = false,
  ): void => {
    // Node parses what it has read to its end, although the connection was cut in between.
    if (request.socket.destroyed) return;
    const { digest } = options;
    const exchange = new Exchange({ request, response }, { startedAt: clock.now(), digest });
    exchange.awaitsContinue = awaitsContinue;
    // A connection that breaks under an answer is the client's affair.
    response.on('error', () => undefined);
    connections.open(exchange, () => start(exchange), whenSent);
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
      const stopped = close(server, clock);
      connections.closeUnused();
      // The server may be closed before its last sockets tell that they are.
      return stopped.then(() => connections.allClosed());
    },
  };
}

/**
 * Calls `refuse` when the body is not all here in its time, or a form comes so slowly that it would
 * take a place from others; whether or not it was answered.
 */
function whenLate(exchange: Exchange, clock: Clock, refuse: () => void): void {
  const { request } = exchange;
  let waitedMs = 0;
  let bytesRead = 0;
  const check = (): void => {
    if (request.complete) return;
    waitedMs += BODY_MS;
    // Bytes that wait to be read here show that the delay is not the client's.
    const isSlow =
      request.socket.bytesRead - bytesRead < SLOW_BODY_BYTES && request.readableLength === 0;
    const isLate = waitedMs >= (exchange.mayComeSlowly ? SLOW_BODY_MS : BODY_MS);
    if (isLate || (waitedMs > BODY_MS && isSlow)) {
      refuse();
      return;
    }
    ({ bytesRead } = request.socket);
    cancel = clock.after(BODY_MS, check);
  };
  let cancel = clock.after(BODY_MS, check);
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
    const cancel = clock.after(DRAIN_MS, () => server.closeAllConnections());
    // A server that never listened says so, and is as closed as one can be.
    server.close(() => {
      cancel();
      resolve();
    });
  });
}
