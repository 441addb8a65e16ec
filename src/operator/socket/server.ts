/**
 * The socket through which commands reach a service that has the embedded database to itself. Only
 * the user that the service runs as may connect: the socket stands in a folder that nobody else may
 * enter, and has mode 0600.
 */
import { chmodSync, lstatSync, mkdirSync, rmSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { userInfo } from 'node:os';
import { pause } from '../../clock.ts';
import type { LocalContext } from '../../context.ts';
import { OpError, type Op, type Progress } from '../op.ts';
import {
  lineOf,
  maxRequestBytes,
  type OpMessage,
  type OpRequest,
  readLines,
  type SocketAddress,
  socketAddress,
} from './protocol.ts';

export interface ListenOptions {
  readonly context: LocalContext;
  /** The ops that may be asked for, by name. */
  readonly ops: Readonly<Record<string, Op<never, unknown>>>;
  /** Puts an error that is no refusal into a sentence without a value in it. */
  readonly failureOf: (error: unknown) => { message: string; unreachable: boolean };
}

export interface OpListener {
  readonly path: string;
  /** Takes no new questions, gives those under way a moment to end, and removes the socket. */
  close(): Promise<void>;
}

/** A command asks for one thing at a time, so more than these are no commands. */
const maxConnections = 16;

/** To ask, and at the end to read the answer. */
const patienceMs = 10_000;

/** Ops look at `stopping`, so that they end soon. */
const closeWithinMs = 5_000;

/**
 * Listens. A socket file that a killed process has left is replaced: whoever calls this has the
 * embedded database's lock, so no other service can be behind it.
 * @throws Error when the folder is somebody else's, or nothing can listen there.
 */
export async function listenForOps(options: ListenOptions): Promise<OpListener> {
  const { clock, config } = options.context;
  const address = socketAddress(config.dataDir);
  takeFolder(address);
  const sockets = new Set<Socket>();
  const underWay = new Set<Promise<void>>();
  const server = createServer((socket) => {
    sockets.add(socket);
    const talk = converse(socket, options).finally(() => underWay.delete(talk));
    underWay.add(talk);
    socket.once('close', () => sockets.delete(socket));
  });
  server.maxConnections = maxConnections;
  await listen(server, address.path);
  // Without this a connection that cannot be taken, for want of descriptors, would end the service.
  server.on('error', (error) => options.context.log.error({ error }, 'a command was not heard'));
  return {
    path: address.path,
    async close() {
      server.close();
      await Promise.race([Promise.all(underWay), pause(clock, closeWithinMs)]);
      for (const socket of sockets) socket.destroy();
    },
  };
}

function takeFolder({ folder, path }: SocketAddress): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const found = lstatSync(folder);
  const { uid } = userInfo();
  if (!found.isDirectory() || (uid >= 0 && found.uid !== uid)) {
    throw new Error(`${folder} belongs to somebody else`);
  }
  if ((found.mode & 0o077) !== 0) chmodSync(folder, 0o700);
  rmSync(path, { force: true });
}

async function listen(server: Server, path: string): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    // The socket is made within the call; made open, it would be so until its mode is changed.
    const mask = process.umask(0o177);
    server.listen(path, () => {
      server.off('error', reject);
      resolve();
    });
    process.umask(mask);
  });
}

/** One connection: a question, its answer, the end. It never rejects. */
async function converse(socket: Socket, options: ListenOptions): Promise<void> {
  const { clock } = options.context;
  const gone = new AbortController();
  const destroy = (): void => void socket.destroy();
  // Also what brings the reading to its end, below.
  socket.once('close', () => gone.abort()).on('error', destroy);
  const cancel = clock.after(patienceMs, destroy);
  const question = await firstLine(socket);
  cancel();
  if (question === null) {
    destroy();
    return;
  }
  const progress: Progress = (done, total) => {
    // A client that does not read has no progress pile up in memory.
    if (!socket.destroyed && !socket.writableNeedDrain) {
      socket.write(lineOf({ progress: [done, total] }));
    }
  };
  const answer = await answerTo(question, options, { progress, gone: gone.signal });
  if (socket.destroyed) return;
  const cancelDestroy = clock.after(patienceMs, destroy);
  // A stop destroys what is still open then: the answer has to be out before this ends.
  await new Promise<void>((resolve) => {
    socket.once('close', () => resolve());
    socket.end(lineOf(answer), () => resolve());
  });
  socket.once('close', cancelDestroy);
}

/** @returns null when it is too long, or when no whole line has come. */
function firstLine(socket: Socket): Promise<string | null> {
  return new Promise((resolve) => {
    readLines(socket, maxRequestBytes, resolve).then(
      () => resolve(null),
      () => resolve(null),
    );
  });
}

interface Asking {
  readonly progress: Progress;
  /** Aborts when the command has gone away. */
  readonly gone: AbortSignal;
}

async function answerTo(
  line: string,
  { context, ops, failureOf }: ListenOptions,
  { progress, gone }: Asking,
): Promise<OpMessage> {
  const request = readRequest(line);
  const op = request && Object.hasOwn(ops, request.op) ? ops[request.op] : undefined;
  if (!request || !op) {
    return refusal('the service that runs does not know this command: start it again');
  }
  if (op.refusedWhileServing !== undefined) return refusal(op.refusedWhileServing);
  const stopping = AbortSignal.any([context.stopping, gone]);
  try {
    const result = await op.run({ ...context, stopping }, request.input as never, {
      operator: request.operator,
      progress,
    });
    return { result: result ?? null };
  } catch (error) {
    if (error instanceof OpError) {
      return { refusal: { code: error.code, message: error.message } };
    }
    context.log.error({ error, op: request.op }, 'a command failed');
    return { failure: failureOf(error) };
  }
}

function refusal(message: string): OpMessage {
  return { refusal: { code: 'REFUSED', message } };
}

function readRequest(line: string): OpRequest | null {
  try {
    const request: unknown = JSON.parse(line);
    if (typeof request !== 'object' || request === null || !('op' in request)) return null;
    if (typeof request.op !== 'string') return null;
    return { input: {}, operator: 'unknown', ...request } as OpRequest;
  } catch {
    return null;
  }
}
