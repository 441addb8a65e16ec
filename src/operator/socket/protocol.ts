/**
 * What is said over the socket of a running service, a JSON object a line: the command asks for one
 * op, the service tells of its progress and answers, and the connection ends.
 */
import { createHash } from 'node:crypto';
import { realpathSync } from 'node:fs';
import type { Socket } from 'node:net';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
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

/**
 * `sun_path` has 108 bytes on Linux and 104 on macOS, the closing NUL among them.
 * @see unix(7)
 */
const longestPathBytes = 103;

export interface SocketAddress {
  /** A folder of its own that only its owner may enter: the socket is never open to others. */
  readonly folder: string;
  readonly path: string;
}

/**
 * @param dataDir an absolute path. Where it is too long for a socket's name, the socket is in a
 *   folder of the system's for temporary files, named after it.
 */
export function socketAddress(dataDir: string): SocketAddress {
  const near = addressIn(join(dataDir, 'control'));
  if (Buffer.byteLength(near.path) <= longestPathBytes) return near;
  const name = createHash('sha256').update(realPathOf(dataDir)).digest('hex').slice(0, 16);
  return addressIn(join(tmpdir(), `ponte-${userInfo().uid}-${name}`));
}

function addressIn(folder: string): SocketAddress {
  return { folder, path: join(folder, 'socket') };
}

/** The same for everybody who comes to the folder, through whatever links. */
function realPathOf(dataDir: string): string {
  try {
    return realpathSync(dataDir);
  } catch {
    return dataDir;
  }
}
