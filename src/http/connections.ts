/**
 * Tracks and limits the open connections: their number, their requests, how many of these run
 * concurrently, and whether the client reads its replies.
 */
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Clock } from '../clock.ts';
import type { ConnectionCloseReason } from '../telemetry/metrics.ts';
import { throttleAddress } from './client-address.ts';
import type { Exchange } from './exchange.ts';

/** How many requests of one connection run concurrently; further ones wait. */
const maxRunning = 4;

/**
 * How many requests of one connection may run or wait. Node parses everything that it has read from
 * a socket, up to 64 KiB, before the socket can be paused: one read can yield thousands of
 * requests.
 */
const maxOpen = 32;

/**
 * How long a reply may make no progress before its connection is closed. The kernel's buffer
 * hides some progress: it accepts more only when a third of it is free, and it grows to 4 MiB on
 * fast networks.
 */
const stalledAfterMs = 30_000;

const checkIntervalMs = 5_000;

interface ConnectionsOptions {
  readonly clock: Clock;
  /** Handles a request: at once, or when earlier requests of its connection are done. */
  start(exchange: Exchange): void;
  /** Called when a whole reply has been passed to the network. */
  onSent(): void;
  /** Called when a connection is closed because of what its client does. */
  onCut(reason: ConnectionCloseReason): void;
}

interface Connection {
  /** The requests without a complete reply, in the order of arrival. */
  readonly exchanges: Exchange[];
  /** Those of them that do not run yet. */
  readonly waiting: Exchange[];
  readonly progress: WriteProgress;
}

/** The connections of one server. */
export class Connections {
  readonly #options: ConnectionsOptions;
  readonly #open = new Map<Socket, Connection>();
  #isWatching = false;

  constructor(options: ConnectionsOptions) {
    this.#options = options;
  }

  /** Tracks a connection until it closes. */
  add(socket: Socket): void {
    const connection = { exchanges: [], waiting: [], progress: new WriteProgress(socket) };
    this.#open.set(socket, connection);
    // Node resumes the socket after each message that it has parsed.
    socket.on('resume', () => {
      if (connection.waiting.length > 0) socket.pause();
    });
    socket.once('close', () => this.#close(socket, connection));
  }

  /** Starts a request, and tracks it until its reply has been sent or its connection is closed. */
  open(exchange: Exchange): void {
    const { start, onSent, onCut } = this.#options;
    const { socket } = exchange.request;
    const connection = this.#open.get(socket);
    if (connection === undefined) return;
    const { exchanges, waiting } = connection;
    if (exchanges.length === maxOpen) {
      onCut('pipelined');
      ignoreFurtherRequests(socket);
      socket.destroy();
      return;
    }
    exchanges.push(exchange);
    // Emitted once: `once` would make a further function.
    exchange.response.on('finish', () => {
      exchanges.splice(exchanges.indexOf(exchange), 1);
      exchange.end(true);
      this.#startNext(connection, socket);
      onSent();
    });
    if (exchanges.length - waiting.length <= maxRunning) start(exchange);
    else waiting.push(exchange);
    if (waiting.length > 0) socket.pause();
    this.#watch();
  }

  /** The requests of a connection without a complete reply, in order. */
  openOn(socket: Socket): readonly Exchange[] {
    return this.#open.get(socket)?.exchanges ?? [];
  }

  /** Closes the connections on which nothing has arrived yet, such as a balancer's spare ones. */
  closeUnused(): void {
    for (const socket of this.#open.keys()) {
      if (socket.bytesRead === 0) socket.destroy();
    }
  }

  /** @returns a promise that resolves when all connections are closed. */
  async allClosed(): Promise<void> {
    const sockets = [...this.#open.keys()];
    await Promise.all(
      sockets.map((socket) => new Promise((closed) => socket.once('close', closed))),
    );
  }

  /** Also starts the waiting requests of a closed connection: they end at once and are logged. */
  #close(socket: Socket, { exchanges, waiting }: Connection): void {
    this.#open.delete(socket);
    for (const exchange of exchanges.splice(0)) exchange.end(false);
    for (const exchange of waiting.splice(0)) this.#options.start(exchange);
  }

  #startNext({ exchanges, waiting }: Connection, socket: Socket): void {
    const next = exchanges.length - waiting.length < maxRunning ? waiting.shift() : undefined;
    if (next) this.#options.start(next);
    if (waiting.length === 0) socket.resume();
  }

  /** Checks the connections as long as there are requests without a complete reply. */
  #watch(): void {
    if (this.#isWatching) return;
    this.#isWatching = true;
    this.#options.clock.after(checkIntervalMs, () => {
      this.#isWatching = false;
      const nowMs = this.#options.clock.now().getTime();
      for (const [socket, { exchanges, progress }] of this.#open) {
        if (exchanges.length === 0) continue;
        this.#watch();
        if (progress.stalledMs(nowMs) < stalledAfterMs) continue;
        this.#options.onCut('stalled');
        // A reset frees the kernel's buffer, which the client does not read.
        socket.resetAndDestroy();
      }
    });
  }
}

/**
 * Makes Node ignore the requests that it has already read. Node parses them even after the socket
 * was destroyed, and creates two errors with stacks for each. The property is undocumented; without
 * it the requests only take longer.
 */
function ignoreFurtherRequests(socket: Socket & { parser?: { onIncoming: unknown } | null }): void {
  if (socket.parser) socket.parser.onIncoming = () => 0;
}

/**
 * Undeclared fields of Node: the bytes passed to the handle, and those that the kernel has not
 * accepted yet. The public `bytesWritten` and `writableLength` count a write only when the kernel
 * has accepted all of it, so a long reply to a slow client would appear stalled.
 */
interface Handle {
  readonly bytesWritten: number;
  readonly writeQueueSize: number;
}

/** The sending progress of one socket. */
class WriteProgress {
  readonly #socket: Socket & { readonly _handle?: Handle | null };
  #sentBytes = 0;
  #movedAtMs: number | null = null;

  constructor(socket: Socket) {
    this.#socket = socket;
  }

  /**
   * Checks the socket.
   *
   * @param nowMs the current time, in milliseconds.
   * @returns for how long bytes have been waiting without progress, in milliseconds; 0 when nothing
   *   is to be sent.
   */
  stalledMs(nowMs: number): number {
    const { _handle: handle, writableLength } = this.#socket;
    if (!handle || writableLength === 0) {
      this.#movedAtMs = null;
      return 0;
    }
    const sentBytes = handle.bytesWritten - handle.writeQueueSize;
    if (this.#movedAtMs === null || sentBytes !== this.#sentBytes) {
      this.#sentBytes = sentBytes;
      this.#movedAtMs = nowMs;
    }
    return nowMs - this.#movedAtMs;
  }
}

export interface ConnectionLimits {
  readonly total: number;
  /** The connections from one address; 0 sets no limit. */
  readonly perAddress: number;
}

/**
 * Closes each connection that exceeds a limit as soon as it is accepted.
 *
 * @param onRefused is called for each of them.
 */
export function limitConnections(
  server: Server,
  { total, perAddress }: ConnectionLimits,
  onRefused: (reason: ConnectionCloseReason) => void,
): void {
  server.maxConnections = total;
  server.on('drop', () => onRefused('total'));
  if (perAddress === 0) return;
  const openByAddress = new Map<string, number>();
  server.on('connection', (socket: Socket) => {
    const address = throttleAddress(socket.remoteAddress ?? '');
    const open = openByAddress.get(address) ?? 0;
    if (open >= perAddress) {
      onRefused('per_address');
      socket.destroy();
      return;
    }
    openByAddress.set(address, open + 1);
    socket.once('close', () => {
      const left = (openByAddress.get(address) ?? 0) - 1;
      if (left > 0) openByAddress.set(address, left);
      else openByAddress.delete(address);
    });
  });
}
