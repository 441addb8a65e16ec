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

/** What the oracles of look-ups need of the oracle of sends. */
export interface SendTruth {
  isTrue(request: Pick<AppRequest, 'customer' | 'key'>, status: 'FAILED'): boolean;
}

/** A send with a look-up. */
interface LookedUp {
  readonly lookUp: { readonly customer: StoredCustomer; readonly id: string };
}

/**
 * Whether another send with the same look-up has failed. That one keeps the end-to-end id of the
 * look-up, so that the next one needs another id.
 *
 * @param name of the send, as `customer/key`.
 * @param all the sends with a look-up, by name.
 */
export function isFreed(
  name: string,
  all: ReadonlyMap<string, LookedUp>,
  sends: SendTruth,
): boolean {
  const { customer, id } = all.get(name)?.lookUp ?? {};
  if (customer === undefined) return false;
  return [...all].some(([other, { lookUp }]) => {
    if (other === name || lookUp.id !== id) return false;
    const key = other.slice(lookUp.customer.name.length + 1);
    return sends.isTrue({ customer, key }, 'FAILED');
  });
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
