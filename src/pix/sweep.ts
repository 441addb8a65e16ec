/**
 * The sweep finishes the transactions of crashed processes as far as the provider's evidence goes.
 * It never turns a payment that may have been sent into a failure.
 *
 * It ends charges that expired unpaid, a day after their expiry.
 *
 * It settles sends by the provider's statement: UNKNOWN ones, and ACCEPTED ones whose webhook is
 * overdue. The statement of the days around a send is its evidence; without it the send stays open.
 */
import { providerSession } from '../auth/banking-sessions.ts';
import { dayMs, nextTurn } from '../clock.ts';
import type { Context } from '../context.ts';
import { dayOf, shiftDay } from '../domain/calendar.ts';
import { staleAfterMs } from '../domain/call-duration.ts';
import { chargeExpired, expiredNote, phasesBeforePaying, type PixPhase } from '../domain/pix.ts';
import { ProviderError, type ProviderStatusClass } from '../provider/errors.ts';
import type {
  CallOptions,
  DayRange,
  ProviderSession,
  ProviderStatementItem,
} from '../provider/provider.ts';
import { findOtherPayment, readEvidence } from '../provider/statement-evidence.ts';
import { moveTransaction } from './move-repository.ts';
import { noteAnomaly } from './pix-transaction-repository.ts';
import {
  findExpiredCharges,
  findStaleTransactions,
  findUnconfirmedSends,
  touchUnconfirmedSends,
  type UnconfirmedSend,
} from './sweep-repository.ts';

/** Transactions of each kind that one sweep reads; the rest waits for the next minute. */
const batchSize = 500;

/**
 * Sweeps once.
 * @param options of the calls to the provider.
 */
export async function sweepPixTransactions(context: Context, options: CallOptions): Promise<void> {
  await failAbandoned(context);
  await storeUnknownPayments(context);
  await failExpiredCharges(context);
  await settleFromStatements(context, options);
}

/** Nothing can have been sent before PAYING: these fail without evidence of the provider. */
async function failAbandoned(context: Context): Promise<void> {
  for (const id of await findStale(context, phasesBeforePaying)) {
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

/** A process that crashed in PAYING cannot report the outcome of the payment. */
async function storeUnknownPayments(context: Context): Promise<void> {
  for (const id of await findStale(context, ['PAYING'])) {
    await moveTransaction(context, id, {
      from: ['PAYING'],
      to: 'UNKNOWN',
      status: 'PROCESSING',
      outcome: 'unknown',
      timeline: [{ phase: 'UNKNOWN', note: 'process_died' }],
    });
  }
}

/** How long after its expiry an unpaid charge may still be reported as paid, in ms. */
const expiryGraceMs = dayMs;

/**
 * An unpaid charge has ended with its expiry, whether the provider reports that or not. A payment
 * that arrives later is recorded on its own, and flagged.
 */
async function failExpiredCharges(context: Context): Promise<void> {
  const expiredBefore = new Date(context.clock.now().getTime() - expiryGraceMs);
  for (const id of await findExpiredCharges(context, { expiredBefore, limit: batchSize })) {
    await moveTransaction(context, id, {
      from: ['ACCEPTED'],
      to: 'SETTLED',
      status: 'FAILED',
      failureCode: chargeExpired,
      timeline: [{ phase: 'SETTLED', note: expiredNote }],
    });
  }
}

function findStale(context: Context, phases: readonly PixPhase[]): Promise<string[]> {
  const { clock, config } = context;
  const untouchedSince = new Date(clock.now().getTime() - staleAfterMs(config.provider));
  return findStaleTransactions(context, phases, { untouchedSince, limit: batchSize });
}

/** How long an accepted send waits for its webhook before the statement is read, in ms. */
const webhookOverdueMs = 10 * 60_000;

/** How long one sweep starts new requests for statements, in ms: less than its period. */
const budgetMs = 45_000;

async function settleFromStatements(context: Context, options: CallOptions): Promise<void> {
  const { clock } = context;
  const startedAtMs = clock.now().getTime();
  const sends = await findUnconfirmedSends(context, {
    acceptedBefore: new Date(startedAtMs - webhookOverdueMs),
    limit: batchSize,
  });
  const isOver = (): boolean => {
    const passedMs = clock.now().getTime() - startedAtMs;
    return context.stopping.aborted || passedMs < 0 || passedMs > budgetMs;
  };
  for (const ofUser of Map.groupBy(sends, ({ userId }) => userId).values()) {
    await settleOfUser(context, ofUser, { options, isOver });
  }
}

interface Sweep {
  readonly options: CallOptions;
  /** Whether the sweep starts no further request. */
  isOver(): boolean;
}

/** Sends of one day share a statement; a day whose statement fails does not affect the others. */
async function settleOfUser(
  context: Context,
  sends: readonly UnconfirmedSend[],
  sweep: Sweep,
): Promise<void> {
  const byDay = Map.groupBy(sends, (send) => dayOf(send.createdAt));
  for (const [day, ofDay] of byDay) {
    if (sweep.isOver()) return;
    // To the end of the queue first: a send that cannot be settled must not block the rest.
    await touchUnconfirmedSends(context, ofDay);
    try {
      await settleOfDay(context, ofDay, { day, options: sweep.options });
    } catch (error) {
      if (error instanceof ProviderError && error.code === 'TOKEN_REFUSED') return;
      const facts = { error, userId: ofDay[0]?.userId };
      context.log.error(facts, 'the sends of a day could not be settled by the statement');
    }
  }
}

async function settleOfDay(
  context: Context,
  sends: readonly UnconfirmedSend[],
  request: { readonly day: string; readonly options: CallOptions },
): Promise<void> {
  const [first] = sends;
  const items = first && (await readAround(context, first, request));
  if (!items) return;
  for (const send of sends) {
    await settle(context, send, items);
    // Each send searches every item.
    await nextTurn();
  }
}

/**
 * Reads the statement of the day of a send, the day before and the day after, as far as they have
 * started: clocks and time zones differ.
 * @returns null when a part of it cannot be read: an unread item may contradict the rest.
 * @throws ProviderError when the token is refused.
 */
async function readAround(
  context: Context,
  send: UnconfirmedSend,
  { day, options }: { readonly day: string; readonly options: CallOptions },
): Promise<readonly ProviderStatementItem[] | null> {
  const session = providerSession(context, send.session);
  const today = dayOf(context.clock.now());
  const after = shiftDay(day, 1);
  const range = { start: shiftDay(day, -1), end: after < today ? after : today };
  return readDays(context, session, { range, options });
}

/** A refusal, or a response that is too large, may be due to the range: halves may succeed. */
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
  send: UnconfirmedSend,
  items: readonly ProviderStatementItem[],
): Promise<void> {
  const { id, endToEnd, amountCents, idempotencyKey: clientRequestId } = send;
  if (amountCents === null) return;
  const { statementSettledOnly } = context.config.provider;
  const payment = { endToEnd, amountCents };
  const evidence = readEvidence(items, payment, statementSettledOnly);
  if (evidence === 'unclear') await flag(context, id, 'statement_unclear');
  if (evidence === 'absent') {
    const other = findOtherPayment(items, { ...payment, clientRequestId });
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
 * An operator decides about a send that the statement mentions without proof, or whose key and
 * amount another payment has.
 */
async function flag(context: Context, transactionId: string, reason: string): Promise<void> {
  if (!(await noteAnomaly(context, { transactionId, eventId: null, reason }))) return;
  context.metrics.pixAnomalies.inc();
  const facts = { transactionId, reason };
  context.log.error(facts, 'the statement mentions a payment and proves nothing');
}
