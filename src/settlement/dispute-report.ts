/** Events about the disputes of payments: they move no transaction. */
import { offers } from '../config/config.ts';
import type { LocalContext } from '../context/context.ts';
import { storeDisputeReport } from '../disputes/dispute-repository.ts';
import type { DisputeReport } from '../domain/dispute.ts';
import { isUuid } from '../domain/text.ts';

/** What became of an event: ids and words only, no personal data. */
interface DisputeSettled {
  readonly result: 'applied' | 'already' | 'ignored' | 'parked';
  readonly reason?: string;
  readonly transactionId?: string;
}

/**
 * Stores the status of a dispute as an event reports it. A dispute that was opened at another
 * channel of the bank is stored with its first event. A final status stays. An event that is ahead
 * of its payment waits: as long as the payment is open, otherwise for a day.
 */
export async function reportDispute(
  context: LocalContext,
  eventId: string | null,
  report: DisputeReport,
): Promise<DisputeSettled> {
  if (!offers(context.config, 'disputes')) return ignored('not_available');
  const { disputeId } = report;
  if (disputeId !== null && !isUuid(disputeId)) return ignored('unknown_payment');
  const stored = await storeDisputeReport(context, report);
  if (stored === null) return { result: 'parked', reason: 'no_match' };
  const { transactionId, result } = stored;
  if (result === 'failed') return { result: 'parked', reason: 'payment_failed' };
  if (result === 'processing') {
    return { result: 'parked', reason: 'not_completed_yet', transactionId };
  }
  if (result !== 'ended') return { result, transactionId };
  const { status } = report;
  context.log.warn({ eventId, transactionId, status }, 'an event contradicts an ended dispute');
  return { result: 'ignored', reason: 'dispute_ended', transactionId };
}

function ignored(reason: string): DisputeSettled {
  return { result: 'ignored', reason };
}
