/** What the parts of a sweep share: their limits, and the moves of transactions. */
import type { Context } from '../context/context.ts';
import type { CallOptions } from '../provider/provider.ts';
import { changeSpan } from '../telemetry/tracing.ts';
import { moveTransaction, type Move } from '../ledger/move-repository.ts';
import type { PixTransaction } from '../ledger/pix-transaction-repository.ts';

/** Transactions of each kind that one sweep reads; the rest waits for the next minute. */
export const batchSize = 500;

/** How long a part starts requests for statements, in ms: two parts fit into the period. */
const budgetMs = 25_000;

export interface SweepPart {
  /** Of the calls to the provider. */
  readonly options: CallOptions;
  /** Whether the part starts no further request. */
  isOver(): boolean;
}

/** Starts a part that reads statements. */
export function startPart(context: Context, options: CallOptions): SweepPart {
  return { options, isOver: startBudget(context, budgetMs) };
}

/** @returns a test: whether the time is over, the process stops, or its clock was set back. */
export function startBudget({ clock, stopping }: Context, maxMs: number): () => boolean {
  const startedAtMs = clock.now().getTime();
  return () => {
    const passedMs = clock.now().getTime() - startedAtMs;
    return stopping.aborted || passedMs < 0 || passedMs > maxMs;
  };
}

/** Moves a transaction, and records the move in its trace. @returns null: it was not moved. */
export function moveSwept(
  context: Context,
  transactionId: string,
  change: Move,
): Promise<PixTransaction | null> {
  return changeSpan(context.tracing, { name: 'sweep', transactionId }, () =>
    moveTransaction(context, transactionId, change),
  );
}
