import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { ConfigError, loadConfig } from '../../src/config.ts';

export type Environment = Record<string, string | undefined>;

/** A fresh RSA pair as PEM. */
export function rsaPems(modulusLength: number): { privatePem: string; publicPem: string } {
  const pair = generateKeyPairSync('rsa', {
    modulusLength,
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  });
  return { privatePem: pair.privateKey, publicPem: pair.publicKey };
}

/** The faults of an environment, by name; none when it makes a configuration. */
export function faultsOf(environment: Environment): Record<string, string> {
  try {
    loadConfig(environment);
  } catch (error) {
    assert.ok(error instanceof ConfigError, String(error));
    return Object.fromEntries(error.faults.map(({ name, message }) => [name, message]));
  }
  return {};
}

/** Fails unless exactly these settings are at fault. */
export function assertFaults(environment: Environment, ...names: string[]): void {
  assert.deepEqual(Object.keys(faultsOf(environment)).sort(), names.sort());
}
