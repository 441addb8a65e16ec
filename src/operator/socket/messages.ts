/**
 * What is said over the socket of a running service, a JSON object a line: the command asks for one
 * op, the service tells of its progress and answers, and the connection ends.
 */
import type { Socket } from 'node:net';
import type { OpRefusal } from '../op.ts';

export interface OpRequest {
  readonly op: string;
  readonly input: unknown;
  /** Who runs it. */
  readonly operator: string;
}

export type OpMessage =
  | { readonly progress: readonly [done: number, total: number] }
  | { readonly result: unknown }
  | { readonly refusal: { readonly code: OpRefusal; readonly message: string } }
  /** `unreachable`: the service could not reach its database. */
  | { readonly failure: { readonly message: string; readonly unreachable: boolean } };

/** More than any command asks for. */
export const maxRequestBytes = 256 * 1024;

/** A message as it is sent. */
export function lineOf(message: OpRequest | OpMessage): string {
  return `${JSON.stringify(message)}\n`;
}

/**
 * Calls `onLine` with each whole line that comes in.
 * @param maxBytes of one line; a longer one is not waited for.
 * @returns when the other side has ended, or has sent a line that is too long.
 */
export async function readLines(
  socket: Socket,
  maxBytes: number,
  onLine: (line: string) => void,
): Promise<'ended' | 'too long'> {
  let parts: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of socket as AsyncIterable<Buffer>) {
    let rest = chunk;
    for (let end = rest.indexOf(10); end !== -1; end = rest.indexOf(10)) {
      onLine(Buffer.concat([...parts, rest.subarray(0, end)]).toString('utf8'));
      [parts, bytes] = [[], 0];
      rest = rest.subarray(end + 1);
    }
    parts.push(rest);
    bytes += rest.length;
    if (bytes > maxBytes) return 'too long';
  }
  return 'ended';
}
