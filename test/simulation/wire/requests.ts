/** Classifies the requests to the bank. */
import type { BankRequest } from '../bank/bank.ts';

export function isPayment({ url }: BankRequest): boolean {
  return url.pathname.endsWith('/payments');
}
