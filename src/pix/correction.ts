/** Corrects FAILED sends by the provider's statement, and reports every correction to operators. */
import { dayMs, nextTurn } from '../clock.ts';
import type { LocalContext } from '../context/context.ts';
import { foundInStatementNote } from '../domain/pix.ts';
import type { StatementLine } from '../provider/provider.ts';
import { correctTransaction, findFailedSends, type Corrected } from './correction-repository.ts';
import { judgeSend } from './statement-evidence.ts';

interface NotedCorrection extends Corrected {
  readonly transactionId: string;
  /** The event that proves it; null for another source. */
  readonly eventId: string | null;
}

/** Counts and logs a correction; both raise an alarm. */
export function noteCorrection(
  { metrics, log }: Pick<LocalContext, 'metrics' | 'log'>,
  correction: NotedCorrection,
): void {
  metrics.pixCorrections.inc();
  metrics.pixAnomalies.inc();
  log.error({ ...correction }, 'a failed transaction was paid: it is completed now');
}

/** A statement that was read for another send. */
interface ReadStatement {
  readonly userId: number;
  /** The statement covers the day of this time, the day before and the day after. */
  readonly at: Date;
  readonly lines: readonly StatementLine[];
}

/** Corrects the FAILED sends of a user that a statement proves, within a day of a time. */
export async function correctFromStatement(
  context: LocalContext,
  { userId, at, lines }: ReadStatement,
): Promise<void> {
  const from = new Date(at.getTime() - dayMs);
  const until = new Date(at.getTime() + dayMs);
  const failed = await findFailedSends(context, { userId, from, until });
  for (const { id, endToEnd, amountCents } of failed) {
    // Each send searches every line.
    await nextTurn();
    if (amountCents === null || judgeSend(lines, { endToEnd, amountCents }) !== 'completed') {
      continue;
    }
    const proof = { endToEnd, providerTxid: null, eventId: null, source: foundInStatementNote };
    const corrected = await correctTransaction(context, id, proof);
    if (corrected) noteCorrection(context, { transactionId: id, eventId: null, ...corrected });
  }
}
