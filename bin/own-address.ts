/** Where the configured service is found. */
import type { Config } from '../src/config.ts';

/** Addresses that only say where a service listens. */
const anyHost: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '[::1]' };

/** @returns its address from this machine; null where its port is any free one. */
export function ownAddress({ host, port }: Pick<Config, 'host' | 'port'>): URL | null {
  if (port === 0) return null;
  const name = anyHost[host] ?? (host.includes(':') ? `[${host}]` : host);
  return URL.parse(`http://${name}:${port}`);
}
