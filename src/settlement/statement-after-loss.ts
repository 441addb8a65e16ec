/**
 * The reading of a user's statement after a loss of commits: what the provider has executed and no
 * stored order records is stored again, or blocks orders of its amount. Only then does the user
 * send and return again.
 */
import type { Context } from '../context/context.ts';
import { calendarDay } from '../domain/calendar.ts';
import { isConstraintViolation } from '../db/unavailable.ts';
import {
  foundAfterLossNote,
  isBeforePaying,
  isSameReturn,
  phasesBeforePaying,
} from '../domain/pix.ts';
import { timeOfSpiId } from '../domain/reconciliation.ts';
import type { CallOptions, ProviderSession, StatementLine } from '../provider/provider.ts';
import { reportCorrection } from '../ledger/correction.ts';
import { correctTransaction, type SoughtOrder } from '../ledger/correction-repository.ts';
import {
  blockByLine,
  findKnownSends,
  findStoredReturns,
  findSendOfKey,
  storeSendAgain,
  type BlockingLine,
  type LostSend,
  type NamedLostSend,
} from '../ledger/lost-send-repository.ts';
import { moveTransaction, type Move } from '../ledger/move-repository.ts';
import type { PixTransaction } from '../ledger/pix-transaction-repository.ts';
import { findOwedReading, storeReading, type OwedReading } from '../ledger/pause-repository.ts';
import { readWholeStatement } from './read-statement.ts';
import { mayBeReversed, settleOrder } from './settle-line.ts';
import { findSendEvidence } from './statement-evidence.ts';
import type { ClearLine, ReadStatement } from './statement-movements.ts';
import { findUnaccountedDebits } from './unnamed-lines.ts';

/**
 * Reads the statement of a user whose last commits may be lost, outside any transaction.
 * @param options of the calls to the provider.
 * @returns whether the user may send: false when the statement cannot be read whole now.
 * @throws ProviderError when the token is refused.
 */
export async function readStatementAfterLoss(
  context: Context,
  session: ProviderSession,
  options: CallOptions,
): Promise<boolean> {
  const owed = await findOwedReading(context, session.userId);
  return !owed || read(context, { session, owed, options });
}

interface Reading {
  readonly session: ProviderSession;
  readonly owed: OwedReading;
  readonly options: CallOptions;
}

/** @returns whether the statement was read whole. */
async function read(context: Context, { session, owed, options }: Reading): Promise<boolean> {
  const { userId } = session;
  const days = { session, first: calendarDay(owed.since), last: calendarDay(owed.until), options };
  const statement = await readWholeStatement(context, days);
  if (!statement) return false;
  const paid = Map.groupBy(statement.lines.filter(isPayment), ({ ids }) => ids.endToEnd);
  const known = await findKnownSends(context, [...paid.keys()]);
  for (const { ids, amountCents } of [...paid.values()].flatMap(mainFirst)) {
    const { endToEnd, clientRequestId: idempotencyKey } = ids;
    if (known.has(endToEnd)) continue;
    if (amountCents === null) {
      const line = { userId, subject: endToEnd, endToEnd, amountCents, blocks: 'SEND' } as const;
      await blockOrders(context, line, statement);
      continue;
    }
    const lost = { userId, endToEnd, amountCents, idempotencyKey };
    const id = await keepLostSend(context, lost, statement);
    // Its debit may still be reversed: a later reading tells.
    if (id === 'seen') return false;
    const sought = { ...lost, id: id ?? '', operation: 'SEND', status: 'PROCESSING' } as const;
    if (id !== null) await settleOrder(context, sought, statement);
  }
  await keepReturns(context, userId, statement);
  await blockByDebits(context, { userId, loss: owed.pauseId }, statement);
  await storeReading(context, userId, owed);
  return true;
}

/**
 * The lines of a payment among those with its end-to-end id, the one that may have moved the most
 * money first: the send is stored again with its amount. Its fee and its hold have the id as well,
 * and count only where no other line has it.
 */
function mainFirst(lines: readonly PaymentLine[]): readonly PaymentLine[] {
  const counted = lines.filter(({ direction }) => direction !== 'other');
  const sizeOf = ({ amountCents }: PaymentLine): number => amountCents ?? Infinity;
  return (counted.length > 0 ? counted : lines).toSorted((a, b) => sizeOf(b) - sizeOf(a));
}

/** A line of a return that has left, or may yet leave. */
interface ReturnLine extends StatementLine {
  readonly ids: StatementLine['ids'] & { readonly returnId: string };
}

function isReturn(line: StatementLine): line is ReturnLine {
  return line.ids.returnId !== null && line.direction !== 'in';
}

/**
 * Moves the returns before PAYING that the statement shows to UNKNOWN: the commit of their PAYING
 * was lost. A return without a row blocks returns of its amount, until its event or reconciliation
 * records it.
 */
async function keepReturns(
  context: Context,
  userId: number,
  statement: ReadStatement,
): Promise<void> {
  const shown = statement.lines.filter(isReturn);
  const stored = await findStoredReturns(
    context,
    userId,
    shown.map(({ ids }) => ids.returnId),
  );
  for (const { ids, amountCents } of shown) {
    const own = stored.find(({ endToEnd }) => isSameReturn(endToEnd, ids.returnId));
    if (own) {
      await keepReturn(context, own, statement);
      continue;
    }
    const line = { subject: ids.returnId, endToEnd: ids.endToEnd, amountCents };
    await blockOrders(context, { userId, ...line, blocks: 'REFUND_OUT' }, statement);
  }
}

/**
 * Blocks the orders of the amount of each debit without an id for which no stored order accounts.
 * Where the bank declares that its statement has our ids, only one with a request id may be ours.
 */
async function blockByDebits(
  context: Context,
  { userId, loss }: { readonly userId: number; readonly loss: number },
  statement: ReadStatement,
): Promise<void> {
  const isOurs = context.config.provider.statementHasIds;
  const debits = await findUnaccountedDebits(context, { userId, isOurs }, statement);
  for (const [place, { ids, amountCents }] of debits.entries()) {
    const unnamed = `out ${amountCents ?? 'unread'} loss ${loss} ${place + 1}`;
    const subject = ids.providerTxid ?? ids.clientRequestId ?? unnamed;
    const line = { userId, subject, endToEnd: null, amountCents, blocks: 'ANY' } as const;
    await blockOrders(context, line, statement);
  }
}

/** Blocks the orders of the amount of a line for which nothing accounts. */
async function blockOrders(
  context: Context,
  line: Omit<BlockingLine, 'day' | 'readingSince'>,
  { readAt }: ReadStatement,
): Promise<void> {
  const madeAt = timeOfSpiId(line.subject);
  const day = calendarDay(madeAt && madeAt < readAt ? madeAt : readAt);
  const payingIds = await blockByLine(context, { ...line, day, readingSince: readAt });
  if (payingIds === null) return;
  const { userId, subject, blocks } = line;
  // What has no form of an id may be anything: the list of differences shows it.
  const facts = { userId, ...(madeAt && { id: subject }), blocks, payingIds };
  context.log.error(facts, 'nothing accounts for a line of the statement: it blocks orders');
}

async function keepReturn(
  context: Context,
  order: SoughtOrder & Pick<PixTransaction, 'phase'>,
  statement: ReadStatement,
): Promise<void> {
  if (isBeforePaying(order.phase)) await moveTransaction(context, order.id, foundLost(null));
  if (order.status !== 'COMPLETED') await settleOrder(context, order, statement);
}

/** The move of an order whose PAYING was lost, and that the statement shows. */
function foundLost(endToEnd: string | null): Move {
  return {
    from: phasesBeforePaying,
    to: 'UNKNOWN',
    status: 'PROCESSING',
    outcome: 'unknown',
    endToEnd,
    timeline: [
      { phase: 'PAYING', note: foundAfterLossNote },
      { phase: 'UNKNOWN', note: foundAfterLossNote },
    ],
  };
}

/** A line of money that has left, or may yet leave. */
interface PaymentLine extends StatementLine {
  readonly ids: StatementLine['ids'] & { readonly endToEnd: string };
}

/** A payment by Pix has an end-to-end id; money that comes in, or back, is none. */
function isPayment(line: StatementLine): line is PaymentLine {
  return line.ids.endToEnd !== null && line.ids.returnId === null && line.direction !== 'in';
}

/** The form of the contract (`IdempotencyKey`): no other id is the app's. */
const keyPattern = /^[\x21\x23-\x2B\x2D-\x7E]{1,128}$/;

interface ShownSend extends LostSend {
  /** The request id of its line. */
  readonly idempotencyKey: string | null;
}

/**
 * Stores a send that only the statement shows, or blocks orders of its amount.
 * @returns the id of the send; null: nothing accounts for it; `seen`: not known yet.
 */
async function keepLostSend(
  context: Context,
  { idempotencyKey, ...lost }: ShownSend,
  statement: ReadStatement,
): Promise<string | null> {
  const { userId, endToEnd } = lost;
  const isKey = idempotencyKey !== null && keyPattern.test(idempotencyKey);
  // With an id in another form the line may not be what it says: it is no proof of a payment.
  const isNamed = isKey && timeOfSpiId(endToEnd) !== null;
  const id = isNamed ? await keepNamed(context, { ...lost, idempotencyKey }, statement) : null;
  if (id === 'seen') return id;
  if (id !== null) {
    context.log.warn({ userId, transactionId: id }, 'a send whose record was lost is stored again');
  } else {
    const line = { ...lost, subject: endToEnd, blocks: 'SEND' } as const;
    await blockOrders(context, line, statement);
  }
  return id;
}

/** @returns the id of the send that now records the payment; null: none does; or `seen`. */
async function keepNamed(
  context: Context,
  lost: NamedLostSend,
  statement: ReadStatement,
): Promise<string | null> {
  const storedId = await storeSendAgain(context, lost);
  if (storedId !== null) return storedId;
  const holder = await findSendOfKey(context, lost);
  if (!holder) return null;
  const { endToEnd } = lost;
  const { id, phase, status, endToEnd: stored } = holder.transaction;
  if (stored === endToEnd) return id;
  if (stored !== null || holder.amountCents !== lost.amountCents) return null;
  // Of this send the commit of PAYING was lost.
  if (isBeforePaying(phase)) {
    const moved = await moveTransaction(context, id, foundLost(endToEnd));
    return moved && id;
  }
  const found = findSendEvidence(statement, lost);
  if (status !== 'FAILED' || found.evidence !== 'completed') return null;
  const seen = { line: found.line, reading: statement, isDryRun: false };
  if (await mayBeReversed(context, { id, type: 'SEND' }, seen)) return 'seen';
  return (await correctLost(context, id, found.line)) ? id : null;
}

/** @returns whether the send is corrected: another send may have the line's end-to-end id. */
async function correctLost(
  context: Context,
  transactionId: string,
  { ids: { endToEnd, providerTxid } }: ClearLine,
): Promise<boolean> {
  const source = { eventId: null, note: foundAfterLossNote };
  const proof = { endToEnd, providerTxid, source };
  try {
    const corrected = await correctTransaction(context, transactionId, proof);
    if (corrected) reportCorrection(context, { transactionId, eventId: null, ...corrected });
    return corrected !== null;
  } catch (error) {
    if (!isConstraintViolation(error)) throw error;
    return false;
  }
}
