/**
 * A proxy between the service and the database server. A test can break, silence and repair its
 * connections without an effect on other tests that use the same server.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

export interface DatabaseProxy {
  /** The address of the same database through the proxy. */
  readonly url: string;
  /** Breaks every connection and refuses new ones. */
  cut(): Promise<void>;
  /**
   * Cuts when a client sends this text.
   * @param side `before`: the server does not receive the text; `after`: the server commits the
   *   statement, and its response is lost.
   * @returns a promise that resolves when the connections are broken.
   */
  cutAt(text: string, side: CutSide): Promise<void>;
  /**
   * Discards all bytes of both sides, on open and new connections: they stay open and never answer.
   */
  hold(which?: Held): void;
  /** Refuses new connections with this SQLSTATE, as a starting server does. */
  refuse(sqlstate: string): void;
  /** Whether bytes are discarded: `hold` was called, and its `from` text, if any, was sent. */
  isHolding(): boolean;
  /** The number of connections that their clients have not ended. */
  clients(): number;
  /** Accepts connections again. A held connection stays silent, as after a lost route. */
  mend(): Promise<void>;
}

export type CutSide = 'before' | 'after';

export interface Held {
  /** Default: the connections of all applications. */
  readonly application?: string;
  /** Begins when a client sends this text, for all connections; the text itself is discarded. */
  readonly from?: string;
}

interface Line {
  /** The client's first bytes, which contain the application name. */
  startup: string;
  isSilent: boolean;
  /** Whether the next response to the client must be lost. */
  losesResponse: boolean;
}

/**
 * Starts a proxy in front of a database server; call `cut` to stop it.
 * @param change changes the bytes that clients send, without changing their number.
 */
export async function startDatabaseProxy(
  databaseUrl: string,
  change: (bytes: Buffer) => Buffer = (bytes) => bytes,
): Promise<DatabaseProxy> {
  const target = new URL(databaseUrl);
  const sockets = new Set<Socket>();
  const lines = new Set<Line>();
  let held: Held | null = null;
  let refusal: string | null = null;
  const cutPoint = new CutPoint();
  const keep = (socket: Socket, peer?: Socket): void => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => peer?.destroy());
  };
  const hear = (line: Line, bytes: Buffer): void => {
    line.startup ||= bytes.toString('latin1');
    if (held?.from !== undefined && bytes.includes(held.from)) hold({});
    else if (isHeld(held, line)) line.isSilent = true;
  };
  const hold = (which: Held): void => {
    held = which;
    for (const line of lines) line.isSilent ||= isHeld(which, line);
  };
  const cut = async (): Promise<void> => {
    if (!server.listening) return;
    const closed = once(server, 'close');
    server.close();
    for (const socket of sockets) socket.resetAndDestroy();
    await closed;
  };
  // Half-open sockets: when one side ends, the proxy does not end the other side by itself.
  const server = createServer({ allowHalfOpen: true }, (client) => {
    if (refusal !== null) {
      const response = fatalError(refusal);
      keep(client);
      client.once('data', () => client.end(response));
      return;
    }
    const upstream = connect({
      port: Number(target.port || 5432),
      host: target.hostname,
      allowHalfOpen: true,
    });
    const line: Line = { startup: '', isSilent: false, losesResponse: false };
    lines.add(line);
    for (const end of ['end', 'close']) client.on(end, () => lines.delete(line));
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      keep(from, to);
      from.on('data', (bytes: Buffer) => {
        if (cutPoint.isAt(line, bytes, from === client)) return void cutPoint.reach(cut);
        if (from === client) hear(line, bytes);
        if (!line.isSilent) to.write(from === client ? change(bytes) : bytes);
      });
      from.on('end', () => {
        if (!line.isSilent) to.end();
      });
    }
  });
  const listen = async (port: number) => {
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
  };
  await listen(0);
  const address = server.address() as AddressInfo;
  assert(address.port);
  const through = new URL(databaseUrl);
  through.host = `127.0.0.1:${address.port}`;
  return {
    url: through.href,
    cut,
    cutAt: (text, side) => cutPoint.set(text, side),
    hold: (which = {}) => hold(which),
    isHolding: () => held !== null && held.from === undefined,
    clients: () => lines.size,
    refuse: (sqlstate) => void (refusal = sqlstate),
    async mend() {
      held = null;
      refusal = null;
      if (!server.listening) await listen(address.port);
    },
  };
}

/** ReadyForQuery in the state idle: the statement before it is committed. */
const readyForQuery = Buffer.from('Z\0\0\0\x05I', 'latin1');

/** The place in the traffic at which to cut the connections. */
class CutPoint {
  #next: { readonly text: string; readonly side: CutSide; done(): void } | null = null;

  set(text: string, side: CutSide): Promise<void> {
    const { promise, resolve: done } = Promise.withResolvers<void>();
    this.#next = { text, side, done };
    return promise;
  }

  /** Whether to cut before these bytes are forwarded. */
  isAt(line: Line, bytes: Buffer, isFromClient: boolean): boolean {
    if (!this.#next) return false;
    const { text, side } = this.#next;
    const isSent = isFromClient && bytes.includes(text);
    if (side === 'before') return isSent;
    line.losesResponse ||= isSent;
    const end = bytes.subarray(-readyForQuery.length);
    return !isFromClient && line.losesResponse && end.equals(readyForQuery);
  }

  async reach(cut: () => Promise<void>): Promise<void> {
    const reached = this.#next;
    this.#next = null;
    await cut();
    reached?.done();
  }
}

function isHeld(held: Held | null, { startup }: Line): boolean {
  return held !== null && held.from === undefined && startup.includes(held.application ?? '');
}

/** An ErrorResponse of the PostgreSQL protocol. */
function fatalError(sqlstate: string): Buffer {
  const fields = Buffer.from(`SFATAL\0VFATAL\0C${sqlstate}\0Mrefused by the proxy\0\0`);
  const head = Buffer.from('E\0\0\0\0');
  head.writeInt32BE(fields.length + 4, 1);
  return Buffer.concat([head, fields]);
}
