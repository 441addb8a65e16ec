/** What the refusal of a request says of the order that has its key. */
import type { Context } from '../context/context.ts';
import type { OperationId, RefusedCall } from '../context/operation.ts';
import type { OrderType } from '../domain/pix.ts';
import { nextStep } from '../domain/pix-next.ts';
import { AppError, type ErrorCode, type RefusedOrder } from '../errors.ts';
import { readOutcomeOfKey } from '../ledger/replay-repository.ts';

/** An operation that makes an order, or gives one up. */
type OrderOperation = OperationId & ('sendPix' | 'refundPix' | 'cancelPix' | 'cancelRefund');

/**
 * The headers of a refusal of an order. Without an outcome of its own it came before the order was
 * looked up, and the outcome is unknown.
 */
export function orderHeaders({ order, status }: AppError) {
  const { outcome = 'unknown' } = order ?? {};
  return { 'Pix-Outcome': outcome, ...nextHeader(status, order) };
}

/**
 * The header `Pix-Next` of a reply.
 * @param status of the reply, in HTTP.
 */
export function nextHeader(status: number, { stored, doubt }: Partial<RefusedOrder> = {}) {
  return { 'Pix-Next': nextStep({ status, order: stored ?? null, doubt: doubt ?? null }) };
}

/**
 * Adds the order that has the key to a refusal of the request itself, so that a repeat with other
 * fields still reports it; without one, the outcome is `not_sent`. Without a valid key, and while
 * the account cannot pay, the outcome is unknown: a new key must not appear safe.
 */
export async function completeOrderRefusal(
  context: Context,
  { error, token, headers }: RefusedCall<OrderOperation>,
  operation: OrderType,
): Promise<AppError> {
  const { code, text, fields = {} } = error;
  if (!ofRequest.has(code) || error.order !== undefined || headers === null) return error;
  const key = { operation, idempotencyKey: headers['Idempotency-Key'] };
  const order = await readOutcomeOfKey(context, token, key);
  return new AppError(code, { text, fields, order });
}

/** The refusals of what the request names. */
const ofRequest: ReadonlySet<ErrorCode> = new Set([
  'VALIDATION_FAILED',
  'NOT_FOUND',
  'NOT_AVAILABLE',
]);
