/** Classifies the requests to the bank. */

interface Addressed {
  readonly url: URL;
}

/** Whether a request orders the return of a received PIX. */
export function isReturn({ url }: Addressed): boolean {
  return url.pathname.endsWith('/payments/refund');
}

/** Whether a request is about the dispute of a payment. */
export function isDispute({ url }: Addressed): boolean {
  return url.pathname.endsWith('/dispute');
}

/** The end-to-end id of the payment whose dispute a request is about. */
export function findDisputed({ url }: Addressed): string {
  return url.pathname.split('/').at(-2) ?? '';
}

export function isPayment({ url }: Addressed): boolean {
  return url.pathname.endsWith('/payments');
}
