/** The command's side of the socket. */
import { connect, type Socket } from 'node:net';
import { OpError, type Progress } from '../op.ts';
import { lineOf, readLines, type OpMessage, type OpRequest } from './messages.ts';

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

function connected(path: string): Promise<Socket | null> {
  return new Promise((resolve) => {
    const socket = connect(path);
    socket.once('connect', () => resolve(socket));
    socket.once('error', () => resolve(null));
  });
}
