/** Where the configured service is found. */
import type { Config } from '../src/config/config.ts';
import { ownAddress as addressOf } from '../src/config/own-address.ts';

/** @returns its address from this machine; null where its port is any free one. */
export function ownAddress({ host, port }: Pick<Config, 'host' | 'port'>): URL | null {
  return port === 0 ? null : URL.parse(addressOf({ host, port }));
}
