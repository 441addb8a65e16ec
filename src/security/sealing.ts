/**
 * Sealing: encrypts provider tokens and uploaded documents in the database with AES-256-GCM. The
 * row's owner is the additional data, so that a sealed value cannot be opened in another row.
 *
 *     1 | IV (12 bytes) | tag (16 bytes) | ciphertext
 *     2 | key id (4 bytes) | IV (12 bytes) | tag (16 bytes) | ciphertext
 *
 * The first byte is the version. With one key, values are sealed as version 1. During a rotation
 * there are two keys, and values are sealed as version 2 with the first key of the ring. Older
 * values can be opened as long as their key is in the ring.
 */
import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createHmac,
  hkdfSync,
  randomBytes,
} from 'node:crypto';

const keyIdBytes = 4;

/** NIST SP 800-38D, section 8.2.2: random 96-bit IVs allow 2^32 encryptions under one key. */
const ivBytes = 12;
const tagBytes = 16;

/** A key of the ring, and the prefix of the values that it seals. */
interface SealingKey {
  readonly key: Buffer;
  readonly prefix: Buffer;
}

export interface Sealer {
  /** The prefix of newly sealed values during a rotation; null with a single key. */
  readonly currentPrefix: Buffer | null;
  /** Encrypts for one owner, such as `user:7`; a text counts as UTF-8. */
  seal(plain: Buffer | string, owner: string): Buffer;
  /** @throws SealError for another owner or key, and for changed bytes. */
  open(sealed: Buffer, owner: string): Buffer;
  /**
   * Opens a short text that every request needs, such as a provider token. The latest text of each
   * owner is cached.
   * @throws SealError as `open` does.
   */
  openText(sealed: Buffer, owner: string): string;
  /** Whether a text of the owner was opened, and is cached. */
  hasText(owner: string): boolean;
  /** Removes the cached text of an owner. */
  forgetText(owner: string): void;
  /**
   * A keyed digest of 16 bytes, which depends on the first key of the ring. Without the key,
   * guesses cannot be verified.
   */
  digest(text: string): Buffer;
  /**
   * The keyed digest of an identity, such as an e-mail or an address, as it is stored: the id of
   * the first key of the ring (4 bytes), and the digest.
   */
  identify(text: string): Buffer;
  /**
   * Every digest of an identity that may be stored, to search for it: by each key of the ring, with
   * the key's id and, as releases up to 1.1.0 stored it, without. The current one is the first.
   */
  identities(text: string): readonly Buffer[];
}

/**
 * Returns the digest that the log shows in place of a caller's request id or trace id, 32
 * hexadecimal digits. It differs from the digest of the same text in a security event.
 */
export function loggedDigest(sealer: Pick<Sealer, 'digest'>, id: string): string {
  return sealer.digest(`log:${id}`).toString('hex');
}

/** About 5 MB of provider tokens. */
const maxOpened = 10_000;

interface OpenedText {
  readonly sealed: Buffer;
  readonly text: string;
}

/** A sealed value cannot be opened; the message does not contain the value. */
export class SealError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'SealError';
  }
}

/**
 * @param ring keys of 32 bytes: the first one seals, all of them open.
 * @throws RangeError for a key of another length.
 */
export function createSealer(ring: readonly [Buffer, ...Buffer[]]): Sealer {
  if (ring.some(({ length }) => length !== 32)) throw new RangeError('a sealing key has 32 bytes');
  const identified = ring.map((key) => ({ key, prefix: identifiedPrefix(key) }));
  const plain = ring.map((key) => ({ key, prefix: plainPrefix }));
  const [current] = ring.length === 1 ? plain : identified;
  if (!current) throw new RangeError('a sealer needs a key');
  const keys = [...plain, ...identified];
  const opened = new Map<string, OpenedText>();
  const digesters = ring.map((key) => ({ keyId: keyId(key), digest: digester(key) }));
  const plainDigests = (text: string) => digesters.map(({ digest }) => digest(text));
  const identities = (text: string) =>
    digesters.map(({ keyId: id, digest }) => Buffer.concat([id, digest(text)]));
  return {
    digest: digester(current.key),
    identify: (text) => identities(text)[0] ?? Buffer.alloc(0),
    identities: (text) => [...identities(text), ...plainDigests(text)],
    currentPrefix: ring.length === 1 ? null : current.prefix,
    seal: (value, owner) => seal(current, value, owner),
    open: (sealed, owner) => open(keys, sealed, owner),
    openText(sealed, owner) {
      const before = opened.get(owner);
      if (before?.sealed.equals(sealed)) return before.text;
      const text = open(keys, sealed, owner).toString('utf8');
      // Evicts the oldest entry.
      if (opened.size >= maxOpened) opened.delete(opened.keys().next().value ?? '');
      opened.set(owner, { sealed, text });
      return text;
    },
    hasText: (owner) => opened.has(owner),
    forgetText: (owner) => void opened.delete(owner),
  };
}

const plainPrefix = Buffer.of(1);

/** Version 2, and the first bytes of the key's digest. */
function identifiedPrefix(key: Buffer): Buffer {
  return Buffer.concat([Buffer.of(2), keyId(key)]);
}

function keyId(key: Buffer): Buffer {
  return createHash('sha256').update(key).digest().subarray(0, keyIdBytes);
}

/** Derives the key of the digests, so that they tell nothing about what it seals. */
function digester(key: Buffer): (text: string) => Buffer {
  const derived = Buffer.from(hkdfSync('sha256', key, '', 'ponte digests', 32));
  return (text) => createHmac('sha256', derived).update(text).digest().subarray(0, 16);
}

function seal({ key, prefix }: SealingKey, plain: Buffer | string, owner: string): Buffer {
  const iv = randomBytes(ivBytes);
  const cipher = createCipheriv('aes-256-gcm', key, iv, { authTagLength: tagBytes });
  cipher.setAAD(additionalData(prefix, owner));
  const bytes = typeof plain === 'string' ? Buffer.from(plain, 'utf8') : plain;
  const ciphertext = [cipher.update(bytes), cipher.final()];
  return Buffer.concat([prefix, iv, cipher.getAuthTag(), ...ciphertext]);
}

/** Version 1 does not identify the key, so every key of the ring is tried. */
function open(keys: readonly SealingKey[], sealed: Buffer, owner: string): Buffer {
  let cause: unknown;
  for (const one of keys) {
    if (!sealed.subarray(0, one.prefix.length).equals(one.prefix)) continue;
    try {
      return openWith(one, sealed, owner);
    } catch (error) {
      cause = error;
    }
  }
  throw new SealError('a sealed value cannot be opened for this owner', { cause });
}

/** @throws Error for another key or owner, or a changed value. */
function openWith({ key, prefix }: SealingKey, sealed: Buffer, owner: string): Buffer {
  const ivEnd = prefix.length + ivBytes;
  const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(prefix.length, ivEnd), {
    authTagLength: tagBytes,
  });
  decipher.setAAD(additionalData(prefix, owner));
  decipher.setAuthTag(sealed.subarray(ivEnd, ivEnd + tagBytes));
  return Buffer.concat([decipher.update(sealed.subarray(ivEnd + tagBytes)), decipher.final()]);
}

/** The version is authenticated too, so that it cannot be changed. */
function additionalData([version]: Buffer, owner: string): Buffer {
  return Buffer.from(`${version}:${owner}`, 'utf8');
}
