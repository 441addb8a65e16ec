/**
 * The open connections: which requests each has, how many of them run at the same time, and whether
 * the client reads its answers.
 */
import type { Socket } from 'node:net';
import type { Clock } from '../clock.ts';
import type { ConnectionCloseReason } from '../metrics.ts';
import type { Exchange } from './exchange.ts';
import { WriteProgress } from './write-progress.ts';

/** How many requests of one connection run at the same time; further ones wait. */
const MAX_RUNNING = 4;

/**
 * How many requests of one connection may run or wait. Node parses everything that it has read from
 * a socket, up to 64 KiB, before the socket can be paused: without a limit one read makes thousands
 * of requests.
 */
const MAX_OPEN = 32;

/**
 * How long an answer may make no progress before its connection is cut. The kernel's buffer hides
 * some: it takes more only when a third of it is free, and it grows to 4 MiB on fast networks.
 */
const STALLED_MS = 30_000;

const CHECK_INTERVAL_MS = 5_000;

export interface ConnectionsOptions {
  readonly clock: Clock;
  /** Called when a connection is closed because of what its client does. */
  onCut(reason: ConnectionCloseReason): void;
}

interface Connection {
  /** The requests without a complete answer, in the order in which they came. */
  readonly exchanges: Exchange[];
  /** What starts those of them that do not run yet. */
  readonly waiting: (() => void)[];
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

  /** Follows a connection until it closes. */
  add(socket: Socket): void {
    const connection = { exchanges: [], waiting: [], progress: new WriteProgress(socket) };
    this.#open.set(socket, connection);
    // Node resumes the socket after each message that it has parsed.
    socket.on('resume', () => {
      if (connection.waiting.length > 0) socket.pause();
    });
    socket.once('close', () => this.#close(socket, connection));
  }

  /**
   * Follows a request until its answer has been sent or its connection is closed.
   *
   * @param start handles the request: at once, or when earlier ones of its connection are answered.
   * @param whenSent is called when the whole answer has been handed to the network.
   */
  open(exchange: Exchange, start: () => void, whenSent: () => void): void {
    const { socket } = exchange.request;
    const connection = this.#open.get(socket);
    if (connection === undefined) return;
    const { exchanges, waiting } = connection;
    if (exchanges.length === MAX_OPEN) {
      this.#options.onCut('pipelined');
      ignoreFurtherRequests(socket);
      socket.destroy();
      return;
    }
    exchanges.push(exchange);
    exchange.response.once('finish', () => {
      exchanges.splice(exchanges.indexOf(exchange), 1);
      exchange.end(true);
      startNext(connection, socket);
      whenSent();
    });
    if (exchanges.length - waiting.length <= MAX_RUNNING) start();
    else waiting.push(start);
    if (waiting.length > 0) socket.pause();
    this.#watch();
  }

  /** The requests of a connection that have no complete answer yet, in their order. */
  openOn(socket: Socket): readonly Exchange[] {
    return this.#open.get(socket)?.exchanges ?? [];
  }

  /** Closes the connections on which nothing has arrived yet, such as a balancer's spare ones. */
  closeUnused(): void {
    for (const socket of this.#open.keys()) {
      if (socket.bytesRead === 0) socket.destroy();
    }
  }

  /** @returns a promise that is kept when all connections are closed. */
  async allClosed(): Promise<void> {
    const sockets = [...this.#open.keys()];
    await Promise.all(
      sockets.map((socket) => new Promise((closed) => socket.once('close', closed))),
    );
  }

  /** What waits on a closed connection is started too: it ends without work, and is recorded. */
  #close(socket: Socket, { exchanges, waiting }: Connection): void {
    this.#open.delete(socket);
    for (const exchange of exchanges.splice(0)) exchange.end(false);
    for (const start of waiting.splice(0)) start();
  }

  /** Checks the connections as long as there are requests without a complete answer. */
  #watch(): void {
    if (this.#isWatching) return;
    this.#isWatching = true;
    this.#options.clock.after(CHECK_INTERVAL_MS, () => {
      this.#isWatching = false;
      const nowMs = this.#options.clock.now().getTime();
      for (const [socket, { exchanges, progress }] of this.#open) {
        if (exchanges.length === 0) continue;
        this.#watch();
        if (progress.stalledMs(nowMs) < STALLED_MS) continue;
        this.#options.onCut('stalled');
        // A reset frees the answers in the kernel's buffer, which the client would not read.
        socket.resetAndDestroy();
      }
    });
  }
}

/**
 * Node parses all that it has read, also after the socket was destroyed, and makes two errors with
 * stacks for each request: that takes as long as to answer it. The property is not documented;
 * without it the requests would only take longer.
 */
function ignoreFurtherRequests(socket: Socket & { parser?: { onIncoming: unknown } | null }): void {
  if (socket.parser) socket.parser.onIncoming = () => 0;
}

function startNext({ exchanges, waiting }: Connection, socket: Socket): void {
  if (exchanges.length - waiting.length < MAX_RUNNING) waiting.shift()?.();
  if (waiting.length === 0) socket.resume();
}
