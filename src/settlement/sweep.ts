/**
 * The sweep finishes the transactions of crashed processes as far as the provider's evidence goes.
 * It never turns a payment that may have been sent into a failure.
 *
 * It ends charges that have expired, a day after their expiry (`expired-charges.ts`).
 *
 * It settles orders by the provider's statement: UNKNOWN ones, and ACCEPTED ones whose webhook is
 * overdue. The statement of the days around an order is its evidence; without it the order stays
 * open. The same statement corrects FAILED orders that it proves. A day and a half after its last
 * attempt a send may fail by it (`overdue-send.ts`).
 */
import { providerSession } from '../auth/banking-sessions.ts';
import { dayMs, nextTurn } from '../clock.ts';
import type { Context } from '../context/context.ts';
import { calendarDay } from '../domain/calendar.ts';
import { staleAfterMs } from '../domain/call-duration.ts';
import { phasesBeforePaying, type PixPhase } from '../domain/pix.ts';
import { ProviderError } from '../provider/errors.ts';
import type { CallOptions } from '../provider/provider.ts';
import { span } from '../telemetry/tracing.ts';
import { findFailedOrders } from '../ledger/correction-repository.ts';
import { abandoned, leftInPaying } from '../ledger/judge-clock.ts';
import { endExpiredCharges } from './expired-charges.ts';
import { readWholeStatement } from './read-statement.ts';
import { failIfOverdue } from './overdue-send.ts';
import { settleOrder } from './settle-line.ts';
import { batchSize, moveSwept, startPart, type SweepPart } from './sweep-part.ts';
import {
  findStaleTransactions,
  findUnconfirmedOrders,
  touchSwept,
  type UnconfirmedOrder,
} from '../ledger/sweep-repository.ts';

/**
 * Sweeps once.
 * @param options of the calls to the provider.
 */
export async function sweepPixTransactions(context: Context, options: CallOptions): Promise<void> {
  await failAbandoned(context);
  await storeUnknownPayments(context);
  await endExpiredCharges(context, options);
  await settleFromStatements(context, options);
}

/** Nothing can have been sent before PAYING: these fail without evidence of the provider. */
async function failAbandoned(context: Context): Promise<void> {
  for (const id of await findStale(context, phasesBeforePaying)) {
    await moveSwept(context, id, abandoned);
  }
}

async function storeUnknownPayments(context: Context): Promise<void> {
  for (const id of await findStale(context, ['PAYING'])) {
    await moveSwept(context, id, leftInPaying);
  }
}

function findStale(context: Context, phases: readonly PixPhase[]): Promise<string[]> {
  const { clock, config } = context;
  const untouchedSince = new Date(clock.now().getTime() - staleAfterMs(config.provider));
  return findStaleTransactions(context, phases, { untouchedSince, limit: batchSize });
}

/** How long an accepted order waits for its webhook before the statement is read, in ms. */
const webhookOverdueMs = 10 * 60_000;

async function settleFromStatements(context: Context, options: CallOptions): Promise<void> {
  const part = startPart(context, options);
  const orders = await findUnconfirmedOrders(context, {
    acceptedBefore: new Date(context.clock.now().getTime() - webhookOverdueMs),
    limit: batchSize,
  });
  for (const ofUser of Map.groupBy(orders, ({ userId }) => userId).values()) {
    await settleOfUser(context, ofUser, part);
  }
}

/** Orders of one day share a statement; a day whose statement fails does not affect the others. */
async function settleOfUser(
  context: Context,
  orders: readonly UnconfirmedOrder[],
  part: SweepPart,
): Promise<void> {
  for (const ofDay of Map.groupBy(orders, (order) => calendarDay(order.createdAt)).values()) {
    if (part.isOver()) return;
    // To the end of the queue first: an order that cannot be settled must not block the rest.
    await touchSwept(context, ofDay);
    try {
      await settleOfDay(context, ofDay, part);
    } catch (error) {
      if (error instanceof ProviderError && error.code === 'TOKEN_REFUSED') return;
      const facts = { error, userId: ofDay[0]?.userId };
      context.log.error(facts, 'the orders of a day could not be settled by the statement');
    }
  }
}

async function settleOfDay(
  context: Context,
  orders: readonly UnconfirmedOrder[],
  { options }: SweepPart,
): Promise<void> {
  const [first] = orders;
  if (!first) return;
  const attributes = { 'ponte.user.id': first.userId, 'ponte.orders': orders.length };
  const facts = { name: 'sweep a statement', kind: 'internal', attributes } as const;
  await span(context.tracing, { ...facts, parent: options.trace }, (trace) =>
    settleByStatement(context, { first, orders }, { ...options, ...(trace && { trace }) }),
  );
}

interface OrdersOfDay {
  readonly first: UnconfirmedOrder;
  /** All of them. */
  readonly orders: readonly UnconfirmedOrder[];
}

async function settleByStatement(
  context: Context,
  { first, orders }: OrdersOfDay,
  options: CallOptions,
): Promise<void> {
  const session = providerSession(context, first.session);
  const day = calendarDay(first.createdAt);
  const since = new Date(Math.min(...orders.map(({ createdAt }) => createdAt.getTime())));
  const days = { session, first: day, last: day, since, options };
  const statement = await readWholeStatement(context, days);
  if (!statement) return;
  const { userId, createdAt: at } = first;
  const failed = await findFailedOrders(context, {
    userId,
    from: new Date(at.getTime() - dayMs),
    until: new Date(at.getTime() + dayMs),
  });
  for (const order of failed) await settleOrder(context, order, statement);
  for (const order of orders) {
    const evidence = await settleOrder(context, order, statement);
    await failIfOverdue(context, order, { evidence, options });
    await nextTurn();
  }
}
