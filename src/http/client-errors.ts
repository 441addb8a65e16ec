/** Requests that are not HTTP, come too slowly or have too large a head: answered and closed. */
import type { Socket } from 'node:net';
import type { Clock } from '../clock.ts';
import { AppError } from '../errors.ts';
import type { Connections } from './connections.ts';
import type { Refusing } from './operation.ts';
import type { Exchange } from './exchange.ts';
import { errorReply, rawAnswer, type Reply } from './reply.ts';
import { requestId } from './request-id.ts';

/** Node's codes of what is not simply a malformed request. */
const STATUS_BY_CODE = new Map([
  ['ERR_HTTP_REQUEST_TIMEOUT', 408],
  ['HPE_CHUNK_EXTENSIONS_OVERFLOW', 413],
  ['HPE_HEADER_OVERFLOW', 431],
]);

/** A request has not come in whole in its time. */
export class RequestTooSlow extends Error {
  readonly code = 'ERR_HTTP_REQUEST_TIMEOUT';

  constructor() {
    super('the request takes too long to come in');
    this.name = 'RequestTooSlow';
  }
}

/** How long the client has to read the answer before the connection is cut. */
const LINGER_MS = 2_000;

export interface ClientErrorsOptions {
  readonly connections: Connections;
  readonly clock: Clock;
  /** What a refusal says where the operation is not known: the request may be for any of them. */
  readonly refusing?: Refusing;
  /** Told of each answer; `exchange` is what the request was known as, if it came so far. */
  onRefused(refusal: { id: string; status: number; exchange: Exchange | null }): void;
}

/** Makes the listener of node's `clientError`, which comes again for every further byte. */
export function createClientErrorListener(
  options: ClientErrorsOptions,
): (error: Error, socket: Socket) => void {
  const refused = new WeakSet<Socket>();
  return (error, socket) => {
    if (refused.has(socket)) return;
    refused.add(socket);
    const code = 'code' in error ? String(error.code) : '';
    const exchanges = options.connections.openOn(socket);
    if (code === 'ECONNRESET' || !socket.writable || !exchanges.every(mayBeRefused)) {
      socket.destroy();
      return;
    }
    refuse(options, { socket, exchange: exchanges[0] ?? null, code });
  };
}

/**
 * An answer to a broken message must not be taken for the answer to a request whose work has begun:
 * a payment that is under way would seem refused.
 */
function mayBeRefused(exchange: Exchange, position: number): boolean {
  return position === 0 && !exchange.isRunning && !exchange.response.headersSent;
}

function refuse(
  { clock, refusing, onRefused }: ClientErrorsOptions,
  { socket, exchange, code }: { socket: Socket; exchange: Exchange | null; code: string },
): void {
  const id = exchange?.answeredId ?? requestId(undefined);
  const error = new AppError('BAD_REQUEST');
  const refused = errorReply(error, exchange?.locale ?? 'en');
  const operation = exchange?.refusing ?? refusing;
  const reply: Reply = {
    ...refused,
    headers: { ...operation?.refusalHeaders?.(error), ...refused.headers },
    status: STATUS_BY_CODE.get(code) ?? 400,
  };
  onRefused({ id, status: reply.status, exchange });
  const cancel = clock.after(LINGER_MS, () => socket.destroy());
  socket.once('end', () => socket.destroy());
  socket.once('close', cancel);
  socket.end(rawAnswer(reply, id));
}
