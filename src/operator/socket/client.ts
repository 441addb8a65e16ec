/** Calls ops of a running service through its socket. */
import { lstatSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { userInfo } from 'node:os';
import { dirname } from 'node:path';
import { OpError, type Progress } from '../op.ts';
import { encodeMessage, readLines, type OpMessage, type OpRequest } from './protocol.ts';

/** The service disconnected or could not reach its database, so there is no result. */
export class UnansweredError extends Error {
  /** False when the request was not sent, so that nothing was done. */
  readonly wasSent: boolean;

  constructor(message: string, wasSent = true) {
    super(message);
    this.name = 'UnansweredError';
    this.wasSent = wasSent;
  }
}

/** A bound, larger than any result. */
const maxResponseBytes = 256 * 1024 * 1024;

/**
 * Checks that a socket belongs to the service. Its folder may be in the system's folder for
 * temporary files, where another user could create it; and commands send passwords.
 * @returns why commands must not use the socket, or null.
 */
export function socketRefusal(path: string): string | null {
  const folder = dirname(path);
  const { uid: own } = userInfo();
  // For a command of root, the data folder names the user of the service.
  const above = lstatSync(dirname(folder), { throwIfNoEntry: false })?.uid;
  for (const place of [folder, path]) {
    const found = lstatSync(place, { throwIfNoEntry: false });
    if (!found) return null;
    const isKind = place === folder ? found.isDirectory() : found.isSocket();
    const isOwned = own < 0 || found.uid === own || found.uid === above;
    if (!isKind || !isOwned) return `${place} does not belong to the user that the service runs as`;
    if ((found.mode & 0o077) !== 0) return `${place} is accessible to other users`;
  }
  return null;
}

/** Whether a service listens on the socket. */
export async function isListening(path: string): Promise<boolean> {
  const socket = await connected(path);
  socket?.destroy();
  return socket !== null;
}

/**
 * Runs an op in the service.
 * @throws OpError when the op refuses, UnansweredError when there is no result, Error when it
 *   failed.
 */
export async function callService(
  path: string,
  request: OpRequest,
  progress: Progress,
): Promise<unknown> {
  const socket = await connected(path);
  if (!socket) throw new UnansweredError('the service has stopped', false);
  let last: OpMessage | null = null;
  try {
    socket.write(encodeMessage(request));
    await readLines(socket, maxResponseBytes, (line) => {
      const message = JSON.parse(line) as OpMessage;
      if ('progress' in message) progress(...message.progress);
      else last = message;
    });
  } catch {
    // A connection may break after the result has arrived.
  } finally {
    socket.destroy();
  }
  return readResult(last);
}

function readResult(message: OpMessage | null): unknown {
  if (message === null || 'progress' in message) throw unanswered();
  if ('result' in message) return message.result;
  if ('refusal' in message) throw new OpError(message.refusal.code, message.refusal.message);
  const { message: sentence, unreachable } = message.failure;
  throw unreachable ? new UnansweredError(sentence) : new Error(sentence);
}

function unanswered(): UnansweredError {
  return new UnansweredError(
    'the service has stopped without a result: check its log and what was changed',
  );
}

async function connected(path: string): Promise<Socket | null> {
  if (socketRefusal(path) !== null) return null;
  return new Promise((resolve) => {
    const socket = connect(path);
    socket.once('connect', () => resolve(socket));
    socket.once('error', () => resolve(null));
  });
}
