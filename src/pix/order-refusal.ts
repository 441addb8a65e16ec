/** What the refusal of a request says of the order that has its key. */
import type { Context } from '../context/context.ts';
import type { OperationId, RefusedCall } from '../context/operation.ts';
import type { OrderType, PixOutcome } from '../domain/pix.ts';
import { AppError, type ErrorCode } from '../errors.ts';
import { readOutcomeOfKey } from './replay-repository.ts';

/** The outcome of a refusal that comes before the order is looked up. */
export const unknownOutcome = { 'Pix-Outcome': 'unknown' } as const satisfies {
  readonly 'Pix-Outcome': PixOutcome;
};

/** An operation that makes an order. */
type OrderOperation = OperationId & ('sendPix' | 'refundPix');

/**
 * Adds the outcome to a refusal of the request itself: that of the order with the key, which a
 * repeat with another request must not hide, or `not_sent` when no order has the key. Without a
 * valid key, and while the account cannot pay, the outcome is unknown: a new key must not appear
 * safe.
 */
export async function completeOrderRefusal(
  context: Context,
  { error, token, headers }: RefusedCall<OrderOperation>,
  operation: OrderType,
): Promise<AppError> {
  const { code, text, fields = {} } = error;
  const isComplete = error.headers['Pix-Outcome'] !== undefined;
  if (!ofRequest.has(code) || isComplete || headers === null) return error;
  if (Object.hasOwn(fields, 'account')) return error;
  const key = { operation, idempotencyKey: headers['Idempotency-Key'] };
  const outcome = await readOutcomeOfKey(context, token, key);
  return new AppError(code, { text, fields, headers: { 'Pix-Outcome': outcome } });
}

/** The refusals of what the request names. */
const ofRequest: ReadonlySet<ErrorCode> = new Set([
  'VALIDATION_FAILED',
  'NOT_FOUND',
  'NOT_AVAILABLE',
]);
