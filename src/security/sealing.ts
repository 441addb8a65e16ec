/**
 * Sealing: what must not be readable in the database (provider tokens, uploaded documents) is
 * encrypted with AES-256-GCM. The row's owner is the additional data, so that a sealed value that
 * is copied to another row does not open there.
 *
 *     version (1 byte) | IV (12 bytes) | tag (16 bytes) | ciphertext
 */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';

/** Tells a later form from this one. */
const version = 1;

/** NIST SP 800-38D section 8.2.2: random 96-bit IVs are good for 2^32 sealings under one key. */
const ivBytes = 12;
const tagBytes = 16;
const headBytes = 1 + ivBytes + tagBytes;

export interface Sealer {
  /** Encrypts for one owner, such as `user:7`; a text counts as UTF-8. */
  seal(plain: Buffer | string, owner: string): Buffer;
  /** @throws SealError for another owner or key, and for bytes that were changed. */
  open(sealed: Buffer, owner: string): Buffer;
  /**
   * Opens a short text that is wanted with every request, such as a provider token: what was opened
   * is remembered, so that it is decrypted once and not each time.
   * @throws SealError as `open` does.
   */
  openText(sealed: Buffer, owner: string): string;
}

/** About 5 MB of provider tokens. */
const mostOpened = 10_000;

/** A sealed value does not open; it says nothing of the value. */
export class SealError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'SealError';
  }
}

/**
 * @param key 32 bytes.
 * @throws RangeError for a key of another length.
 */
export function createSealer(key: Buffer): Sealer {
  if (key.length !== 32) throw new RangeError('a sealing key has 32 bytes');
  const opened = new Map<string, string>();
  return {
    seal: (plain, owner) => seal(key, plain, owner),
    open: (sealed, owner) => open(key, sealed, owner),
    openText(sealed, owner) {
      // The owner ends before the first NUL, so no two pairs have one name.
      const name = `${owner}\0${sealed.toString('latin1')}`;
      const before = opened.get(name);
      if (before !== undefined) return before;
      const text = open(key, sealed, owner).toString('utf8');
      // What has been known for longest makes room.
      if (opened.size >= mostOpened) opened.delete(opened.keys().next().value ?? '');
      opened.set(name, text);
      return text;
    },
  };
}

function seal(key: Buffer, plain: Buffer | string, owner: string): Buffer {
  const iv = randomBytes(ivBytes);
  const cipher = createCipheriv('aes-256-gcm', key, iv, { authTagLength: tagBytes });
  cipher.setAAD(additionalData(owner));
  const bytes = typeof plain === 'string' ? Buffer.from(plain, 'utf8') : plain;
  const ciphertext = [cipher.update(bytes), cipher.final()];
  return Buffer.concat([Buffer.of(version), iv, cipher.getAuthTag(), ...ciphertext]);
}

function open(key: Buffer, sealed: Buffer, owner: string): Buffer {
  if (sealed[0] !== version || sealed.length < headBytes) {
    throw new SealError('not a sealed value of a known version');
  }
  const iv = sealed.subarray(1, 1 + ivBytes);
  const decipher = createDecipheriv('aes-256-gcm', key, iv, { authTagLength: tagBytes });
  decipher.setAAD(additionalData(owner));
  decipher.setAuthTag(sealed.subarray(1 + ivBytes, headBytes));
  const plain = decipher.update(sealed.subarray(headBytes));
  try {
    return Buffer.concat([plain, decipher.final()]);
  } catch (error) {
    throw new SealError('a sealed value does not open for this owner', { cause: error });
  }
}

/** The version is authenticated too, so that a later form cannot be passed off as this one. */
function additionalData(owner: string): Buffer {
  return Buffer.from(`${version}:${owner}`, 'utf8');
}
