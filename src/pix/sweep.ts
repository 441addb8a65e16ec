/**
 * The sweep: what dead processes have left behind is ended as far as that is known. It never turns
 * a payment that may have left into a failure.
 */
import type { Context } from '../context.ts';
import type { PixTransactionRow } from '../db/queries/pix-row.ts';
import { findStale } from '../db/queries/pix-transactions.ts';
import { staleAfterMs } from '../domain/call-duration.ts';
import { phasesBeforePaying, type PixPhase } from '../domain/pix.ts';
import type { CallOptions } from '../provider/provider.ts';
import { moveTransaction } from './transactions.ts';
import { settleFromStatements } from './statement-settlement.ts';

/** Transactions of each sort that one sweep looks at; the rest waits for the next minute. */
const batch = 500;

/**
 * Sweeps once.
 * @param options go with the calls to the provider.
 */
export async function sweepPixTransactions(context: Context, options: CallOptions): Promise<void> {
  await failAbandoned(context);
  await callDeadPaymentsUnknown(context);
  await settleFromStatements(context, options);
}

/** Nothing can have left before PAYING: these fail without the provider's word. */
async function failAbandoned(context: Context): Promise<void> {
  for (const { id } of await stale(context, phasesBeforePaying)) {
    await moveTransaction(context, id, {
      from: phasesBeforePaying,
      to: 'SETTLED',
      status: 'FAILED',
      outcome: 'not_sent',
      failureCode: 'PROVIDER_UNAVAILABLE',
      timeline: [{ phase: 'SETTLED', note: 'abandoned' }],
    });
  }
}

/** A process that died in PAYING cannot say what became of the payment. */
async function callDeadPaymentsUnknown(context: Context): Promise<void> {
  for (const { id } of await stale(context, ['PAYING'])) {
    await moveTransaction(context, id, {
      from: ['PAYING'],
      to: 'UNKNOWN',
      status: 'PROCESSING',
      outcome: 'unknown',
      timeline: [{ phase: 'UNKNOWN', note: 'process_died' }],
    });
  }
}

function stale(context: Context, phases: readonly PixPhase[]): Promise<PixTransactionRow[]> {
  const now = context.clock.now();
  return context.db.query<PixTransactionRow>(findStale, [
    phases,
    new Date(now.getTime() - staleAfterMs(context.config.provider)),
    now,
    batch,
  ]);
}
