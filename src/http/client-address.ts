/** Determines the client address behind trusted proxies, and warns of an unexpected proxy. */
import type { IncomingMessage } from 'node:http';
import { isIPv4, isIPv6 } from 'node:net';
import type { Context } from '../context/context.ts';

/**
 * Returns the client's address, normalised for throttling.
 *
 * Each trusted proxy appends the address that it saw to `X-Forwarded-For`, so the client is the
 * n-th entry from the right; the client can forge the entries to the left of it. An
 * invalid entry is replaced by the socket's address.
 *
 * @param trustedHops the number of proxies in front of the service; 0 ignores the header.
 * @returns an IPv4 address, or the /64 of an IPv6 one, because a single subscriber holds a /64.
 */
export function clientAddress(request: IncomingMessage, trustedHops: number): string {
  const socketAddress = request.socket.remoteAddress ?? '';
  if (trustedHops === 0) return throttleAddress(socketAddress);
  const forwarded = forwardedAddress(request.headers['x-forwarded-for'], trustedHops);
  return throttleAddress(forwarded ?? socketAddress);
}

/** Whether an address is a loopback address. */
export function isLoopback(address: string | undefined): boolean {
  const plain = throttleAddress(address ?? '');
  return plain.startsWith('127.') || address === '::1';
}

function forwardedAddress(header: string | string[] | undefined, hops: number): string | null {
  if (header === undefined) return null;
  const entries = String(header).split(',');
  // With fewer entries than proxies, the leftmost entry was still written by a trusted proxy.
  const entry = (entries[Math.max(0, entries.length - hops)] ?? '').trim();
  const address = withoutPort(entry);
  return isIPv4(address) || isIPv6(address) ? address : null;
}

/** Some proxies write `203.0.113.7:4711` or `[2001:db8::1]:4711`. */
function withoutPort(entry: string): string {
  const bracketed = /^\[(.+)\](?::\d+)?$/.exec(entry);
  if (bracketed?.[1] !== undefined) return bracketed[1];
  return /^(\d+\.\d+\.\d+\.\d+):\d+$/.exec(entry)?.[1] ?? entry;
}

/** Normalises an address for throttling: IPv4, or the /64 of an IPv6 address. */
export function throttleAddress(address: string): string {
  if (isIPv4(address) || !isIPv6(address)) return address;
  const groups = expandedGroups(address);
  const isMappedIPv4 = groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff;
  if (isMappedIPv4) {
    const [high = 0, low = 0] = groups.slice(6);
    return [high >> 8, high & 255, low >> 8, low & 255].join('.');
  }
  const network = groups.slice(0, 4).map((group) => group.toString(16));
  return `${network.join(':')}::/64`;
}

/** The eight groups of an IPv6 address; the zone (`%eth0`) is left out. */
function expandedGroups(address: string): number[] {
  const [plain = ''] = address.split('%', 1);
  // The URL parser returns the canonical form, with an IPv4 tail in hexadecimal.
  const canonical = new URL(`http://[${plain}]`).hostname.slice(1, -1);
  const [head = [], tail = []] = canonical
    .split('::')
    .map((half) => (half === '' ? [] : half.split(':').map((group) => Number.parseInt(group, 16))));
  return [...head, ...Array<number>(8 - head.length - tail.length).fill(0), ...tail];
}

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
