/** Notices a reverse proxy that the configuration does not know of. */
import type { IncomingMessage } from 'node:http';
import type { Context } from '../context.ts';

/**
 * Behind a proxy with TRUST_PROXY_HOPS=0 all clients share the limits of one address. Where others
 * than the developer are served, the start says so.
 * @returns what looks at each request, and warns at the first that a proxy has forwarded.
 */
export function proxyWatch({ config, log }: Context): (request: IncomingMessage) => void {
  const setting = 'TRUST_PROXY_HOPS';
  const { appEnv, trustProxyHops } = config;
  let isWatching = trustProxyHops === 0;
  if (isWatching && (appEnv === 'staging' || appEnv === 'production')) {
    log.warn(
      { setting },
      'TRUST_PROXY_HOPS is 0: behind a TLS proxy all clients count as one address; ' +
        'set it to the number of proxies',
    );
  }
  return ({ headers }) => {
    if (!isWatching || headers['x-forwarded-for'] === undefined) return;
    isWatching = false;
    log.warn(
      { setting },
      'a request came with X-Forwarded-For and TRUST_PROXY_HOPS is 0: if a proxy sent it, all ' +
        'clients count as one address',
    );
  };
}
