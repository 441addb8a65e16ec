/** Payments for tests of the connections, and what becomes of them. */
import { ProviderError } from '../../../../src/provider/errors.ts';
import type { PaymentOrder } from '../../../../src/provider/provider.ts';
import { order } from '../scripted-provider.ts';

/** The nth payment. */
export function nthOrder(nth: number): PaymentOrder {
  const serial = String(nth).padStart(3, '0');
  return { ...order, endToEnd: order.endToEnd.slice(0, -3) + serial, clientRequestId: `k-${nth}` };
}

/** The receipt of a payment, by the text of its request. */
export function receiptOf(text: string): string {
  const { endToEnd } = JSON.parse(text.slice(text.indexOf('{'))) as PaymentOrder;
  return JSON.stringify({ id: `p-${endToEnd}`, endToEnd });
}

/** What becomes of a call: `accepted`, or the outcome of its error. */
export async function outcomeOf(call: Promise<unknown>): Promise<string> {
  try {
    await call;
    return 'accepted';
  } catch (error) {
    if (error instanceof ProviderError) return error.outcome;
    throw error;
  }
}
