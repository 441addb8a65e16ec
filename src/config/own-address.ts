/** The address and URL of a local service. */
import { BlockList, isIP } from 'node:net';

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

const loopback = new BlockList();
loopback.addSubnet('127.0.0.0', 8, 'ipv4');
loopback.addAddress('::1', 'ipv6');

/** Whether a host is this machine alone. */
export function isLoopbackHost(host: string): boolean {
  const version = isIP(host);
  if (version === 0) return host === 'localhost';
  return loopback.check(host, version === 6 ? 'ipv6' : 'ipv4');
}
