/** The forms of settings that JSON Schema has no word for, each as a check of the text. */
import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';

/** RFC 7518 section 3.3 asks for at least 2048 bits under RS256. */
const minimumRsaBits = 2048;

function isStrongRsa(key: KeyObject): boolean {
  const bits = key.asymmetricKeyDetails?.modulusLength ?? 0;
  return key.asymmetricKeyType === 'rsa' && bits >= minimumRsaBits;
}

function holds(check: () => boolean): boolean {
  try {
    return check();
  } catch {
    return false;
  }
}

function isUrl(value: string, protocols: readonly string[]): boolean {
  return URL.canParse(value) && protocols.includes(new URL(value).protocol);
}

/** A base address: calls are made below it, so it ends in neither a query nor a fragment. */
function isBaseUrl(value: string): boolean {
  if (!isUrl(value, ['http:', 'https:'])) return false;
  const { username, password, search, hash } = new URL(value);
  return [username, password, search, hash].every((part) => part === '');
}

function isKeyOf32Bytes(value: string): boolean {
  const bytes = Buffer.from(value, 'base64');
  return bytes.length === 32 && bytes.toString('base64') === value;
}

const publicPem = /-----BEGIN ((?:RSA )?PUBLIC KEY)-----[^-]+-----END \1-----/g;

/** Splits several public keys, one PEM after the other; null when anything else is among them. */
export function splitPublicPems(value: string): string[] | null {
  const rest = value.replace(publicPem, '').trim();
  return rest === '' ? (value.match(publicPem) ?? null) : null;
}

function arePublicKeys(value: string): boolean {
  const pems = splitPublicPems(value);
  return pems?.every((pem) => isStrongRsa(createPublicKey(pem))) ?? false;
}

/** Splits the accepted webhook secrets: one, or the new and the old one during a rotation. */
export function splitSecrets(value: string): string[] {
  return value.split(',').map((secret) => secret.trim());
}

/** Registered with AJV under these names. */
export const formats = {
  'postgres-url': (value: string) => isUrl(value, ['postgres:', 'postgresql:']),
  'base-url': isBaseUrl,
  'key-of-32-bytes': isKeyOf32Bytes,
  'rsa-private-key': (value: string) => holds(() => isStrongRsa(createPrivateKey(value))),
  'rsa-public-keys': (value: string) => holds(() => arePublicKeys(value)),
  // A header's value is visible ASCII; a space at either end would never arrive.
  'webhook-secrets': (value: string) =>
    splitSecrets(value).length <= 2 &&
    splitSecrets(value).every((secret) => /^[!-~]{1,256}$/.test(secret)),
} as const;

export type Format = keyof typeof formats;
