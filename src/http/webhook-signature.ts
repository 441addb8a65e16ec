/**
 * Verifies that an event comes from the provider: its Standard Webhooks signature
 * (https://www.standardwebhooks.com) and the sender's address.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { BlockList, isIPv6 } from 'node:net';
import type { Clock } from '../clock.ts';
import type { WebhookRefusal } from '../domain/webhook-refusal.ts';
import { AppError } from '../errors.ts';

/** The refusal of an event; its sender does not learn the reason. */
export class WebhookRefused extends AppError {
  readonly reason: WebhookRefusal;

  constructor(reason: WebhookRefusal) {
    super('WEBHOOK_SECRET_REFUSED');
    this.reason = reason;
  }
}

/**
 * The largest difference between the event's timestamp and now, in milliseconds: limits replays.
 */
const toleranceMs = 5 * 60_000;

export interface SignedEvent {
  readonly headers: IncomingHttpHeaders;
  /** The unparsed body. */
  readonly body: Buffer;
}

/**
 * Requires a valid signature; an empty list of secrets accepts every event.
 * @param secrets the accepted secrets: `whsec_` and base64, or the text itself.
 * @throws WebhookRefused
 */
export function requireWebhookSignature(
  secrets: readonly string[],
  { headers, body }: SignedEvent,
  clock: Clock,
): void {
  if (secrets.length === 0) return;
  const id = String(headers['webhook-id'] ?? '');
  const timestamp = String(headers['webhook-timestamp'] ?? '');
  const isRecent =
    /^\d{1,12}$/.test(timestamp) &&
    Math.abs(clock.now().getTime() - Number(timestamp) * 1_000) <= toleranceMs;
  const signatures = String(headers['webhook-signature'] ?? '')
    .split(' ')
    .filter((part) => part.startsWith('v1,'))
    .map((part) => Buffer.from(part.slice('v1,'.length), 'base64'));
  const expected = secrets.map((secret) =>
    createHmac('sha256', decodeSecret(secret)).update(`${id}.${timestamp}.`).update(body).digest(),
  );
  const isSigned = expected.some((one) =>
    signatures.some((other) => other.length === one.length && timingSafeEqual(one, other)),
  );
  if (id === '' || signatures.length === 0) throw new WebhookRefused('missing_signature');
  // The timestamp is signed: it says nothing before the signature is known to be right.
  if (!isSigned) throw new WebhookRefused('wrong_signature');
  if (!isRecent) throw new WebhookRefused('stale_signature');
}

function decodeSecret(secret: string): Buffer {
  const prefix = 'whsec_';
  return secret.startsWith(prefix)
    ? Buffer.from(secret.slice(prefix.length), 'base64')
    : Buffer.from(secret, 'utf8');
}

/**
 * Requires a listed address; an empty list allows every address.
 * @param allowed addresses, and networks such as `203.0.113.0/24`.
 * @throws WebhookRefused
 */
export function requireAllowedAddress(allowed: readonly string[], address: string): void {
  if (allowed.length === 0) return;
  // An IPv6 address is represented by its /64.
  const bare = address.replace(/\/64$/, '');
  const family = isIPv6(bare) ? 'ipv6' : 'ipv4';
  if (!blockListFor(allowed).check(bare, family)) throw new WebhookRefused('wrong_address');
}

/** Block lists are built once for each list of allowed addresses. */
const blockLists = new WeakMap<readonly string[], BlockList>();

function blockListFor(allowed: readonly string[]): BlockList {
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
