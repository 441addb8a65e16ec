/** Answers malformed, slow and oversized requests on the socket, and closes their connections. */
import type { Socket } from 'node:net';
import type { Clock } from '../clock.ts';
import { AppError, type ErrorCode } from '../errors.ts';
import type { Connections } from './connections.ts';
import type { WithRefusalHeaders } from '../context/operation.ts';
import { type Exchange, requestId } from './exchange.ts';
import { errorReply, rawReply, type Reply } from './reply.ts';

/** Node's code of a request that did not arrive completely in time. */
const tooSlow = 'ERR_HTTP_REQUEST_TIMEOUT';

/** Errors by Node's error code; every other one is a malformed request. */
const errorByCode = new Map<string, ErrorCode>([
  [tooSlow, 'REQUEST_TIMEOUT'],
  ['HPE_CHUNK_EXTENSIONS_OVERFLOW', 'PAYLOAD_TOO_LARGE'],
  ['HPE_HEADER_OVERFLOW', 'HEADERS_TOO_LARGE'],
]);

/** A request did not arrive completely in time. */
export class RequestTooSlow extends Error {
  readonly code = tooSlow;

  constructor() {
    super('the request takes too long to arrive');
    this.name = 'RequestTooSlow';
  }
}

/** How long the client has to read the reply before the connection is closed. */
const lingerMs = 2_000;

export interface ClientErrorsOptions {
  readonly connections: Connections;
  readonly clock: Clock;
  /** Supplies the refusal headers where the operation is unknown. */
  readonly refusalSource?: WithRefusalHeaders;
  /** Adds the headers that depend on the request, such as those for its origin. */
  complete(exchange: Exchange, reply: Reply): Reply;
  /** Called for each reply; `exchange` is null when the request was never parsed. */
  onRefused(refusal: { id: string; status: number; exchange: Exchange | null }): void;
}

/** Creates the listener of Node's `clientError`, which is emitted again for every further byte. */
export function createClientErrorListener(
  options: ClientErrorsOptions,
): (error: Error, socket: Socket) => void {
  const refused = new WeakSet<Socket>();
  return (error, socket) => {
    if (refused.has(socket)) return;
    refused.add(socket);
    const code = 'code' in error ? String(error.code) : '';
    const exchanges = options.connections.openOn(socket);
    // Browsers open spare connections: a connection that has sent nothing gets no reply.
    const isUnused = code === tooSlow && socket.bytesRead === 0;
    const isGone = code === 'ECONNRESET' || !socket.writable || isUnused;
    if (isGone || !exchanges.every(mayBeRefused)) {
      socket.destroy();
      return;
    }
    refuse(options, { socket, exchange: exchanges[0] ?? null, code });
  };
}

/**
 * Whether the reply to a malformed message cannot be mistaken for that of a running operation: a
 * payment in progress would appear refused.
 */
function mayBeRefused(exchange: Exchange, position: number): boolean {
  return position === 0 && !exchange.isRunning && !exchange.response.headersSent;
}

function refuse(
  { clock, refusalSource, complete, onRefused }: ClientErrorsOptions,
  { socket, exchange, code }: { socket: Socket; exchange: Exchange | null; code: string },
): void {
  const id = exchange?.replyId ?? requestId(undefined);
  const error = new AppError(errorByCode.get(code) ?? 'BAD_REQUEST');
  const operation = exchange?.refusalSource ?? refusalSource;
  const reply = errorReply(error, exchange?.locale ?? 'en', operation);
  onRefused({ id, status: reply.status, exchange });
  const cancel = clock.after(lingerMs, () => socket.destroy());
  socket.once('end', () => socket.destroy());
  socket.once('close', cancel);
  socket.end(rawReply(exchange === null ? reply : complete(exchange, reply), id));
}
