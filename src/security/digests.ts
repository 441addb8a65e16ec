/** SHA-256, and comparisons that do not tell how much of a secret was right. */
import { hash, timingSafeEqual } from 'node:crypto';

/** @returns the 32 bytes of the digest; a text counts as UTF-8. */
export function sha256(bytes: Buffer | string): Buffer {
  return hash('sha256', bytes, 'buffer');
}

/**
 * Compares two secrets in a time that depends on neither: the digests are compared, so that not
 * even the length shows.
 */
export function sameSecret(given: string, expected: string): boolean {
  return isOneOfSecrets(given, [sha256(expected)]);
}

/**
 * Compares a secret with several in the same way. All are compared, so that the time does not tell
 * which one was right.
 * @param digests of the secrets that are accepted.
 */
export function isOneOfSecrets(given: string, digests: readonly Buffer[]): boolean {
  const digest = sha256(given);
  const matches = digests.filter((other) => timingSafeEqual(digest, other));
  return matches.length > 0;
}
