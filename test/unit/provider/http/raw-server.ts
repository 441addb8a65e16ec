/** Servers that a test writes byte by byte: what no HTTP library would send. */
import { once } from 'node:events';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { afterFile } from '../../../support/suite.ts';

/** A request as it came, and the connection that it came on. */
export interface RawRequest {
  readonly text: string;
  /** Counts the requests of all connections, from 1. */
  readonly nth: number;
  readonly socket: Socket;
  /** Counts the connections, from 1. */
  readonly connection: number;
}

export interface RawServer {
  readonly port: number;
  readonly url: string;
  readonly requests: RawRequest[];
  /** All connections that were ever made. */
  readonly sockets: Socket[];
}

/** Starts a server, until the end of the test file, that calls `respond` for each whole request. */
export async function rawServer(respond: (request: RawRequest) => void): Promise<RawServer> {
  const requests: RawRequest[] = [];
  const sockets: Socket[] = [];
  const server = createServer((socket) => {
    sockets.push(socket);
    const connection = sockets.length;
    let text = '';
    socket.on('error', () => {
      // Connections break here on purpose.
    });
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1');
      if (!isWhole(text)) return;
      const request = { text, nth: requests.length + 1, socket, connection };
      text = '';
      requests.push(request);
      respond(request);
    });
  });
  const port = await listening(server, sockets);
  return { port, url: `http://127.0.0.1:${port}`, requests, sockets };
}

/** Lets a server listen on a free port until the end of the test file. */
export async function listening(server: Server, sockets: Socket[] = []): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  afterFile(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  return (server.address() as AddressInfo).port;
}

function isWhole(text: string): boolean {
  const [head = '', ...rest] = text.split('\r\n\r\n');
  if (rest.length === 0) return false;
  const length = Number(/^content-length: (\d+)$/im.exec(head)?.[1] ?? 0);
  return rest.join('\r\n\r\n').length >= length;
}

/** An HTTP response as text, with its length. */
export function httpResponse(
  status: number | string,
  body: string,
  headers: Readonly<Record<string, string>> = {},
): string {
  const lines = Object.entries({
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(body)),
    ...headers,
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status} Status\r\n${lines.join('')}\r\n${body}`;
}

/** A server that answers everything alike. */
export function responding(
  status: number,
  body: unknown,
  headers?: Readonly<Record<string, string>>,
): Promise<RawServer> {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return rawServer(({ socket }) => socket.write(httpResponse(status, text, headers)));
}
