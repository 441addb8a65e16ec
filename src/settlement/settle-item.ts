/** One item of an event: what was decided about it, carried out. */
import { randomUUIDv7 } from 'node:crypto';
import type { LocalContext } from '../context.ts';
import * as queries from '../db/queries/pix-transactions.ts';
import type { CandidateRow } from '../db/queries/pix-row.ts';
import { isConstraintViolation } from '../db/unavailable.ts';
import { decimalFromCents } from '../domain/money.ts';
import type { ProviderEvent } from '../provider/webhook-events.ts';
import { moveTransaction, noteAnomaly } from '../pix/transactions.ts';
import { decide } from './decide.ts';
import type { Decision, ReceivedPix } from './event-kinds.ts';

/** What is decided a second time was settled by somebody else meanwhile, and settled is final. */
const mostDecisions = 3;

export type ItemResult = 'applied' | 'already' | 'ignored' | 'parked' | 'orphaned' | 'anomaly';

/** Of two results of one item the one is told that stands further on the left. */
const mostTelling: readonly ItemResult[] = ['anomaly', 'parked', 'applied', 'already'];

/** What became of an item; ids and words only, no personal data. */
export interface Settled {
  readonly result: ItemResult;
  readonly reason?: string;
  readonly transactionId?: string;
}

/**
 * Settles an item: what was decided is carried out where the stored transaction still stands as it
 * did then, and decided again where it does not.
 * @returns what became of it; a row that a constraint refuses is an anomaly.
 */
export async function settleItem(
  context: LocalContext,
  eventId: string,
  item: ProviderEvent,
): Promise<Settled> {
  for (let decisions = 0; decisions < mostDecisions; decisions += 1) {
    const settled: (Settled | null)[] = [];
    for (const decision of await decide(context, { eventId, item })) {
      settled.push(await carryOutAlone(context, eventId, decision));
    }
    const told = settled.filter((one) => one !== null);
    if (told.length === settled.length) return mostTellingOf(told);
  }
  throw new Error('a transaction was elsewhere at every look');
}

function mostTellingOf(settled: readonly Settled[]): Settled {
  const found = mostTelling.flatMap((one) => settled.filter(({ result }) => result === one));
  const [first] = [...found, ...settled];
  if (!first) throw new Error('nothing was decided about an item');
  return first;
}

/** A row that a constraint refuses is this item's affair; a database that is away is everyone's. */
async function carryOutAlone(
  context: LocalContext,
  eventId: string,
  decision: Decision,
): Promise<Settled | null> {
  try {
    return await carryOut(context, eventId, decision);
  } catch (error) {
    if (!isConstraintViolation(error)) throw error;
    const transactionId = 'transaction' in decision ? (decision.transaction?.id ?? null) : null;
    return flag(context, { eventId, transactionId, reason: 'breaks_a_constraint', error });
  }
}

/** @returns what became of the item, or null when the stored transaction has changed meanwhile. */
async function carryOut(
  context: LocalContext,
  eventId: string,
  decision: Decision,
): Promise<Settled | null> {
  switch (decision.kind) {
    case 'leave': {
      const { result, reason, transaction, meanwhile } = decision;
      if (meanwhile) await flag(context, { eventId, ...namedBy(meanwhile) });
      return {
        result,
        ...(reason !== undefined && { reason }),
        ...(transaction && { transactionId: transaction.id }),
      };
    }
    case 'flag':
      return flag(context, { eventId, ...namedBy(decision) });
    case 'unread': {
      const unread = namedBy(decision);
      context.metrics.pixUnreadEvents.inc();
      context.log.warn({ eventId, ...unread }, 'an event about an open transaction was ignored');
      return { result: 'ignored', ...unread };
    }
    case 'move': {
      const { id: transactionId } = decision.transaction;
      const moved = await moveTransaction(context, transactionId, decision.move);
      return moved && { result: 'applied', transactionId };
    }
    case 'identify': {
      const { transaction, endToEnd } = decision;
      const now = context.clock.now();
      const parameters = [transaction.id, endToEnd, now, eventId];
      const [row] = await context.db.query<{ id: string }>(queries.identifyPayment, parameters);
      return row ? { result: 'already', transactionId: row.id } : null;
    }
    case 'record': {
      const transactionId = await recordReceived(context, eventId, decision.received);
      if (transactionId === null) return null;
      // Should the process die here, the next run finds the record, and flags what stands beside.
      return decision.beside
        ? flag(context, { eventId, ...namedBy(decision.beside) })
        : { result: 'applied', transactionId };
    }
  }
}

interface Beside {
  readonly transaction: CandidateRow;
  readonly reason: string;
}

function namedBy({ transaction, reason }: Beside): { transactionId: string; reason: string } {
  return { transactionId: transaction.id, reason };
}

/** @returns the new transaction's id, or null when the payment was recorded meanwhile. */
async function recordReceived(
  context: LocalContext,
  eventId: string,
  received: ReceivedPix,
): Promise<string | null> {
  const [row] = await context.db.query<{ id: string }>(queries.recordReceived, [
    randomUUIDv7(),
    received.userId,
    decimalFromCents(received.amountCents),
    received.pixKey,
    received.endToEnd,
    received.providerTxid,
    context.clock.now(),
    eventId,
    received.at,
  ]);
  return row?.id ?? null;
}

interface Found {
  readonly eventId: string;
  /** Null where it is about none. */
  readonly transactionId: string | null;
  readonly reason: string;
  readonly error?: unknown;
}

/** Tells an anomaly to those who watch, and notes it on the transaction; once for an event. */
async function flag(context: LocalContext, anomaly: Found): Promise<Settled> {
  const { eventId, transactionId, reason } = anomaly;
  const isNew =
    transactionId === null || (await noteAnomaly(context, { transactionId, eventId, reason }));
  if (isNew) {
    context.metrics.pixAnomalies.inc();
    context.log.error({ ...anomaly }, 'an event contradicts a stored transaction');
  }
  return { result: 'anomaly', reason, ...(transactionId !== null && { transactionId }) };
}
