/** SHA-256, and constant-time comparison of secrets. */
import { hash, timingSafeEqual } from 'node:crypto';

/** @returns the 32 bytes of the digest; a text counts as UTF-8. */
export function sha256(bytes: Buffer | string): Buffer {
  return hash('sha256', bytes, 'buffer');
}

/**
 * Compares two secrets in constant time. It compares digests, so that the time does not reveal the
 * length either.
 */
export function sameSecret(secret: string, expected: string): boolean {
  return isOneOfSecrets(secret, [sha256(expected)]);
}

/**
 * Compares a secret with several in constant time. All are compared, so that the time does not
 * reveal which one matched.
 * @param digests the digests of the accepted secrets.
 */
export function isOneOfSecrets(secret: string, digests: readonly Buffer[]): boolean {
  const digest = sha256(secret);
  const matches = digests.filter((other) => timingSafeEqual(digest, other));
  return matches.length > 0;
}
