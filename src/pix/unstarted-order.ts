/**
 * Orders that this process does not take to PAYING: another process has the order, it may not be
 * paid now, or the step to PAYING was not confirmed.
 */
import { findAccountStatus } from '../accounts/account-repository.ts';
import { inactiveAccount } from '../accounts/payer-account.ts';
import type { Context } from '../context/context.ts';
import { isBeforePaying, notSentNote, storedOutcome } from '../domain/pix.ts';
import { notYet } from '../process/unstored-outcomes.ts';
import { pausedRefusal, uncheckedRefusal } from './block-refusals.ts';
import { failForAccount } from './idempotency.ts';
import { noteContradiction } from './record-outcome.ts';
import { releaseClaim } from './release-claim.ts';
import { rereadTransaction } from '../ledger/lost-commits.ts';
import { findPause } from '../ledger/pause-repository.ts';
import { moveTransaction, type Move } from '../ledger/move-repository.ts';
import {
  hasEarlierLookUp,
  wasStartedOnlyByUs,
  type PayingStep,
} from '../ledger/payment-repository.ts';
import { readStored, type PixTransaction } from '../ledger/pix-transaction-repository.ts';

/**
 * Handles an order that this process could not take to PAYING: another process has moved it, its
 * account or its orders were blocked when the step ran. If the order is UNKNOWN with the id of our
 * step, the database executed the step after our time-out, and another process has marked it
 * UNKNOWN: nothing was sent.
 * @param step our own step to PAYING; null before it.
 * @returns the transaction as it is stored.
 * @throws AppError when the account may not pay, or its orders are blocked.
 */
export async function resolveUnstarted(
  context: Context,
  transaction: PixTransaction,
  step: PayingStep | null,
): Promise<PixTransaction> {
  const stored = await rereadTransaction(context, transaction).catch((error: unknown) => {
    if (step) scheduleUnsentFailure(context, transaction, step);
    throw error;
  });
  const isOwn = step !== null && stored.endToEnd === step.endToEnd;
  if (isOwn && stored.phase === 'UNKNOWN') scheduleUnsentFailure(context, transaction, step);
  if (!isBeforePaying(stored.phase)) return stored;
  const accountStatus = await findAccountStatus(context, stored.userId);
  if (accountStatus !== 'ACTIVE') {
    return (await failForAccount(context, stored, inactiveAccount(accountStatus))).transaction;
  }
  await releaseClaim(context, stored);
  const isPaused = (await findPause(context)) !== null;
  throw isPaused ? pausedRefusal(storedOutcome(stored)) : uncheckedRefusal();
}

interface UnconfirmedStep extends PayingStep {
  readonly isClaim?: boolean;
}

/**
 * Fails an order that the database did not confirm to be PAYING for this process, if the step was
 * executed nevertheless: nothing was sent, and only this process knows that. The database may
 * execute the statement late, so this waits until the order is past the phases before PAYING: a
 * repeat, the sweep or the late statement takes it there.
 * @param order as it was before; nothing is done for one with an end-to-end id of an earlier
 *   look-up, because another process may pay it under the same id.
 * @param step this process's own step to PAYING; `isClaim`: it stores the order itself.
 */
export function scheduleUnsentFailure(
  context: Context,
  order: PixTransaction,
  step: UnconfirmedStep,
): void {
  if (hasEarlierLookUp(order)) return;
  const store = (): Promise<unknown> => failIfUnsent(context, order, step);
  context.outcomes.keep({ transactionId: order.id, store });
}

/** Longer than a statement runs plus what clocks may differ by, in ms. */
const maxStatementMs = 60_000;

/** @returns `notYet` while the step may still be executed: the order is read again later. */
async function failIfUnsent(
  context: Context,
  order: PixTransaction,
  step: UnconfirmedStep,
): Promise<unknown> {
  const { endToEnd, isClaim = false } = step;
  const stored = await readStored(context, order);
  const isLate = context.clock.now().getTime() - step.at.getTime() > maxStatementMs;
  const mayBeStored = !stored && isClaim && !isLate;
  if (mayBeStored || (stored && isBeforePaying(stored.phase))) return notYet;
  if (stored?.endToEnd !== endToEnd) return;
  if (!(await wasStartedOnlyByUs(context, order, step))) return;
  const move: Move = {
    from: ['PAYING', 'UNKNOWN'],
    endToEnd,
    to: 'SETTLED',
    status: 'FAILED',
    outcome: 'not_sent',
    failureCode: 'PROVIDER_UNAVAILABLE',
    timeline: [{ phase: 'SETTLED', providerStatus: 'stopped', note: notSentNote }],
  };
  if (await moveTransaction(context, order.id, move)) return;
  // An operator may have called it paid meanwhile.
  await noteContradiction(context, order, { endToEnd, move, request: context });
}
