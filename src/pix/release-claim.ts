/** Orders before PAYING of which this request lets go: another one may take them over. */
import type { LocalContext } from '../context/context.ts';
import { isBeforePaying } from '../domain/pix.ts';
import type { RefusedOrder } from '../errors.ts';
import { rereadTransaction } from '../ledger/lost-commits.ts';
import { moveTransaction, type Move } from '../ledger/move-repository.ts';
import type { PixTransaction } from '../ledger/pix-transaction-repository.ts';

const release: Move = { from: ['RESERVED'], to: 'RESERVED', status: 'PROCESSING', timeline: [] };

/** Releases the claim of an order, so that the same request resumes it. */
export async function releaseClaim(
  context: LocalContext,
  { id }: Pick<PixTransaction, 'id'>,
): Promise<void> {
  await moveTransaction(context, id, release);
}

/**
 * Handles an order that could not be failed before PAYING: another process has moved it, or commits
 * about orders of its user may be lost. Nothing fails an order then that was not sent: it keeps its
 * phase, and the refusal says that nothing is known of it.
 * @param refuse makes the refusal.
 * @returns the transaction as another process has stored it.
 * @throws the refusal, after the claim is released.
 */
export async function keepUnfailed(
  context: LocalContext,
  transaction: PixTransaction,
  refuse: (order: RefusedOrder) => unknown,
): Promise<PixTransaction> {
  const stored = await rereadTransaction(context, transaction);
  if (!isBeforePaying(stored.phase) || stored.operation === 'CHARGE') return stored;
  await releaseClaim(context, stored);
  throw refuse({ outcome: 'unknown', doubt: 'lost_commits' });
}
