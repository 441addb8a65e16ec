import { randomAlphanumerics } from './text.ts';

/**
 * Creates the `transactionIdentification` of a charge: 26 random alphanumerics, the minimum of the
 * central bank's PIX API for a charge behind a URL. A static BR Code has room for 25 of them.
 */
export function newTransactionIdentification(): string {
  return randomAlphanumerics(26);
}
