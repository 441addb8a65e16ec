/** The claim of the key of an order, after a check of what a loss of commits may have taken. */
import type { VerifiedToken } from '../process/access-tokens.ts';
import { callerSession } from '../auth/banking-sessions.ts';
import { readFromProvider } from '../auth/provider-failure.ts';
import type { Context } from '../context/context.ts';
import type { CallOptions } from '../provider/provider.ts';
import { uncheckedRefusal } from './block-refusals.ts';
import {
  claimOrder,
  type OrderClaim,
  type RequestedClaim,
  type ReservedOrder,
} from './idempotency.ts';

/** A claim, once the user's statement was read if it had to be. */
type CheckedClaim<Reserved extends ReservedOrder> = Exclude<
  OrderClaim<Reserved>,
  { readonly result: 'unread' }
>;

/**
 * Claims the key of an order. If the payer's last commits may be lost, the statement is read first.
 * @param claim with the options of the calls to the provider.
 * @throws AppError PIX_UNCHECKED when it cannot be read, and as `claimOrder` does.
 */
export async function claimCheckedOrder<Reserved extends ReservedOrder>(
  context: Context,
  token: VerifiedToken,
  { options, ...claim }: RequestedClaim<Reserved> & { readonly options: CallOptions },
): Promise<CheckedClaim<Reserved>> {
  const first = await claimOrder(context, token, claim);
  if (first.result !== 'unread') return first;
  const session = callerSession(context, first.payer);
  await readFromProvider(context.reconcile(session, options));
  // Whether or not it was read: another request may have read it, and paid with the same key.
  const second = await claimOrder(context, token, claim);
  if (second.result !== 'unread') return second;
  throw uncheckedRefusal();
}
