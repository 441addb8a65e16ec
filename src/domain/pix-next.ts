/** What an app does next with an order: the header `Pix-Next`, which one function decides. */
import type { PixNext } from '../../contract/types.ts';
import type { OrderDoubt, OrderState } from '../errors.ts';

/** What an answer says of an order. */
export interface OrderAnswer {
  /** The HTTP status. */
  readonly status: number;
  /** The stored order that the answer is about; null: the answer does not know one. */
  readonly order: OrderState | null;
  readonly doubt: OrderDoubt | null;
}

/** Failures that rest on time or on an operator's word: the money may have moved nevertheless. */
const uncertainFailures: ReadonlySet<string> = new Set([
  'EXPIRED_UNEXECUTED',
  'OPERATOR_DECISION',
  'OVERRULED',
]);

/** Refusals that come before the order is looked up, or that say nothing of it. */
const transient: ReadonlySet<number> = new Set([408, 429, 500, 503]);

/**
 * Decides what the app does next.
 *
 * - `done`: it is paid.
 * - `wait`: follow it with `GET /pix/{transactionId}`.
 * - `correct`: show the errors; the corrected request has the same key.
 * - `repeat`: send the same request with the same key.
 * - `log-in`: log in, then send the same request with the same key.
 * - `new-key`: it has failed; the customer may decide on a new payment, with a new key.
 * - `ask`: the customer looks at the list of payments first.
 */
export function nextStep({ status, order, doubt }: OrderAnswer): PixNext {
  if (doubt !== null) return 'ask';
  if (status === 401) return 'log-in';
  if (transient.has(status)) return 'repeat';
  if (order !== null) return nextOfOrder(order);
  return status === 502 ? 'repeat' : 'correct';
}

function nextOfOrder({ status, failureCode }: OrderState): PixNext {
  switch (status) {
    case 'COMPLETED':
      return 'done';
    case 'PROCESSING':
      return 'wait';
    case 'FAILED':
      return uncertainFailures.has(failureCode ?? '') ? 'ask' : 'new-key';
  }
}
