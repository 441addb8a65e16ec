/** The custom formats of settings, each as a check of the text. */
import {
  createHash,
  createPrivateKey,
  createPublicKey,
  X509Certificate,
  type KeyObject,
} from 'node:crypto';
import { isIP, isIPv6 } from 'node:net';
import { centsFromDecimal, maxAmountCents } from '../domain/money.ts';
import { taxIdKind } from '../domain/tax-id.ts';

/** RFC 7518, section 3.3, requires at least 2048 bits for RS256. */
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

/** A base URL has no query and no fragment, because paths are appended to it. */
function isBaseUrl(value: string): boolean {
  if (!isUrl(value, ['http:', 'https:'])) return false;
  const { username, password, search, hash } = new URL(value);
  return [username, password, search, hash].every((part) => part === '');
}

function isKeyOf32Bytes(value: string): boolean {
  const bytes = Buffer.from(value, 'base64');
  return bytes.length === 32 && bytes.toString('base64') === value;
}

/**
 * Whether bytes have no obvious pattern: no constant step between neighbours, as in the example
 * keys of FIPS 197, and no repeated half, as in `0123456789abcdef` twice.
 */
function areRandom(bytes: Buffer): boolean {
  const steps = new Set(bytes.map((byte, index) => byte - (bytes[index - 1] ?? 0)).subarray(1));
  const half = bytes.length / 2;
  return steps.size > 1 && !bytes.subarray(0, half).equals(bytes.subarray(half));
}

/** RFC 7638 thumbprints of RSA keys whose private key is published. */
const publishedKeys: ReadonlySet<string> = new Set([
  'IsUn6_e04MaShXFIISMp4kG62LWzMIPy_MvSA5pJgX8', // RFC 7515, appendix A.2
  'NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs', // RFC 7517, appendix A.2
  'oGDmHqCJ7yzMkWEkrlZVHkvrHIyQwtlDmeq5ForUHeY', // the example of jwt.io
]);

/** @param pem a private key or a public one. */
function isPublished(pem: string): boolean {
  const { e, kty, n } = createPublicKey(pem).export({ format: 'jwk' });
  const digest = createHash('sha256').update(JSON.stringify({ e, kty, n }));
  return publishedKeys.has(digest.digest('base64url'));
}

const publicPem = /-----BEGIN ((?:RSA )?PUBLIC KEY)-----[^-]+-----END \1-----/g;

/** Splits concatenated public keys in PEM; null if there is any other text. */
export function splitPublicPems(value: string): string[] | null {
  const rest = value.replace(publicPem, '').trim();
  return rest === '' ? (value.match(publicPem) ?? null) : null;
}

function isPrivateKey(value: string): boolean {
  return isStrongRsa(createPrivateKey(value));
}

function arePublicKeys(value: string): boolean {
  const pems = splitPublicPems(value);
  return pems?.every((pem) => isStrongRsa(createPublicKey(pem))) ?? false;
}

/** Splits a list at commas. */
export function splitList(value: string): string[] {
  return value === '' ? [] : value.split(',').map((part) => part.trim());
}

/** One key, or two different keys during a rotation. */
function areKeys(value: string, isKey: (key: string) => boolean): boolean {
  const keys = splitList(value);
  return keys.length <= 2 && new Set(keys).size === keys.length && keys.every(isKey);
}

/** The secrets are header values: visible ASCII without spaces. */
function areSecrets(value: string): boolean {
  const secrets = splitList(value);
  return secrets.length <= 2 && secrets.every((one) => /^[!-~]{1,256}$/.test(one));
}

function isStrongSecret(value: string): boolean {
  return value.length >= 32 && areRandom(Buffer.from(value));
}

/** A secret of Standard Webhooks: `whsec_` and 24 to 64 bytes in base64. */
function isSigningSecret(value: string): boolean {
  const { length } = signingBytes(value);
  const encoded = signingBytes(value).toString('base64');
  return length >= 24 && length <= 64 && value === `whsec_${encoded}`;
}

function signingBytes(secret: string): Buffer {
  return Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
}

/** Plain HTTP is accepted for loopback hosts only, because it is not encrypted. */
function isHttpsOrLoopback(value: string): boolean {
  if (!isUrl(value, ['http:', 'https:'])) return false;
  const { protocol, hostname, username, password, hash } = new URL(value);
  const isLoopback = /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/.test(hostname);
  return (
    [username, password, hash].every((part) => part === '') && (protocol === 'https:' || isLoopback)
  );
}

const certificatePem = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

function areCertificates(value: string): boolean {
  const pems = value.match(certificatePem) ?? [];
  const isAll = value.replace(certificatePem, '').trim() === '';
  return isAll && pems.length > 0 && pems.every((pem) => new X509Certificate(pem).validTo !== '');
}

/** Whether a private key belongs to the first certificate; false if either is invalid. */
export function matchesCertificate(certificates: string, key: string): boolean {
  return holds(() => new X509Certificate(certificates).checkPrivateKey(createPrivateKey(key)));
}

/** An IPv4 address or network, or an IPv6 network of /64 or larger: one client has a whole /64. */
function isNetwork(value: string): boolean {
  const [address = '', prefix, ...rest] = value.split('/');
  if (!isIP(address) || rest.length > 0) return false;
  if (prefix === undefined) return !isIPv6(address);
  return /^\d{1,2}$/.test(prefix) && Number(prefix) <= (isIPv6(address) ? 64 : 32);
}

/**
 * An origin as a browser sends it (RFC 6454, section 7), also of an app's web view, such as
 * `capacitor://localhost`. Neither `*` nor `null`: they name everybody.
 */
function isOrigin(value: string): boolean {
  if (!/^[a-z][a-z0-9+.-]*:\/\/[a-z0-9.:[\]-]+$/.test(value) || !URL.canParse(value)) return false;
  return !isUrl(value, ['http:', 'https:']) || new URL(value).origin === value;
}

function isHostName(value: string): boolean {
  return /^(?!-)[a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63}){0,30}$/i.test(value);
}

/** `host:port` with a port that can be connected to, or the path of a Unix socket. */
function isSocketAddress(value: string): boolean {
  if (value.length > 1_024) return false;
  const port = Number(/^[^\s/]+:(\d{1,5})$/.exec(value)?.[1]);
  return /^\/./s.test(value) || (port >= 1 && port <= 65_535);
}

/** An amount in reais that a customer could send. */
function isAmount(value: string): boolean {
  const cents = centsFromDecimal(value);
  return cents !== null && cents > 0 && cents <= maxAmountCents;
}

/** A name on one line, without characters that change the direction of the text after it. */
function isName(value: string): boolean {
  return value.length <= 140 && value.trim() !== '' && !/[\p{Cc}\p{Bidi_C}]/u.test(value);
}

/** The dialects of `contract/provider/dialects/`. */
export const dialectNames = ['ponte', 'bacen', 'celcoin', 'woovi', 'efi'] as const;

/** The value that names every dialect. */
export const everyDialect = dialectNames.join();

/** The value that names no dialect or no feature. */
export const noNames = 'none';

/**
 * What a provider may offer beyond its specification: `analysis` reports the payments that it holds
 * for analysis, `blocked-balance` the blocked part of a balance, `disputes` opens and withdraws
 * disputes of payments.
 */
export const providerFeatures = [
  'analysis',
  'blocked-balance',
  'disputes',
  'dynamic-codes',
  'refund',
] as const;

export type ProviderFeature = (typeof providerFeatures)[number];

/** Names of a list, each once, or `none`. */
function areNames(value: string, known: readonly string[]): boolean {
  if (value === noNames) return true;
  const names = splitList(value);
  return names.every((name) => known.includes(name)) && new Set(names).size === names.length;
}

/**
 * Reads the headers of OTEL_EXPORTER_OTLP_HEADERS: `name=value`, separated by commas, each value
 * with % escapes.
 * @returns null when they are invalid.
 */
export function readOtlpHeaders(value: string): Record<string, string> | null {
  const pairs = splitList(value).map((pair) => /^([!#$%&'*+\-.^_`|~\w]+)=(.*)$/.exec(pair));
  try {
    const headers = pairs.map((pair) => [pair?.[1], decodeURIComponent(pair?.[2] ?? '')] as const);
    const isValid = headers.every(([name, text]) => name && /^[\x20-\x7e]{1,4096}$/.test(text));
    return isValid ? (Object.fromEntries(headers) as Record<string, string>) : null;
  } catch {
    return null;
  }
}

/** Registered with AJV under these names. */
export const formats = {
  // Without the slashes, a URL has neither user nor host: its password would be part of its path.
  'postgres-url': (value: string) =>
    /^postgres(?:ql)?:\/\/(?![\\/]{2})/i.test(value) && isUrl(value, ['postgres:', 'postgresql:']),
  'base-url': isBaseUrl,
  'https-base-url': (value: string) => isBaseUrl(value) && isUrl(value, ['https:']),
  'keys-of-32-bytes': (value: string) => areKeys(value, isKeyOf32Bytes),
  'random-keys-of-32-bytes': (value: string) =>
    areKeys(value, (key) => isKeyOf32Bytes(key) && areRandom(Buffer.from(key, 'base64'))),
  'rsa-private-key': (value: string) => holds(() => isPrivateKey(value)),
  'own-rsa-private-key': (value: string) => holds(() => isPrivateKey(value) && !isPublished(value)),
  'rsa-public-keys': (value: string) => holds(() => arePublicKeys(value)),
  'own-rsa-public-keys': (value: string) =>
    holds(() => arePublicKeys(value) && !splitPublicPems(value)?.some(isPublished)),
  'otlp-headers': (value: string) => readOtlpHeaders(value) !== null,
  share: (value: string) => /^(?:0(?:\.\d{1,9})?|1(?:\.0{1,9})?)$/.test(value),
  'host-names': (value: string) => splitList(value).every(isHostName),
  origins: (value: string) => splitList(value).every(isOrigin),
  'socket-address': isSocketAddress,
  amount: isAmount,
  networks: (value: string) => splitList(value).every(isNetwork),
  certificates: (value: string) => holds(() => areCertificates(value)),
  'private-key': (value: string) => holds(() => createPrivateKey(value).type === 'private'),
  'signing-secrets': (value: string) => areKeys(value, isSigningSecret),
  'random-signing-secrets': (value: string) =>
    areKeys(value, (one) => isSigningSecret(one) && areRandom(signingBytes(one))),
  'https-or-loopback-url': isHttpsOrLoopback,
  dialects: (value: string) => areNames(value, dialectNames),
  features: (value: string) => areNames(value, providerFeatures),
  name: isName,
  cnpj: (value: string) => taxIdKind(value) === 'CNPJ',
  'yaml-files': (value: string) =>
    splitList(value).every((path) => /^[^\0]{1,1019}\.yaml$/.test(path)),
  'webhook-secrets': areSecrets,
  'random-webhook-secrets': (value: string) =>
    areSecrets(value) && splitList(value).every(isStrongSecret),
} as const;

export type Format = keyof typeof formats;
