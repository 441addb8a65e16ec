/** Reports corrections to operators. */
import type { LocalContext } from '../context/context.ts';
import type { Corrected } from './correction-repository.ts';

interface ReportedCorrection extends Corrected {
  readonly transactionId: string;
  /** The event that proves it; null for another source. */
  readonly eventId: string | null;
}

/** Counts and logs a correction; both raise an alarm. */
export function reportCorrection(
  { metrics, log }: Pick<LocalContext, 'metrics' | 'log'>,
  correction: ReportedCorrection,
): void {
  metrics.pixCorrections.inc();
  metrics.pixAnomalies.inc();
  log.error({ ...correction }, 'a failed transaction was paid: it is completed now');
}
