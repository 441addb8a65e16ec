import { randomAlphanumerics } from './text.ts';

/** The central bank's PIX API: a charge behind a URL has 26 to 35 characters, a static code 25. */
const TXID = { dynamic: /^[a-zA-Z0-9]{26,35}$/, static: /^[a-zA-Z0-9]{1,25}$/ } as const;

/**
 * Makes the `transactionIdentification` of a charge: 26 random alphanumerics (specification,
 * section 4). A static BR Code has room for 25 of them.
 */
export function newTransactionIdentification(): string {
  return randomAlphanumerics(26);
}

/**
 * Tells whether a text is a txid of a dynamic charge (26 to 35 alphanumerics) or of a static BR
 * Code (1 to 25).
 */
export function isTxid(text: string, type: 'dynamic' | 'static'): boolean {
  return TXID[type].test(text);
}
