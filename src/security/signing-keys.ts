/**
 * The keys of the service: configured or, in local and test only, generated into the data folder at
 * the first start.
 */
import {
  createPrivateKey,
  createPublicKey,
  generateKeyPair,
  randomBytes,
  randomUUID,
  type KeyObject,
} from 'node:crypto';
import { link, open, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { makeFolder } from './make-folder.ts';

export interface SigningKeys {
  /** The RFC 7638 thumbprint of the signing key. */
  readonly kid: string;
  readonly privateKey: KeyObject;
  /** The verifying keys by kid, always including the signing key's. */
  readonly publicKeys: ReadonlyMap<string, KeyObject>;
}

export interface SigningKeysOptions {
  /** Undefined: read from the data folder, or generated into it. */
  readonly privateKeyPem: string | undefined;
  /** Further keys whose tokens are accepted, during a rotation. */
  readonly publicKeysPem: readonly string[];
  readonly dataDir: string;
}

const generatedRsaBits = 3072;

/** @throws Error when the key file in the data folder does not contain an RSA private key. */
export async function loadSigningKeys(options: SigningKeysOptions): Promise<SigningKeys> {
  const privateKey = options.privateKeyPem
    ? createPrivateKey(options.privateKeyPem)
    : await generatedPrivateKey(options.dataDir);
  const signing = createPublicKey(privateKey);
  const others = options.publicKeysPem.map((pem) => createPublicKey(pem));
  const pairs = [signing, ...others].map(async (key) => [await thumbprint(key), key] as const);
  return {
    kid: await thumbprint(signing),
    privateKey,
    publicKeys: new Map(await Promise.all(pairs)),
  };
}

/** The RFC 7638 thumbprint of a key. */
export async function thumbprint(key: KeyObject): Promise<string> {
  // Imported on demand: most commands need the encryption keys only.
  const { calculateJwkThumbprint, exportJWK } = await import('jose');
  return calculateJwkThumbprint(await exportJWK(key));
}

/** The path of the generated signing key. */
export function generatedKeyPath(dataDir: string): string {
  return join(dataDir, 'jwt-private.pem');
}

async function generatedPrivateKey(dataDir: string): Promise<KeyObject> {
  const path = generatedKeyPath(dataDir);
  const pem = await readOrCreate(path, dataDir, async () => {
    const pair = await promisify(generateKeyPair)('rsa', { modulusLength: generatedRsaBits });
    return pair.privateKey.export({ type: 'pkcs8', format: 'pem' });
  });
  return readKey(path, () => {
    const key = createPrivateKey(pem);
    return key.asymmetricKeyType === 'rsa' ? key : null;
  });
}

export interface EncryptionKeyOptions {
  /** Empty: read from the data folder, or generated into it. */
  readonly configured: readonly Buffer[];
  readonly dataDir: string;
}

/**
 * @returns keys of 32 bytes: the first one seals, all of them open.
 * @throws Error when the key file in the data folder does not contain 32 bytes in base64.
 */
export async function loadEncryptionKeys(
  options: EncryptionKeyOptions,
): Promise<readonly [Buffer, ...Buffer[]]> {
  const [first, ...others] = options.configured;
  if (first) return [first, ...others];
  const path = join(options.dataDir, 'encryption.key');
  const text = await readOrCreate(path, options.dataDir, async () =>
    randomBytes(32).toString('base64'),
  );
  const generated = readKey(path, () => {
    const key = Buffer.from(text, 'base64');
    return key.length === 32 ? key : null;
  });
  return [generated];
}

function readKey<Key>(path: string, read: () => Key | null): Key {
  let key: Key | null = null;
  try {
    key = read();
  } catch {
    // The message below is sufficient.
  }
  if (key === null) throw new Error(`${path} has no valid key; remove it to create a new one`);
  return key;
}

async function readOrCreate(
  path: string,
  folder: string,
  create: () => Promise<string>,
): Promise<string> {
  const existing = await readIfPresent(path);
  if (existing !== null) return existing;
  await makeFolder(folder);
  await publish(path, await create());
  // Concurrent first starts create several keys; the file has the one that all must use.
  return readFile(path, 'utf8');
}

async function readIfPresent(path: string): Promise<string | null> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return null;
    throw error;
  }
}

/** Links a complete file into place: readers see no file or all of it, and the first one wins. */
async function publish(path: string, content: string): Promise<void> {
  const draft = `${path}.${randomUUID()}`;
  try {
    const file = await open(draft, 'wx', 0o600);
    try {
      await file.writeFile(content);
      await file.sync();
    } finally {
      await file.close();
    }
    await link(draft, path);
  } catch (error) {
    if (!hasCode(error, 'EEXIST')) throw error;
  } finally {
    await rm(draft, { force: true });
  }
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}
