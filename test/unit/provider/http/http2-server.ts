/** Banks that speak HTTP/2: by node's server, and frame by frame, as no library would. */
import type { EventEmitter } from 'node:events';
import { createSecureServer, type ServerHttp2Session, type ServerHttp2Stream } from 'node:http2';
import { createServer, type TLSSocket } from 'node:tls';
import { afterFile } from '../../../support/suite.ts';
import { selfSigned, type TestCertificate } from './certificate.ts';
import { listening } from './raw-server.ts';

/** A request on a stream, and the connection that this is on. */
export interface StreamRequest {
  readonly stream: ServerHttp2Stream;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly text: string;
  /** Counts the connections, from 1. */
  readonly connection: number;
}

export interface Http2Server {
  readonly url: string;
  readonly server: EventEmitter;
  readonly certificate: TestCertificate;
  readonly requests: StreamRequest[];
  readonly sessions: ServerHttp2Session[];
}

/** Starts a server, until the end of the test file, that calls `respond` for each whole request. */
export async function http2Server(
  respond: (request: StreamRequest) => void,
  options: Parameters<typeof createSecureServer>[0] = {},
): Promise<Http2Server> {
  const certificate = selfSigned();
  const requests: StreamRequest[] = [];
  const sessions: ServerHttp2Session[] = [];
  const server = createSecureServer({ ...certificate, ...options });
  server.on('session', (session) => {
    sessions.push(session);
    const connection = sessions.length;
    session.on('error', () => undefined);
    session.on('stream', (stream, headers) => {
      let text = '';
      stream.on('error', () => undefined);
      stream.on('data', (chunk: Buffer) => (text += chunk.toString()));
      stream.on('end', () => {
        const request = { stream, headers, text, connection };
        requests.push(request);
        respond(request);
      });
    });
  });
  afterFile(() => {
    for (const session of sessions) session.destroy();
  });
  const url = `https://127.0.0.1:${await listening(server)}`;
  return { url, server, certificate, requests, sessions };
}

/** A frame (RFC 9113, section 4.1). */
export function frame([type, flags, stream]: readonly [number, number, number], payload = '') {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head.writeUInt8(type, 3);
  head.writeUInt8(flags, 4);
  head.writeUInt32BE(stream, 5);
  return head.toString('latin1') + payload;
}

const endStream = 0x1;
const endHeaders = 0x4;

/** HEADERS with fields that HPACK writes out, without an index (RFC 7541, section 6.2.2). */
export function headersFrame(
  stream: number,
  fields: Readonly<Record<string, string>>,
  isEnd = false,
): string {
  const text = (value: string): string => String.fromCodePoint(value.length) + value;
  const block = Object.entries(fields).map(([name, value]) => `\0${text(name)}${text(value)}`);
  return frame([0x1, endHeaders | (isEnd ? endStream : 0), stream], block.join(''));
}

export function dataFrame(stream: number, text: string, isEnd = true): string {
  return frame([0x0, isEnd ? endStream : 0, stream], text);
}

export function resetFrame(stream: number, code: number): string {
  return frame([0x3, 0, stream], uint32(code));
}

export function goAwayFrame(lastStream: number, code: number): string {
  return frame([0x7, 0, 0], uint32(lastStream) + uint32(code));
}

function uint32(value: number): string {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes.toString('latin1');
}

/** SETTINGS, and that the server has those of the client. */
export const settingsFrames = frame([0x4, 0, 0]) + frame([0x4, 1, 0]);

const preface = 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n';

/** A request at a server that is written frame by frame. */
export interface FrameRequest {
  readonly socket: TLSSocket;
  /** The number of the stream; 0 over HTTP/1.1. */
  readonly stream: number;
}

export interface FrameServerOptions {
  /** Picks one of the offered protocols; by default HTTP/2. */
  readonly choose?: (offered: readonly string[]) => string | undefined;
  /** What it writes first on its nth connection of HTTP/2; by default `settingsFrames`. */
  readonly greet?: (nth: number) => string;
}

/**
 * Starts a server, until the end of the test file, that calls `respond` for each whole request.
 * Beside its greeting it writes nothing by itself.
 */
export async function frameServer(
  respond: (request: FrameRequest) => void,
  { choose = () => 'h2', greet = () => settingsFrames }: FrameServerOptions = {},
) {
  const certificate = selfSigned();
  const sockets: TLSSocket[] = [];
  const ALPNCallback = ({ protocols }: { protocols: string[] }) => choose(protocols);
  const server = createServer({ ...certificate, ALPNCallback }, (socket) => {
    sockets.push(socket);
    socket.on('error', () => undefined);
    if (socket.alpnProtocol !== 'h2') {
      socket.on('data', (chunk: Buffer) => {
        if (chunk.includes('{')) respond({ socket, stream: 0 });
      });
      return;
    }
    socket.write(greet(sockets.length), 'latin1');
    let bytes = Buffer.alloc(0);
    socket.on('data', (chunk: Buffer) => {
      bytes = Buffer.concat([bytes, chunk]);
      if (bytes.toString('latin1').startsWith(preface)) bytes = bytes.subarray(preface.length);
      while (bytes.length >= 9 && bytes.length >= 9 + bytes.readUIntBE(0, 3)) {
        const isWhole = bytes.readUInt8(3) === 0x0 && (bytes.readUInt8(4) & endStream) !== 0;
        const stream = bytes.readUInt32BE(5);
        bytes = bytes.subarray(9 + bytes.readUIntBE(0, 3));
        if (isWhole) respond({ socket, stream });
      }
    });
  });
  const url = `https://127.0.0.1:${await listening(server, sockets)}`;
  return { url, tls: { ca: certificate.cert }, sockets };
}
