/** The command's side of the socket. */
import { lstatSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { userInfo } from 'node:os';
import { dirname } from 'node:path';
import { OpError, type Progress } from '../op.ts';
import { lineOf, readLines, type OpMessage, type OpRequest } from './protocol.ts';

/** The service went away, or could not reach its database, before it had answered. */
export class UnansweredError extends Error {
  /** False when nobody was there to be asked, so that nothing was done. */
  readonly wasAsked: boolean;

  constructor(message: string, wasAsked = true) {
    super(message);
    this.name = 'UnansweredError';
    this.wasAsked = wasAsked;
  }
}

/** Longer than any result; a bound, because whatever is behind the socket is taken at its word. */
const maxAnswerBytes = 256 * 1024 * 1024;

/**
 * Tells whether somebody else may be behind a socket. Its folder may be in the system's folder for
 * temporary files, where everyone may make one of that name; a command sends passwords.
 * @returns why commands do not use the socket, or null.
 */
export function socketRefusal(path: string): string | null {
  const folder = dirname(path);
  const { uid: own } = userInfo();
  // A command of root, for a service of another user: the data folder is that user's.
  const above = lstatSync(dirname(folder), { throwIfNoEntry: false })?.uid;
  for (const place of [folder, path]) {
    const found = lstatSync(place, { throwIfNoEntry: false });
    if (!found) return null;
    const isKind = place === folder ? found.isDirectory() : found.isSocket();
    const isOwned = own < 0 || found.uid === own || found.uid === above;
    if (!isKind || !isOwned) return `${place} is not of the user that the service runs as`;
    if ((found.mode & 0o077) !== 0) return `${place} is open to other users`;
  }
  return null;
}

/** @returns whether anybody listens there. */
export async function isAnswered(path: string): Promise<boolean> {
  const socket = await connected(path);
  socket?.destroy();
  return socket !== null;
}

/**
 * Has a running service do an op.
 * @throws OpError when the op refuses, UnansweredError when there is no answer, Error when it
 *   failed.
 */
export async function askService(
  path: string,
  request: OpRequest,
  progress: Progress,
): Promise<unknown> {
  const socket = await connected(path);
  if (!socket) throw new UnansweredError('the service has gone away', false);
  let last: OpMessage | null = null;
  try {
    socket.write(lineOf(request));
    await readLines(socket, maxAnswerBytes, (line) => {
      const message = JSON.parse(line) as OpMessage;
      if ('progress' in message) progress(...message.progress);
      else last = message;
    });
  } catch {
    // A connection that breaks after the answer has come changes nothing.
  } finally {
    socket.destroy();
  }
  return resultOf(last);
}

function resultOf(message: OpMessage | null): unknown {
  if (message === null || 'progress' in message) throw unanswered();
  if ('result' in message) return message.result;
  if ('refusal' in message) throw new OpError(message.refusal.code, message.refusal.message);
  const { message: sentence, unreachable } = message.failure;
  throw unreachable ? new UnansweredError(sentence) : new Error(sentence);
}

function unanswered(): UnansweredError {
  return new UnansweredError(
    'the service that runs has gone away without an answer: look at what became of it',
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
