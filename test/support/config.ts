import assert from 'node:assert/strict';
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { ConfigError, loadConfig } from '../../src/config/config.ts';

export type Environment = Record<string, string | undefined>;

/** @param modulusLength in bits. @returns a new RSA key pair as PEM. */
export function rsaPems(modulusLength: number): { privatePem: string; publicPem: string } {
  const pair = generateKeyPairSync('rsa', {
    modulusLength,
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  });
  return { privatePem: pair.privateKey, publicPem: pair.publicKey };
}

const pems = rsaPems(2048);

/** A configuration that is valid in production; its database and provider do not exist. */
export const production = {
  APP_ENV: 'production',
  DATABASE_URL: 'postgres://ponte:pw@127.0.0.1:1/ponte?sslmode=verify-full',
  PROVIDER_STUB: 'false',
  PROVIDER_DIALECTS: 'ponte',
  PROVIDER_PAYMENT_RETRIES: '2',
  PROVIDER_BASE_URL: 'https://127.0.0.1:1',
  WEBHOOK_SECRET: randomBytes(24).toString('base64url'),
  JWT_PRIVATE_KEY: pems.privatePem,
  JWT_PUBLIC_KEYS: pems.publicPem,
  ENCRYPTION_KEY: randomBytes(32).toString('base64'),
  TRUST_PROXY_HOPS: '1',
} as const;

/** @returns the fault of each invalid setting, by name; empty for a valid environment. */
export function findFaults(environment: Environment): Record<string, string> {
  try {
    loadConfig(environment);
  } catch (error) {
    assert.ok(error instanceof ConfigError, String(error));
    return Object.fromEntries(error.faults.map(({ name, message }) => [name, message]));
  }
  return {};
}

/** Asserts that exactly these settings are invalid. */
export function assertFaults(environment: Environment, ...names: string[]): void {
  assert.deepEqual(Object.keys(findFaults(environment)).sort(), names.sort());
}
