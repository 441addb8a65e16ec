/**
 * The connections of payments and returns. Each attempt has one of its own, which is closed after
 * the response, or a stream of a shared one where the bank speaks HTTP/2.
 */
import type { Socket } from 'node:net';
import { Client } from 'undici';
import type { Clock } from '../../clock.ts';
import type { OwnConnection, WireRequest } from './client.ts';
import type { DispatchHandler } from './dispatch-handler.ts';
import { Http2Connection } from './http2-connection.ts';

/** How long HTTP/2 is not offered after a side has not kept to it. */
const distrustMs = 60_000;

export interface OwnConnectionsOptions {
  readonly origin: URL;
  readonly clock: Clock;
  /** Opens a connection; the bank decides whether it speaks the HTTP/2 that is offered. */
  readonly connect: (offersHttp2: boolean) => Promise<Socket>;
  readonly timeoutMs: number;
  /** undici's, for connections of HTTP/1.1. */
  readonly settings: Client.Options;
}

/** What carries a request, until the request is over. */
interface Use {
  connection: Http2Connection | LoneClient | null;
  isOver: boolean;
}

/** Opens the connections of payments and returns, and closes those of HTTP/2. */
export class OwnConnections {
  readonly #options: OwnConnectionsOptions;
  readonly #shared = new Set<Http2Connection>();
  /** Whether the newest connection speaks HTTP/2. */
  #speaksHttp2 = false;
  #distrustedUntilMs = 0;
  /** Resolves when the connection that several requests wait for is there, or has failed. */
  #opening: Promise<void> | null = null;

  constructor(options: OwnConnectionsOptions) {
    this.#options = options;
  }

  /** Opens a connection for one request, when this is dispatched. */
  open(): OwnConnection {
    const use: Use = { connection: null, isOver: false };
    return {
      dispatch: (request, handler) => {
        this.#carry(use, request, handler).catch((error: unknown) =>
          handler.onResponseError(null, error as Error),
        );
      },
      hasSurplus: () => use.connection?.hasSurplus() ?? false,
      destroy: async (error) => {
        use.isOver = true;
        if (use.connection instanceof LoneClient) await use.connection.destroy(error);
      },
    };
  }

  /** Closes the shared connections. */
  destroy(): void {
    for (const connection of this.#shared) connection.close();
  }

  async #carry(use: Use, request: WireRequest, handler: DispatchHandler): Promise<void> {
    let connection: Use['connection'] = this.findFree();
    while (connection === null && this.#opening !== null) {
      await this.#opening;
      connection = this.findFree();
    }
    if (use.isOver) return;
    connection ??= await this.#open();
    use.connection = connection;
    // Over a shared one nothing is sent for a request that is over.
    if (use.isOver && connection instanceof LoneClient) connection.discard();
    else connection.dispatch(request, handler);
  }

  /** @returns a shared connection that carries a further request now. */
  findFree(): Http2Connection | null {
    if (this.#isDistrusted()) return null;
    return this.#shared.values().find(({ isFree }) => isFree) ?? null;
  }

  #open(): Promise<Http2Connection | LoneClient> {
    const isForSeveral = this.#speaksHttp2;
    // So that each request opens its own when this fails.
    this.#speaksHttp2 = false;
    const opened = this.#connect();
    if (isForSeveral) {
      const end = (): void => {
        this.#opening = null;
      };
      this.#opening = opened.then((one) => ('ready' in one ? one.ready : undefined)).then(end, end);
    }
    return opened;
  }

  async #connect(): Promise<Http2Connection | LoneClient> {
    const { origin, clock, timeoutMs, settings } = this.#options;
    const socket = await this.#options.connect(!this.#isDistrusted());
    this.#speaksHttp2 = 'alpnProtocol' in socket && socket.alpnProtocol === 'h2';
    if (!this.#speaksHttp2) return new LoneClient(origin, socket, settings);
    const connection: Http2Connection = new Http2Connection(socket, {
      origin,
      clock,
      timeoutMs,
      onFault: () => (this.#distrustedUntilMs = this.#nowMs() + distrustMs),
      onClose: () => this.#shared.delete(connection),
    });
    this.#shared.add(connection);
    return connection;
  }

  #isDistrusted(): boolean {
    return this.#nowMs() < this.#distrustedUntilMs;
  }

  #nowMs(): number {
    return this.#options.clock.now().getTime();
  }
}

/** The connection of one request. */
class LoneClient extends Client {
  readonly #socket: Socket;

  constructor(origin: URL, socket: Socket, settings: Client.Options) {
    super(origin, {
      ...settings,
      connect: (_target, callback) => queueMicrotask(() => callback(null, socket)),
    });
    this.#socket = socket;
  }

  /** Closes it before it has carried a request. */
  discard(): void {
    this.#socket.destroy();
  }

  /** undici closes a connection with one of these errors when more comes than the response. */
  hasSurplus(): boolean {
    const { errored } = this.#socket;
    return errored?.name === 'HTTPParserError' || errored?.message === 'bad response';
  }
}
