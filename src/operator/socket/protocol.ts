/**
 * The protocol of the socket, and its path. Each line is a JSON object: the command requests one
 * op, the service reports progress and the result, and the connection ends.
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
  readonly operator: string;
  readonly reason?: string | undefined;
}

export type OpMessage =
  | { readonly progress: readonly [done: number, total: number] }
  | { readonly result: unknown }
  | { readonly refusal: { readonly code: OpRefusal; readonly message: string } }
  /** `unreachable`: the service could not reach its database. */
  | { readonly failure: { readonly message: string; readonly unreachable: boolean } };

/** Larger than any request. */
export const maxRequestBytes = 256 * 1024;

/** Encodes a message as a line. */
export function encodeMessage(message: OpRequest | OpMessage): string {
  return `${JSON.stringify(message)}\n`;
}

/**
 * Calls `onLine` with each complete line.
 * @param maxBytes the largest size of a line.
 * @returns when the connection has ended, or a line is too long.
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
const maxPathBytes = 103;

export interface SocketAddress {
  /** Only its owner may enter this folder, so that the socket is never accessible to others. */
  readonly folder: string;
  readonly path: string;
}

/**
 * @param dataDir an absolute path. If it is too long for a socket, the socket is in the system's
 *   folder for temporary files, in a folder named by a digest of the path.
 */
export function socketAddress(dataDir: string): SocketAddress {
  const near = addressIn(join(dataDir, 'control'));
  if (Buffer.byteLength(near.path) <= maxPathBytes) return near;
  const name = createHash('sha256').update(resolveRealPath(dataDir)).digest('hex').slice(0, 16);
  return addressIn(join(tmpdir(), `ponte-${userInfo().uid}-${name}`));
}

function addressIn(folder: string): SocketAddress {
  return { folder, path: join(folder, 'socket') };
}

/** Independent of symbolic links. */
function resolveRealPath(dataDir: string): string {
  try {
    return realpathSync(dataDir);
  } catch {
    return dataDir;
  }
}
