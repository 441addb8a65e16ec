/**
 * The socket through which commands reach the service that has the embedded database open. Only the
 * user that the service runs as may connect: the socket has mode 0600, in a folder with mode 0700.
 */
import { chmodSync, lstatSync, mkdirSync, rmSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { userInfo } from 'node:os';
import { pause } from '../../clock.ts';
import type { LocalContext } from '../../context/context.ts';
import { OpError, type Op, type Progress } from '../op.ts';
import {
  encodeMessage,
  maxRequestBytes,
  type OpMessage,
  type OpRequest,
  readLines,
  type SocketAddress,
  socketAddress,
} from './protocol.ts';

export interface ListenOptions {
  readonly context: LocalContext;
  /** Loads an op, by its name. */
  readonly ops: Readonly<Record<string, () => Promise<Op<never, unknown>>>>;
  /** Describes an error without any of its values. */
  readonly describeFailure: (error: unknown) => { message: string; unreachable: boolean };
}

export interface OpListener {
  readonly path: string;
  /** Accepts no further requests, waits briefly for those in progress, and removes the socket. */
  close(): Promise<void>;
}

/** A command makes one request at a time. */
const maxConnections = 16;

/** The time-out for sending the request, and for reading the result. */
const timeoutMs = 10_000;

/** Ops check `stopping`, so that they end early. */
const closeWithinMs = 5_000;

/**
 * Listens. It replaces the socket file of a killed process: the caller has the lock of the embedded
 * database, so no other service can use it.
 * @throws Error when the folder belongs to another user, or the socket cannot be created.
 */
export async function listenForOps(options: ListenOptions): Promise<OpListener> {
  const { clock, config } = options.context;
  const address = socketAddress(config.dataDir);
  claimFolder(address);
  const sockets = new Set<Socket>();
  const underWay = new Set<Promise<void>>();
  const server = createServer((socket) => {
    sockets.add(socket);
    const handled = handle(socket, options).finally(() => underWay.delete(handled));
    underWay.add(handled);
    socket.once('close', () => sockets.delete(socket));
  });
  server.maxConnections = maxConnections;
  await listen(server, address.path);
  // An unhandled error, such as a lack of file descriptors, would end the service.
  server.on('error', (error) =>
    options.context.log.error({ error }, 'a command could not connect'),
  );
  return {
    path: address.path,
    async close() {
      server.close();
      await Promise.race([Promise.all(underWay), pause(clock, closeWithinMs)]);
      for (const socket of sockets) socket.destroy();
    },
  };
}

function claimFolder({ folder, path }: SocketAddress): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const found = lstatSync(folder);
  const { uid } = userInfo();
  if (!found.isDirectory() || (uid >= 0 && found.uid !== uid)) {
    throw new Error(`${folder} belongs to another user`);
  }
  if ((found.mode & 0o077) !== 0) chmodSync(folder, 0o700);
  rmSync(path, { force: true });
}

async function listen(server: Server, path: string): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    // The call creates the socket, which must never be accessible to other users.
    const mask = process.umask(0o177);
    server.listen(path, () => {
      server.off('error', reject);
      resolve();
    });
    process.umask(mask);
  });
}

/** Handles one connection: a request and its result. It never rejects. */
async function handle(socket: Socket, options: ListenOptions): Promise<void> {
  const { clock } = options.context;
  const gone = new AbortController();
  const destroy = (): void => void socket.destroy();
  socket.once('close', () => gone.abort()).on('error', destroy);
  const cancel = clock.after(timeoutMs, destroy);
  const request = await firstLine(socket);
  cancel();
  if (request === null) {
    destroy();
    return;
  }
  const progress: Progress = (done, total) => {
    // Progress is skipped for a client that does not read.
    if (!socket.destroyed && !socket.writableNeedDrain) {
      socket.write(encodeMessage({ progress: [done, total] }));
    }
  };
  const result = await runRequest(request, options, { progress, gone: gone.signal });
  if (socket.destroyed) return;
  const cancelDestroy = clock.after(timeoutMs, destroy);
  // `close` destroys open sockets: wait until the result is sent.
  await new Promise<void>((resolve) => {
    socket.once('close', () => resolve());
    socket.end(encodeMessage(result), () => resolve());
  });
  socket.once('close', cancelDestroy);
}

/** @returns null when the line is too long or incomplete. */
function firstLine(socket: Socket): Promise<string | null> {
  return new Promise((resolve) => {
    readLines(socket, maxRequestBytes, resolve).then(
      () => resolve(null),
      () => resolve(null),
    );
  });
}

interface Client {
  readonly progress: Progress;
  /** Aborts when the command has disconnected. */
  readonly gone: AbortSignal;
}

async function runRequest(
  line: string,
  { context, ops, describeFailure }: ListenOptions,
  { progress, gone }: Client,
): Promise<OpMessage> {
  const request = readRequest(line);
  const load = request && Object.hasOwn(ops, request.op) ? ops[request.op] : undefined;
  if (!request || !load) {
    return refusal('the running service does not know this command: restart it');
  }
  const stopping = AbortSignal.any([context.stopping, gone]);
  try {
    const op = await load();
    if (op.refusedWhileServing !== undefined) return refusal(op.refusedWhileServing);
    const result = await op.run({ ...context, stopping }, request.input as never, {
      operator: request.operator,
      reason: request.reason,
      progress,
    });
    return { result: result ?? null };
  } catch (error) {
    if (error instanceof OpError) {
      return { refusal: { code: error.code, message: error.message } };
    }
    context.log.error({ error, op: request.op }, 'a command failed');
    return { failure: describeFailure(error) };
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
