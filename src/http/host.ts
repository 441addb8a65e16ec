/** Checks the `Host` header: the rules of HTTP, and the names that a local service accepts. */
import type { IncomingMessage } from 'node:http';
import { isIPv4, isIPv6 } from 'node:net';
import type { Config } from '../config/config.ts';
import { AppError } from '../errors.ts';
import { isLoopback } from './client-address.ts';
import { countHeader } from './raw-headers.ts';

/**
 * Requires exactly one `Host` header in HTTP/1.1 (RFC 9112, section 3.2).
 * @throws AppError BAD_REQUEST
 */
export function requireHost({ headers, httpVersion, rawHeaders }: IncomingMessage): void {
  const isMissing = headers.host === undefined && httpVersion !== '1.0';
  if (isMissing || countHeader(rawHeaders, 'host') > 1) throw new AppError('BAD_REQUEST');
}

/**
 * Refuses foreign host names where the service runs in `local`. A page whose name resolves to this
 * machine (DNS rebinding) has the same origin as the service and could read its replies. An IP
 * address cannot be rebound, so a phone on the same network can connect.
 * @throws AppError HOST_REFUSED
 */
export function requireLocalHost({ headers }: IncomingMessage, config: Config): void {
  if (config.appEnv !== 'local' || headers.host === undefined) return;
  const name = hostName(headers.host);
  if (isAddress(name) || isLocalhost(name)) return;
  const configured = [config.host, ...config.allowedHosts];
  if (!configured.some((one) => one.toLowerCase() === name)) throw new AppError('HOST_REFUSED');
}

/** Whether the `Host` of a request names this machine. */
export function isForLoopback({ headers: { host } }: IncomingMessage): boolean {
  if (host === undefined) return true;
  const name = hostName(host);
  return isLocalhost(name) || isLoopback(name.replace(/^\[(.+)\]$/, '$1'));
}

/** The name without its port, in lower case; an IPv6 address keeps its brackets. */
function hostName(host: string): string {
  const name = /^(\[[^\]]*\]|[^:]*)(?::\d*)?$/.exec(host)?.[1] ?? host;
  return name.toLowerCase().replace(/\.$/, '');
}

function isAddress(name: string): boolean {
  return isIPv4(name) || (name.startsWith('[') && isIPv6(name.slice(1, -1)));
}

/** Browsers never look up these names (RFC 6761, section 6.3). */
function isLocalhost(name: string): boolean {
  return name === 'localhost' || name.endsWith('.localhost');
}
