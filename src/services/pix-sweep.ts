/**
 * The sweep: what dead processes have left behind is ended as far as that is known. It never turns
 * a payment that may have left into a failure.
 */
import type { Context } from '../context.ts';
import type { PixTransactionRow } from '../db/queries/pix-row.ts';
import {
  findStale,
  findUnknownSends,
  touchUnknownSends,
  type UnknownSendRow,
} from '../db/queries/pix-transactions.ts';
import { dayOf } from '../domain/calendar.ts';
import { centsFromDecimal } from '../domain/money.ts';
import { phasesBeforePaying, type PixPhase } from '../domain/pix.ts';
import { ProviderError } from '../provider/outcome.ts';
import type { CallOptions, StatementPayment } from '../provider/provider.ts';
import { providerSession } from './banking-session.ts';
import { moveTransaction } from './pix-transactions.ts';

/** Longer than any living process works on one step. */
export const staleAfterMs = 2 * 60_000;

/** A provider's statement covers a year. */
const longestStatementMs = 365 * 24 * 60 * 60_000;

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

/** The provider's statement is its word: a payment that stands there was executed. */
async function settleFromStatements(context: Context, options: CallOptions): Promise<void> {
  const sends = await context.db.query<UnknownSendRow>(findUnknownSends, [
    context.clock.now(),
    batch,
  ]);
  for (const ofUser of Map.groupBy(sends, ({ user_id: userId }) => userId).values()) {
    if (context.stopping.aborted) return;
    await settleOfUser(context, ofUser, options);
  }
}

async function settleOfUser(
  context: Context,
  sends: readonly UnknownSendRow[],
  options: CallOptions,
): Promise<void> {
  // First of all they go to the end of the queue: what cannot be settled must not block the rest.
  await context.db.query(touchUnknownSends, [sends.map(({ id }) => id), context.clock.now()]);
  const executed = await executedPayments(context, sends, options);
  for (const { id, end_to_end: endToEnd, amount } of sends) {
    const cents = centsFromDecimal(amount);
    // A fee may stand under the same id: one line of the payment's own amount is what it takes.
    const isExecuted = executed.some(
      (payment) => payment.endToEnd === endToEnd && payment.amountCents === cents,
    );
    if (!isExecuted) continue;
    await moveTransaction(context, id, {
      from: ['UNKNOWN'],
      to: 'SETTLED',
      status: 'COMPLETED',
      outcome: 'accepted',
      timeline: [{ phase: 'SETTLED', note: 'found_in_statement' }],
    });
  }
}

/** @returns what the provider's statement shows as executed; nothing if the call fails. */
async function executedPayments(
  context: Context,
  sends: readonly UnknownSendRow[],
  options: CallOptions,
): Promise<readonly StatementPayment[]> {
  const [send] = sends;
  if (!send) return [];
  const now = context.clock.now();
  const oldestMs = Math.min(...sends.map((row) => row.created_at.getTime()));
  const from = new Date(Math.max(oldestMs, now.getTime() - longestStatementMs));
  try {
    const session = providerSession(context, {
      sessionId: send.session_id,
      userId: send.user_id,
      sealedToken: send.sealed_token,
    });
    const range = { start: dayOf(from), end: dayOf(now) };
    const { payments } = await context.provider.statement(session, range, options);
    return payments;
  } catch (error) {
    // One user's trouble is not another's; the next sweep asks again.
    if (!(error instanceof ProviderError)) {
      context.log.error({ error, userId: send.user_id }, 'a statement could not be asked for');
    }
    return [];
  }
}

function stale(context: Context, phases: readonly PixPhase[]): Promise<PixTransactionRow[]> {
  const now = context.clock.now();
  return context.db.query<PixTransactionRow>(findStale, [
    phases,
    new Date(now.getTime() - staleAfterMs),
    now,
    batch,
  ]);
}
