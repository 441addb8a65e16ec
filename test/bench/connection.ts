/** A kept HTTP/1.1 connection that sends one request at a time, with as little work as possible. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

/** A server that does not answer for this time has failed. */
const timeoutMs = 30_000;

interface Pending {
  resolve(status: number): void;
  reject(error: Error): void;
}

export class Connection {
  readonly #socket: Socket;
  #received = '';
  #pending: Pending | null = null;

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.setNoDelay(true);
    socket.setTimeout(timeoutMs, () => socket.destroy(new Error('no response in time')));
    socket.on('data', (chunk: Buffer) => this.#read(chunk.toString('latin1')));
    socket.on('error', (error) => this.#pending?.reject(error));
    socket.on('close', () => this.#pending?.reject(new Error('the connection was closed')));
  }

  static async open(host: string, port: number): Promise<Connection> {
    const socket = connect(port, host);
    await once(socket, 'connect');
    return new Connection(socket);
  }

  /** @returns the status, once the whole response has arrived. */
  exchange(request: string): Promise<number> {
    return new Promise((resolve, reject) => {
      this.#pending = { resolve, reject };
      this.#socket.write(request);
    });
  }

  close(): void {
    this.#pending = null;
    this.#socket.destroy();
  }

  #read(text: string): void {
    this.#received += text;
    const status = readStatus(this.#received);
    if (status === null) return;
    this.#received = '';
    if (status === undefined) this.#socket.destroy(new Error('a response without a length'));
    else this.#pending?.resolve(status);
  }
}

/** @returns null until the response is whole, undefined when its length is unknown. */
export function readStatus(received: string): number | null | undefined {
  const headEnd = received.indexOf('\r\n\r\n');
  if (headEnd < 0) return null;
  const length = /\r\ncontent-length: *(\d+)/i.exec(received.slice(0, headEnd))?.[1];
  if (length === undefined) return undefined;
  if (received.length < headEnd + 4 + Number(length)) return null;
  return Number(received.slice(9, 12));
}
