import { randomAlphanumerics } from './text.ts';

/**
 * Makes the `transactionIdentification` of a charge: 26 random alphanumerics, the fewest that the
 * central bank's PIX API takes for a charge behind a URL. A static BR Code has room for 25 of them.
 */
export function newTransactionIdentification(): string {
  return randomAlphanumerics(26);
}
