/** TLS to PostgreSQL with the guarantees of `sslmode=verify-full`. */
import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import type pg from 'pg';

/** The parameters of TLS. With one of them the driver ignores other options. */
const tlsParameters = ['sslmode', 'ssl', 'sslnegotiation', 'sslrootcert', 'sslcert', 'sslkey'];

/**
 * The address that the driver connects to, and its checks of the server's identity. The driver has
 * two gaps in `sslmode=verify-full`: for a host that is an IP address it accepts the certificate of
 * `localhost`, and `NODE_TLS_REJECT_UNAUTHORIZED=0` turns its checks off. Every other mode is left
 * to the driver.
 *
 * @param url a PostgreSQL address.
 * @returns the driver's options for it.
 * @throws Error when a file that the address names cannot be read.
 */
export function connectionAddress(url: string): Pick<pg.ClientConfig, 'connectionString' | 'ssl'> {
  const address = new URL(url);
  const { hostname, searchParams } = address;
  // The driver uses the last value of a repeated parameter.
  const lastParameter = (name: string): string | undefined => searchParams.getAll(name).at(-1);
  if (lastParameter('sslmode') !== 'verify-full') return { connectionString: url };
  const readParameterFile = (name: string): string | undefined => {
    const path = lastParameter(name);
    return path && readFileSync(path, 'utf8');
  };
  const [ca, cert, key] = [
    readParameterFile('sslrootcert'),
    readParameterFile('sslcert'),
    readParameterFile('sslkey'),
  ];
  const host = (lastParameter('host') || hostname).replace(/^\[(.+)\]$/, '$1');
  const sslnegotiation = lastParameter('sslnegotiation');
  for (const name of tlsParameters) searchParams.delete(name);
  return {
    connectionString: address.href,
    ...(sslnegotiation && { sslnegotiation }),
    ssl: {
      rejectUnauthorized: true,
      // The driver passes no name for an IP address, so the certificate is checked against this.
      ...(isIP(host) !== 0 && { host }),
      ...(ca && { ca }),
      ...(cert && { cert }),
      ...(key && { key }),
    },
  };
}
