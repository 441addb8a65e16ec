/** Where a service that listens as configured is found from this machine. */

/** Addresses that only say where a service listens. */
const anyHost: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '[::1]' };

/** @returns the address of what listens on a host and a port, without a path. */
export function ownAddress({ host, port }: { host: string; port: number }): string {
  const name = anyHost[host] ?? (host.includes(':') ? `[${host}]` : host);
  return `http://${name}:${port}`;
}
