/** The sends in progress when the service stops. */
import { pause } from '../clock.ts';
import type { Context } from '../context/context.ts';
import type { SendInProgress } from '../process/unstored-outcomes.ts';
import { moveTransaction } from '../ledger/move-repository.ts';

/**
 * Waits for the sends in progress when the service stops. The outcome of a payment whose call has
 * not ended by then is unknown.
 * @param withinMs how long, in milliseconds.
 */
export async function finishSends(context: Context, withinMs: number): Promise<void> {
  const unfinished = await context.outcomes.sendsEnded(withinMs);
  const stored = unfinished.map((send) => storeUnknown(context, send));
  await Promise.race([Promise.all(stored), pause(context.clock, maxStopMs)]);
}

/** How long a database that does not respond delays a stop at most, in milliseconds. */
const maxStopMs = 2_000;

/** Only for the payment of this process: after a failover another one may pay the same send. */
async function storeUnknown(
  context: Context,
  { transactionId, endToEnd }: SendInProgress,
): Promise<void> {
  if (endToEnd === null) return;
  try {
    await moveTransaction(context, transactionId, {
      from: ['PAYING'],
      endToEnd,
      to: 'UNKNOWN',
      status: 'PROCESSING',
      outcome: 'unknown',
      timeline: [{ phase: 'UNKNOWN', note: 'service_stopped' }],
    });
  } catch (error) {
    context.log.error({ error, transactionId }, 'a payment is left in PAYING');
  }
}
