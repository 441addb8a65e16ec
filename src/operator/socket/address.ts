/** Where the socket of a service on the embedded database is. */
import { createHash } from 'node:crypto';
import { realpathSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';

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
