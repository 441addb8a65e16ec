/** Classifies the requests to the bank. */
import type { BankRequest } from '../bank/bank.ts';

/** Whether a request orders the return of a received PIX. */
export function isReturn({ url }: BankRequest): boolean {
  return url.pathname.endsWith('/payments/refund');
}

export function isPayment({ url }: BankRequest): boolean {
  return url.pathname.endsWith('/payments');
}
