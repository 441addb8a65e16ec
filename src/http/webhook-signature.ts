/**
 * Whether an event comes from the provider: its signature by Standard Webhooks
 * (https://www.standardwebhooks.com), and the address that it comes from.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { BlockList, isIPv6 } from 'node:net';
import type { Clock } from '../clock.ts';
import { AppError } from '../errors.ts';

/** How far the time of an event may be from now, in milliseconds: a stolen one soon is stale. */
const toleranceMs = 5 * 60_000;

export interface SignedEvent {
  readonly headers: IncomingHttpHeaders;
  /** The bytes as they came. */
  readonly body: Buffer;
}

/**
 * Refuses an event without a valid signature; without a configured secret every event passes.
 * @param secrets each is accepted: `whsec_` and base64, or the text itself.
 * @throws AppError WEBHOOK_SECRET_REFUSED
 */
export function requireWebhookSignature(
  secrets: readonly string[],
  { headers, body }: SignedEvent,
  clock: Clock,
): void {
  if (secrets.length === 0) return;
  const id = String(headers['webhook-id'] ?? '');
  const timestamp = String(headers['webhook-timestamp'] ?? '');
  const isTimely =
    /^\d{1,12}$/.test(timestamp) &&
    Math.abs(clock.now().getTime() - Number(timestamp) * 1_000) <= toleranceMs;
  const signatures = String(headers['webhook-signature'] ?? '')
    .split(' ')
    .filter((part) => part.startsWith('v1,'))
    .map((part) => Buffer.from(part.slice('v1,'.length), 'base64'));
  const expected = secrets.map((secret) =>
    createHmac('sha256', keyOf(secret)).update(`${id}.${timestamp}.`).update(body).digest(),
  );
  const isSigned = expected.some((one) =>
    signatures.some((other) => other.length === one.length && timingSafeEqual(one, other)),
  );
  if (id === '' || !isTimely || !isSigned) throw new AppError('WEBHOOK_SECRET_REFUSED');
}

function keyOf(secret: string): Buffer {
  const prefix = 'whsec_';
  return secret.startsWith(prefix)
    ? Buffer.from(secret.slice(prefix.length), 'base64')
    : Buffer.from(secret, 'utf8');
}

/**
 * Refuses an event from an address that is not listed; an empty list allows every address.
 * @param allowed addresses, and networks such as `203.0.113.0/24`.
 * @throws AppError WEBHOOK_SECRET_REFUSED
 */
export function requireAllowedAddress(allowed: readonly string[], address: string): void {
  if (allowed.length === 0) return;
  // An IPv6 address is known by its /64.
  const bare = address.replace(/\/64$/, '');
  const family = isIPv6(bare) ? 'ipv6' : 'ipv4';
  if (!blockListOf(allowed).check(bare, family)) throw new AppError('WEBHOOK_SECRET_REFUSED');
}

/** Made once for each list. */
const blockLists = new WeakMap<readonly string[], BlockList>();

function blockListOf(allowed: readonly string[]): BlockList {
  const known = blockLists.get(allowed);
  if (known) return known;
  const list = new BlockList();
  for (const entry of allowed) {
    const [address = '', prefix] = entry.split('/');
    const family = isIPv6(address) ? 'ipv6' : 'ipv4';
    if (prefix === undefined) list.addAddress(address, family);
    else list.addSubnet(address, Number(prefix), family);
  }
  blockLists.set(allowed, list);
  return list;
}
