/** What the app asks for and is answered, as the oracle sees it. */
import type { PixStatus } from '../../../src/domain/pix.ts';
import type { StoredCustomer } from '../store.ts';

/** A request of the app about one of its payments. */
export interface Ask {
  readonly customer: StoredCustomer;
  /** The idempotency key. */
  readonly key: string;
  /** The step that it was sent at. */
  readonly askedAt: number;
}

/** What came back. Of an answer that never came there is nothing to be said. */
export interface Answer {
  readonly status: number;
  /** `Pix-Outcome`. */
  readonly outcome: string | null;
  /** The fields of a 422. */
  readonly fields?: readonly string[];
  readonly pix: {
    readonly transactionId: string;
    readonly status: PixStatus;
    readonly endToEnd: string | null;
  } | null;
}

/** A payment that the app has asked for. */
export interface Wish {
  /** `customer/key`. */
  readonly name: string;
  readonly key: string;
  readonly endToEnd: string | null;
  readonly amountCents: number;
}

/** A payment that leaves: whose it is, and the ids that it carries. */
export interface Order {
  readonly customer: StoredCustomer;
  readonly endToEnd: string;
  readonly clientRequestId: string;
  readonly pixKey: string;
}

/** Names one payment of one customer, as the app means it. */
export function nameOf(customer: StoredCustomer, key: string): string {
  return `${customer.name}/${key}`;
}

/** A 502 is a final answer too: it invites a new key. */
export function finalOf({ status, outcome, pix }: Answer): 'COMPLETED' | 'FAILED' | null {
  if (pix && pix.status !== 'PROCESSING') return pix.status;
  const failed = status === 502 || outcome === 'not_sent' || outcome === 'rejected';
  return failed ? 'FAILED' : null;
}
