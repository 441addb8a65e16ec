/** Classifies the requests to the bank. */
import type { BankRequest } from '../bank/bank.ts';

/** Whether a request orders the return of a received PIX. */
export function isReturn({ url }: BankRequest): boolean {
  return url.pathname.endsWith('/payments/refund');
}

/** Whether a request is about the dispute of a payment. */
export function isDispute({ url }: BankRequest): boolean {
  return url.pathname.endsWith('/dispute');
}

/** The end-to-end id of the payment whose dispute a request is about. */
export function findDisputed({ url }: BankRequest): string {
  return url.pathname.split('/').at(-2) ?? '';
}

export function isPayment({ url }: BankRequest): boolean {
  return url.pathname.endsWith('/payments');
}
