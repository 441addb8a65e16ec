/** What distinguishes the kinds of orders: every step that this does not name is the same. */
import type { OrderType, PixType } from '../domain/pix.ts';

export interface OrderKind {
  /** Whether a look-up in the directory gives it its id (RESOLVED); otherwise RESERVED has it. */
  readonly isLookedUp: boolean;
  /** Whether an order of another user may have the same client request id. */
  readonly sharesRequestIds: boolean;
}

const kinds: Readonly<Record<OrderType, OrderKind>> = {
  SEND: { isLookedUp: true, sharesRequestIds: true },
  REFUND_OUT: { isLookedUp: false, sharesRequestIds: false },
};

/** @returns the kind of a stored order; of anything else, that of a send. */
export function orderKind({ operation }: { readonly operation: PixType }): OrderKind {
  return operation === 'REFUND_OUT' ? kinds.REFUND_OUT : kinds.SEND;
}
