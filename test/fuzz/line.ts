/** A connection that sends bytes as they are, well-formed or not, and reads the response. */
import { connect, type Socket } from 'node:net';

/** What happens to the connection once the bytes are sent. */
export type Ending = 'keep' | 'close' | 'half-close' | 'break';

export interface RawRequest {
  readonly bytes: Buffer;
  readonly ending: Ending;
  readonly isHead: boolean;
}

export interface RawResponse {
  readonly status: number;
  /** By name in lower case; several of one name are in the order in which they arrived. */
  readonly headers: ReadonlyMap<string, readonly string[]>;
  readonly text: string;
}

/** The time limit of a response. */
const patienceMs = 30_000;

export class NoResponse extends Error {}

/** One connection at a time, opened again when it has been closed. */
export class Line {
  readonly #port: number;
  #socket: Socket | null = null;

  constructor(port: number) {
    this.#port = port;
  }

  /**
   * @returns the response; null when the connection was broken or closed without one.
   * @throws NoResponse after half a minute without a response.
   */
  async request({ bytes, ending, isHead }: RawRequest): Promise<RawResponse | null> {
    const socket = await this.#open();
    const response = read(socket, isHead);
    socket.write(bytes);
    if (ending === 'half-close') socket.end();
    // Let the kernel take the written bytes before the reset.
    if (ending === 'break') setImmediate(() => socket.resetAndDestroy());
    const got = await response;
    if (ending !== 'keep' || got?.headers.get('connection')?.includes('close')) this.close();
    return got;
  }

  close(): void {
    this.#socket?.destroy();
    this.#socket = null;
  }

  async #open(): Promise<Socket> {
    const open = this.#socket;
    if (open && open.readyState === 'open') return open;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const socket = connect({ port: this.#port, host: '127.0.0.1', allowHalfOpen: true });
    socket.once('connect', resolve).once('error', reject);
    await promise;
    socket.off('error', reject).on('error', () => undefined);
    socket.on('end', () => socket.destroy());
    this.#socket = socket;
    return socket;
  }
}

function read(socket: Socket, isHead: boolean): Promise<RawResponse | null> {
  const { promise, resolve, reject } = Promise.withResolvers<RawResponse | null>();
  let came = Buffer.alloc(0);
  const late = setTimeout(() => {
    reject(new NoResponse(`no response in ${patienceMs / 1_000} s`));
    socket.destroy();
  }, patienceMs);
  const hear = (bytes: Buffer): void => {
    came = Buffer.concat([came, bytes]);
    const response = parsed(came, isHead);
    if (response) resolve(response);
  };
  const leave = (): void => resolve(null);
  socket.on('data', hear).once('close', leave);
  return promise.finally(() => {
    clearTimeout(late);
    socket.off('data', hear).off('close', leave);
  });
}

/** @returns the first response that is not an interim one, or null while it is incomplete. */
function parsed(bytes: Buffer, isHead: boolean): RawResponse | null {
  const end = bytes.indexOf('\r\n\r\n');
  if (end === -1) return null;
  const [first = '', ...lines] = bytes.subarray(0, end).toString('latin1').split('\r\n');
  const status = Number(first.split(' ')[1]);
  const rest = bytes.subarray(end + 4);
  if (status < 200) return parsed(rest, isHead);
  const headers = new Map<string, string[]>();
  for (const line of lines) {
    const colon = line.indexOf(':');
    const name = line.slice(0, colon).toLowerCase();
    headers.set(name, [...(headers.get(name) ?? []), line.slice(colon + 1).trim()]);
  }
  const length = isHead ? 0 : Number(headers.get('content-length')?.[0] ?? 0);
  if (rest.length < length) return null;
  return { status, headers, text: rest.subarray(0, length).toString() };
}
