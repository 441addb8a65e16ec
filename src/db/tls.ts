/** TLS to PostgreSQL as `sslmode=verify-full` promises it. */
import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import type pg from 'pg';

/** The parameters that say how TLS is done. With one of them the driver ignores other options. */
const tlsParameters = ['sslmode', 'ssl', 'sslnegotiation', 'sslrootcert', 'sslcert', 'sslkey'];

/**
 * Where the driver connects to, and how it checks who answers. The driver leaves two gaps in
 * `sslmode=verify-full`: of a host that is an IP address it accepts the certificate of `localhost`,
 * and `NODE_TLS_REJECT_UNAUTHORIZED=0` turns its checks off. Every other mode is the driver's.
 *
 * @param url a PostgreSQL address.
 * @returns the driver's options for it.
 * @throws Error when a file that the address names cannot be read.
 */
export function addressOf(url: string): Pick<pg.ClientConfig, 'connectionString' | 'ssl'> {
  const address = new URL(url);
  const { hostname, searchParams } = address;
  // The driver takes the last of several.
  const lastOf = (name: string): string | undefined => searchParams.getAll(name).at(-1);
  if (lastOf('sslmode') !== 'verify-full') return { connectionString: url };
  const fileOf = (name: string): string | undefined => {
    const path = lastOf(name);
    return path && readFileSync(path, 'utf8');
  };
  const [ca, cert, key] = [fileOf('sslrootcert'), fileOf('sslcert'), fileOf('sslkey')];
  const host = (lastOf('host') || hostname).replace(/^\[(.+)\]$/, '$1');
  const sslnegotiation = lastOf('sslnegotiation');
  for (const name of tlsParameters) searchParams.delete(name);
  return {
    connectionString: address.href,
    ...(sslnegotiation && { sslnegotiation }),
    ssl: {
      rejectUnauthorized: true,
      // A certificate is checked against this when the driver gives no name, as with an IP address.
      ...(isIP(host) !== 0 && { host }),
      ...(ca && { ca }),
      ...(cert && { cert }),
      ...(key && { key }),
    },
  };
}
