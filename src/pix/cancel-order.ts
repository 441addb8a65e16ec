/** Gives an order up: answers the order that has a key, or closes the key. It never pays. */
import { randomUUIDv7 } from 'node:crypto';
import type { Context } from '../context/context.ts';
import type { RequestFacts } from '../context/operation.ts';
import type { VerifiedToken } from '../process/access-tokens.ts';
import { closedNote } from '../domain/pix.ts';
import type { AppError } from '../errors.ts';
import { closeKey, type StoredOrder } from './close-key.ts';
import { cancelled } from './failure-reason.ts';
import { unsureRefusal } from './block-refusals.ts';
import { computeFingerprint } from './idempotency.ts';
import { isResumable } from '../ledger/key-holder.ts';
import { endUnsent, moveTransaction } from '../ledger/move-repository.ts';
import { findPause } from '../ledger/pause-repository.ts';
import {
  takeOverTransaction,
  type PixTransaction,
  type SentView,
} from '../ledger/pix-transaction-repository.ts';
import { forbidResume } from '../ledger/refused-session-repository.ts';
import type { OrderKey } from '../ledger/replay-repository.ts';

/** The order that a cancellation answers. */
interface Cancelled {
  readonly transaction: SentView;
  /** Whether it was stored by an earlier request. */
  readonly replayed: boolean;
}

/**
 * Answers the order that has a key, or closes the key. An order before PAYING that no process works
 * on is failed, and one that was refused for its session is resumed by no request any more.
 * @throws AppError UNAUTHENTICATED when the session of the token is not active, and PIX_PAUSED or
 *   PIX_UNCHECKED while the commit of its payment, or of one with the key, may be lost.
 */
export async function cancelOrder(
  context: Context,
  token: VerifiedToken,
  { key, request }: { readonly key: OrderKey; readonly request: RequestFacts },
): Promise<Cancelled> {
  const id = randomUUIDv7();
  request.traceTransaction?.(id);
  const closing = await closeKey(context, token, { ...key, ...nothing, id });
  if (closing.result === 'closed') return { transaction: closing.transaction, replayed: false };
  if (closing.result === 'unsure') throw await unsure(context);
  const { order, mayBeLost } = closing;
  if (order.transaction.status === 'PROCESSING') await forbidResume(context, order.transaction.id);
  if (!isResumable(context, order)) return { transaction: order.transaction, replayed: true };
  if (mayBeLost) throw await unsure(context);
  const failed = await failUnstarted(context, order);
  return { transaction: failed ?? order.transaction, replayed: failed === null };
}

async function unsure(context: Context): Promise<AppError> {
  return unsureRefusal((await findPause(context)) !== null);
}

/** What it would have paid is not known, so that the key replays whatever the request. */
const nothing = {
  fingerprint: computeFingerprint([]),
  amountCents: null,
  failureCode: cancelled,
} as const;

/**
 * Fails an order before PAYING under a claim of its own, so that no process works on it.
 * @returns null: another process works on it.
 */
async function failUnstarted(
  context: Context,
  { transaction }: StoredOrder,
): Promise<PixTransaction | null> {
  const taken = await takeOverTransaction(context, transaction.id);
  return taken && moveTransaction(context, taken.id, endUnsent(cancelled, { note: closedNote }));
}
