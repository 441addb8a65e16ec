/** What the parts of a sweep share: their limits, and the report of what they cannot decide. */
import type { Context } from '../context/context.ts';
import type { CallOptions } from '../provider/provider.ts';
import { noteAnomaly } from './pix-transaction-repository.ts';

/** Transactions of each kind that one sweep reads; the rest waits for the next minute. */
export const batchSize = 500;

/** How long a part starts new requests for statements, in ms: two are shorter than the period. */
const budgetMs = 25_000;

export interface SweepPart {
  /** Of the calls to the provider. */
  readonly options: CallOptions;
  /** Whether the part starts no further request. */
  isOver(): boolean;
}

/** Starts a part that reads statements. */
export function startPart({ clock, stopping }: Context, options: CallOptions): SweepPart {
  const startedAtMs = clock.now().getTime();
  return {
    options,
    isOver() {
      const passedMs = clock.now().getTime() - startedAtMs;
      return stopping.aborted || passedMs < 0 || passedMs > budgetMs;
    },
  };
}

/**
 * Reports a transaction that the statement mentions without proof, or whose key and amount another
 * payment has: an operator decides.
 */
export async function flagSwept(
  context: Context,
  transactionId: string,
  reason: string,
): Promise<void> {
  if (!(await noteAnomaly(context, { transactionId, eventId: null, reason }))) return;
  context.metrics.pixAnomalies.inc();
  const facts = { transactionId, reason };
  context.log.error(facts, 'the statement mentions a payment and proves nothing');
}
