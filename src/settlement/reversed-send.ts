/**
 * A send whose debits the bank has reversed: the statement shows as much money back under its
 * end-to-end id, without a return id. A day and a half after the last attempt nothing can execute
 * it any more, and what was reversed until then was not paid.
 */
import { providerSession } from '../auth/banking-sessions.ts';
import type { Context } from '../context/context.ts';
import { phasesOpenToFailure, reversed, reversedNote } from '../domain/pix.ts';
import type { CallOptions } from '../provider/provider.ts';
import { readWholeStatement } from './read-statement.ts';
import { judgeSend } from './statement-evidence.ts';
import { moveSwept } from './sweep-part.ts';
import type { UnconfirmedOrder } from '../ledger/sweep-repository.ts';

/**
 * How long after the last attempt a reading must begin, in ms: the end-to-end ids of the instant
 * payment system live twelve hours, and a bank reconciles by the next day.
 */
const executableMs = 36 * 60 * 60_000;

/**
 * Fails a send if a reading that begins a day and a half after its last attempt still shows its
 * settled debits with reversals of equal sums. The reading is of all days from the day before the
 * send to today: a later line may contradict the first.
 */
export async function failIfReversed(
  context: Context,
  order: UnconfirmedOrder,
  options: CallOptions,
): Promise<void> {
  const { id, operation, endToEnd, amountCents, createdAt, attemptedAt } = order;
  const now = context.clock.now();
  if (operation !== 'SEND' || amountCents === null || attemptedAt === null) return;
  if (now.getTime() < attemptedAt.getTime() + executableMs) return;
  const session = providerSession(context, order.session);
  const days = { session, first: createdAt, last: now, options };
  const statement = await readWholeStatement(context, days);
  if (!statement) return;
  if (judgeSend(statement, { endToEnd, amountCents }).evidence !== 'reversed') return;
  await moveSwept(context, id, {
    from: phasesOpenToFailure,
    to: 'SETTLED',
    status: 'FAILED',
    failureCode: reversed,
    endToEnd,
    ...(order.outcome !== 'accepted' && { outcome: 'rejected' }),
    timeline: [{ phase: 'SETTLED', note: reversedNote }],
  });
}
