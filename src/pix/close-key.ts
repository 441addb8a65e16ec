/**
 * Closing the key of an order that is not made: no request with the key can pay later. A key is
 * closed because a rule refuses the order, or because the customer gives it up.
 */
import type { Context } from '../context/context.ts';
import type { VerifiedToken } from '../process/access-tokens.ts';
import { AppError } from '../errors.ts';
import {
  storeClosedKey,
  type ClosedKey,
  type UnmadeOrder,
} from '../ledger/closed-key-repository.ts';
import type { KeyHolder } from '../ledger/key-holder.ts';
import { noticeLostCommit } from '../ledger/lost-commits.ts';
import type { PixTransaction } from '../ledger/pix-transaction-repository.ts';

/** An order that has a key, and that this call has not stored. */
export type StoredOrder = KeyHolder & { readonly isNew: false };

/** The result of closing a key. */
export type KeyClosing =
  /** The key is closed by this call. */
  | { readonly result: 'closed'; readonly transaction: PixTransaction }
  /** The key belongs to an order. */
  | { readonly result: 'taken'; readonly order: StoredOrder; readonly mayBeLost: boolean }
  /** Nothing was stored: an order with the key may have been made, and its commit lost. */
  | { readonly result: 'unsure' };

/**
 * Closes a key, or finds the order that has it.
 * @param order as it is stored, with the reason.
 * @throws AppError UNAUTHENTICATED when the session of the token is not active, and BUSY.
 */
export async function closeKey(
  context: Context,
  token: VerifiedToken,
  order: UnmadeOrder,
): Promise<KeyClosing> {
  const { claimedKeys, clock } = context;
  const seenAt = claimedKeys.seenAt(token.userId, order);
  const { holder, mayBeLost } = await readOrClose(context, token, { order, seenAt });
  if (holder === null) return { result: 'unsure' };
  claimedKeys.add(token.userId, order, clock.now());
  if (holder.isNew) return { result: 'closed', transaction: holder.transaction };
  return { result: 'taken', order: holder, mayBeLost };
}

/** A second attempt finds the order that the first one waited for, which is committed by then. */
const maxAttempts = 3;

/** @returns no holder when nothing may be stored. */
async function readOrClose(
  context: Context,
  token: VerifiedToken,
  { order, seenAt }: { readonly order: UnmadeOrder; readonly seenAt: Date | null },
): Promise<ClosedKey> {
  // What this process has seen under the key must not be lost before it is closed.
  let mayClose = seenAt === null;
  for (let attempt = 0; attempt < maxAttempts; attempt += 1) {
    const closed = await storeClosedKey(context, token, { ...order, mayClose });
    if (closed.holder !== null || closed.mayBeLost) return closed;
    if (mayClose || seenAt === null) continue;
    const lost = { missing: 'the order of a key', committedAt: seenAt };
    if (await noticeLostCommit(context, lost)) return { holder: null, mayBeLost: true };
    mayClose = true;
  }
  throw new AppError('BUSY');
}
