/**
 * Settles sends by the provider's statement: UNKNOWN ones, and ACCEPTED ones whose webhook has not
 * come. The statement of the days around a send is its evidence; without it the send stays open.
 */
import { nextTurn } from '../clock.ts';
import type { Context } from '../context.ts';
import {
  findUnconfirmedSends,
  touchUnconfirmedSends,
  type UnconfirmedSendRow,
} from '../db/queries/pix-transactions.ts';
import { dayOf, shiftDay } from '../domain/calendar.ts';
import { centsFromDecimal } from '../domain/money.ts';
import { ProviderError, type ProviderStatusClass } from '../provider/errors.ts';
import type {
  CallOptions,
  DayRange,
  ProviderSession,
  ProviderStatementItem,
} from '../provider/provider.ts';
import { findOtherPayment, readEvidence } from '../provider/statement-evidence.ts';
import { providerSession } from '../auth/banking-sessions.ts';
import { moveTransaction, noteAnomaly } from './transactions.ts';

/** How long an accepted send waits for its webhook before the statement is read, in ms. */
const webhookOverdueMs = 10 * 60_000;

/** Sends that one sweep reads; the rest waits for the next minute. */
const batch = 500;

/** How long one sweep starts new requests for statements, in ms: less than its period. */
const budgetMs = 45_000;

/**
 * Settles what the provider's statements prove.
 * @param options go with the calls to the provider.
 */
export async function settleFromStatements(context: Context, options: CallOptions): Promise<void> {
  const { clock, db } = context;
  const begunAtMs = clock.now().getTime();
  const sends = await db.query<UnconfirmedSendRow>(findUnconfirmedSends, [
    clock.now(),
    new Date(begunAtMs - webhookOverdueMs),
    batch,
  ]);
  const isOver = (): boolean => {
    const passedMs = clock.now().getTime() - begunAtMs;
    return context.stopping.aborted || passedMs < 0 || passedMs > budgetMs;
  };
  for (const ofUser of Map.groupBy(sends, ({ user_id: userId }) => userId).values()) {
    await settleOfUser(context, ofUser, { options, isOver });
  }
}

interface Sweep {
  readonly options: CallOptions;
  /** Whether the sweep starts nothing more. */
  isOver(): boolean;
}

/** Sends of one day share a statement; a day whose statement fails does not affect the others. */
async function settleOfUser(
  context: Context,
  sends: readonly UnconfirmedSendRow[],
  sweep: Sweep,
): Promise<void> {
  const byDay = Map.groupBy(sends, (send) => dayOf(send.created_at));
  for (const [day, ofDay] of byDay) {
    if (sweep.isOver()) return;
    // They go to the end of the queue first: a send that cannot be settled must not block the rest.
    const ids = ofDay.map(({ id }) => id);
    await context.db.query(touchUnconfirmedSends, [ids, context.clock.now()]);
    try {
      await settleOfDay(context, ofDay, { day, options: sweep.options });
    } catch (error) {
      if (error instanceof ProviderError && error.code === 'TOKEN_REFUSED') return;
      const facts = { error, userId: ofDay[0]?.user_id };
      context.log.error(facts, 'the sends of a day could not be settled by the statement');
    }
  }
}

async function settleOfDay(
  context: Context,
  sends: readonly UnconfirmedSendRow[],
  request: { readonly day: string; readonly options: CallOptions },
): Promise<void> {
  const [first] = sends;
  const items = first && (await statementAround(context, first, request));
  if (!items) return;
  for (const send of sends) {
    await settle(context, send, items);
    // Each send searches every line.
    await nextTurn();
  }
}

/**
 * Reads the statement of the day of a send, the day before and the day after, as far as they have
 * begun: clocks and zones differ.
 * @returns null when a part of it cannot be read: a line that is not seen may contradict the rest.
 * @throws ProviderError when the token is refused.
 */
async function statementAround(
  context: Context,
  send: UnconfirmedSendRow,
  { day, options }: { readonly day: string; readonly options: CallOptions },
): Promise<readonly ProviderStatementItem[] | null> {
  const session = providerSession(context, {
    sessionId: send.session_id,
    userId: send.user_id,
    sealedToken: send.sealed_token,
  });
  const today = dayOf(context.clock.now());
  const after = shiftDay(day, 1);
  const range = { start: shiftDay(day, -1), end: after < today ? after : today };
  return readDays(context, session, { range, options });
}

/** A refusal or an answer that is too large may be the size of the range: halves may pass. */
const halved: ReadonlySet<ProviderStatusClass> = new Set(['4xx', '404', 'invalid']);

async function readDays(
  context: Context,
  session: ProviderSession,
  { range, options }: { readonly range: DayRange; readonly options: CallOptions },
): Promise<readonly ProviderStatementItem[] | null> {
  try {
    return (await context.provider.statement({ session, ...range, ...options })).items;
  } catch (error) {
    if (!(error instanceof ProviderError) || error.code === 'TOKEN_REFUSED') throw error;
    if (!halved.has(error.statusClass) || range.start === range.end) return null;
  }
  const last = shiftDay(range.start, 1) === range.end ? range.start : shiftDay(range.start, 1);
  const first = { start: range.start, end: last };
  const items = await readDays(context, session, { range: first, options });
  if (items === null) return null;
  const second = { start: shiftDay(last, 1), end: range.end };
  const rest = await readDays(context, session, { range: second, options });
  return rest && [...items, ...rest];
}

async function settle(
  context: Context,
  send: UnconfirmedSendRow,
  items: readonly ProviderStatementItem[],
): Promise<void> {
  const { id, end_to_end: endToEnd, amount } = send;
  const amountCents = centsFromDecimal(amount);
  if (amountCents === null) return;
  const { statementSettledOnly } = context.config.provider;
  const payment = { endToEnd, amountCents };
  const evidence = readEvidence(items, payment, statementSettledOnly);
  if (evidence === 'unclear') await flag(context, id, 'statement_unclear');
  if (evidence === 'absent') {
    const other = findOtherPayment(items, { ...payment, clientRequestId: send.idempotency_key });
    if (other !== null) await flag(context, id, `same_key_and_amount_as ${other}`);
  }
  if (evidence !== 'completed') return;
  await moveTransaction(context, id, {
    from: ['UNKNOWN', 'ACCEPTED'],
    to: 'SETTLED',
    status: 'COMPLETED',
    outcome: 'accepted',
    timeline: [{ phase: 'SETTLED', note: 'found_in_statement' }],
  });
}

/**
 * An operator decides about a send that the statement mentions without proving anything, or whose
 * key and amount another payment has.
 */
async function flag(context: Context, transactionId: string, reason: string): Promise<void> {
  if (!(await noteAnomaly(context, { transactionId, eventId: null, reason }))) return;
  context.metrics.pixAnomalies.inc();
  const facts = { transactionId, reason };
  context.log.error(facts, 'the statement mentions a payment and proves nothing');
}
