/** Warns of a reverse proxy that the configuration does not mention. */
import type { IncomingMessage } from 'node:http';
import type { Context } from '../context.ts';

/**
 * Behind a proxy with TRUST_PROXY_HOPS=0 all clients share the limits of one address. In staging
 * and production, the start warns of it.
 * @returns a function that checks each request and warns of the first forwarded one.
 */
export function createProxyWatch({ config, log }: Context): (request: IncomingMessage) => void {
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
      'a request has X-Forwarded-For and TRUST_PROXY_HOPS is 0: if a proxy sent it, all ' +
        'clients count as one address; set TRUST_PROXY_HOPS to the number of proxies',
    );
  };
}
