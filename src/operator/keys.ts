/** `keys generate` and `keys rotate-help`: the keys that sign access tokens; without database. */
import { createPrivateKey, createPublicKey, generateKeyPair, type KeyObject } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Config } from '../config/config.ts';
import { makeFolder } from '../security/make-folder.ts';
import { generatedKeyPath, thumbprint } from '../security/signing-keys.ts';
import { OpError } from './op.ts';

export interface KeyPairFiles {
  readonly kid: string;
  readonly bits: number;
  readonly privateKeyFile: string;
  readonly publicKeyFile: string;
}

/**
 * Writes a new key pair, `jwt-private.pem` and `jwt-public.pem`, with mode 0600.
 * @throws OpError when one of the files exists, or cannot be written: another folder is needed.
 */
export async function generateKeyFiles(folder: string, bits: number): Promise<KeyPairFiles> {
  const privateKeyFile = join(folder, 'jwt-private.pem');
  const publicKeyFile = join(folder, 'jwt-public.pem');
  for (const file of [privateKeyFile, publicKeyFile]) if (existsSync(file)) throw fileExists(file);
  await writing(folder, makeFolder(folder));
  const pair = await promisify(generateKeyPair)('rsa', { modulusLength: bits });
  await write(privateKeyFile, pair.privateKey.export({ type: 'pkcs8', format: 'pem' }));
  try {
    await write(publicKeyFile, pair.publicKey.export({ type: 'spki', format: 'pem' }));
  } catch (error) {
    await rm(privateKeyFile);
    throw error;
  }
  return { kid: await thumbprint(pair.publicKey), bits, privateKeyFile, publicKeyFile };
}

function write(file: string, pem: string | Buffer): Promise<void> {
  return writing(file, writeFile(file, pem, { flag: 'wx', mode: 0o600, flush: true }));
}

async function writing(path: string, work: Promise<void>): Promise<void> {
  try {
    await work;
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'no code';
    if (code === 'EEXIST') throw fileExists(path);
    throw new OpError('INVALID', `${path} cannot be written (${code})`);
  }
}

function fileExists(file: string): OpError {
  return new OpError('INVALID', `${file} already exists: move it, or choose another folder`);
}

export interface KeyInUse {
  readonly kid: string;
  /** The size of the RSA modulus. */
  readonly bits: number;
}

export interface KeysInUse {
  /** Null: the key is generated at the first start. */
  readonly signs: KeyInUse | null;
  /** Whether the signing key was generated into DATA_DIR. */
  readonly generated: boolean;
  /** The further keys of JWT_PUBLIC_KEYS, which verify only. */
  readonly accepts: readonly KeyInUse[];
}

/** Reads the keys of a configuration without generating any. */
export async function keysInUse({ jwt, dataDir }: Config): Promise<KeysInUse> {
  const pem = jwt.privateKeyPem ?? (await readIfExists(generatedKeyPath(dataDir)));
  const signs = pem === null ? null : await inUse(createPublicKey(createPrivateKey(pem)));
  const accepted = await Promise.all(jwt.publicKeysPem.map((one) => inUse(createPublicKey(one))));
  return {
    signs,
    generated: jwt.privateKeyPem === undefined,
    accepts: accepted.filter(({ kid }) => kid !== signs?.kid),
  };
}

async function inUse(key: KeyObject): Promise<KeyInUse> {
  return { kid: await thumbprint(key), bits: key.asymmetricKeyDetails?.modulusLength ?? 0 };
}

async function readIfExists(path: string): Promise<string | null> {
  return existsSync(path) ? readFile(path, 'utf8') : null;
}
