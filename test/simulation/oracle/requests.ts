/** The requests of the app and their responses, as the oracle sees them. */
import type { PixStatus } from '../../../src/domain/pix.ts';
import type { StoredCustomer } from '../store.ts';

/** A request of the app about one of its payments. */
export interface AppRequest {
  readonly customer: StoredCustomer;
  /** The idempotency key. */
  readonly key: string;
  /** The step at which it was sent. */
  readonly requestedAt: number;
}

/** The response to a request. */
export interface AppResponse {
  readonly status: number;
  /** The header `Pix-Outcome`. */
  readonly outcome: string | null;
  /** The fields of a 422. */
  readonly fields?: readonly string[];
  readonly pix: {
    readonly transactionId: string;
    readonly status: PixStatus;
    readonly endToEnd: string | null;
  } | null;
}

/** A payment that the app has requested. */
export interface RequestedPayment {
  /** The payment as `customer/key`. */
  readonly name: string;
  readonly key: string;
  readonly endToEnd: string | null;
  readonly amountCents: number;
}

/** A payment that leaves a process, with its ids. */
export interface Order {
  readonly customer: StoredCustomer;
  readonly endToEnd: string;
  readonly clientRequestId: string;
  readonly pixKey: string;
  readonly amountCents: number;
  /** Of the dynamic code that it pays; null: it pays none. */
  readonly txid: string | null;
}

/** Names one payment of one customer. */
export function makeName(customer: StoredCustomer, key: string): string {
  return `${customer.name}/${key}`;
}

/** The final status in a response, or null. A 502 is final too: the app may use a new key. */
export function findFinal({ status, outcome, pix }: AppResponse): 'COMPLETED' | 'FAILED' | null {
  if (pix && pix.status !== 'PROCESSING') return pix.status;
  // The same request may be made again, with the same key: sends are paused.
  if (status === 503) return null;
  const failed = status === 502 || outcome === 'not_sent' || outcome === 'rejected';
  return failed ? 'FAILED' : null;
}
