/** The address and URL of a local service. */

/** Wildcard addresses, and the address to connect to. */
const anyHost: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '[::1]' };

/** @returns the URL of a service on a host and a port, without a path. */
export function ownAddress({ host, port }: { host: string; port: number }): string {
  const name = anyHost[host] ?? (host.includes(':') ? `[${host}]` : host);
  return `http://${name}:${port}`;
}

/** Whether a host stands for all addresses of the machine. */
export function isAnyHost(host: string): boolean {
  return Object.hasOwn(anyHost, host);
}
