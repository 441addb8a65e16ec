/**
 * Carries out the verdicts on an item, if the stored transaction has not changed since. Each write
 * is conditional on the state that it changes; those of concurrent items share a commit.
 */
import type { LocalContext } from '../context/context.ts';
import { isConstraintViolation } from '../db/unavailable.ts';
import { receivedByPayee, type Source } from '../domain/pix.ts';
import type { DisputeReport } from '../domain/dispute.ts';
import { reportDispute } from './dispute-report.ts';
import { reportCorrection } from '../ledger/correction.ts';
import { awaitsOpenReturns, correctTransaction } from '../ledger/correction-repository.ts';
import { noteAnalysis } from '../ledger/analysis-repository.ts';
import { moveTransaction } from '../ledger/move-repository.ts';
import { storeReached } from '../ledger/payment-repository.ts';
import { noteAnomaly } from '../ledger/pix-transaction-repository.ts';
import type { Beside, Correction, RefundVerdict, Verdict } from '../ledger/report.ts';
import { storeRefund } from '../ledger/refund-repository.ts';
import { storeIdentity, storeReceived } from '../ledger/transaction-repository.ts';

/** What is carried out: a verdict, or what an event says of a dispute, which moves nothing. */
export type Judged = Verdict | { readonly kind: 'dispute'; readonly report: DisputeReport };

export type ItemResult = 'applied' | 'already' | 'ignored' | 'parked' | 'orphaned' | 'anomaly';

/** The refund or correction fits only if an open return fails. */
const returnInProgress = 'return_in_progress';

/** When an item has several results, report the first in this order. */
const resultOrder: readonly ItemResult[] = ['anomaly', 'parked', 'applied', 'already'];

/** The result of an item: ids and words only, no personal data. */
export interface Settled {
  readonly result: ItemResult;
  readonly reason?: string;
  readonly transactionId?: string;
}

/** The result of an item. */
export interface Applied {
  readonly outcome: Settled;
  /** The transaction that it has settled or recorded, or found settled; null: none. */
  readonly settledId: string | null;
}

/**
 * Carries out the verdicts on an item, one after the other.
 * @param source what brings the item.
 * @returns the result, or null when a stored transaction has changed meanwhile: the item must be
 *   judged again. A row that a constraint refuses is an anomaly.
 */
export async function applyVerdicts(
  context: LocalContext,
  source: Source,
  verdicts: readonly Judged[],
): Promise<Applied | null> {
  const applied: Applied[] = [];
  let isComplete = true;
  for (const verdict of verdicts) {
    const result = await applyOrFlag(context, source, verdict);
    if (result) applied.push(result);
    else isComplete = false;
  }
  if (!isComplete) return null;
  const outcomes = applied.map(({ outcome }) => outcome);
  const ranked = resultOrder.flatMap((one) => outcomes.filter(({ result }) => result === one));
  const outcome = ranked[0] ?? outcomes[0];
  const settledId = applied.find((one) => one.settledId !== null)?.settledId ?? null;
  return outcome ? { outcome, settledId } : null;
}

/** Flags the item whose row a constraint refuses. Other database errors concern every item. */
async function applyOrFlag(
  context: LocalContext,
  source: Source,
  verdict: Judged,
): Promise<Applied | null> {
  try {
    return await apply(context, source, verdict);
  } catch (error) {
    if (!isConstraintViolation(error)) throw error;
    const waiting = await findOpenReturns(context, verdict);
    if (waiting) return waiting;
    const { eventId } = source;
    const transactionId = 'transaction' in verdict ? (verdict.transaction?.id ?? null) : null;
    return unsettled(
      await flag(context, { eventId, transactionId, reason: 'breaks_a_constraint', error }),
    );
  }
}

/** @returns the result of a correction that fits as soon as an open return fails; null: none. */
async function findOpenReturns(context: LocalContext, verdict: Judged): Promise<Applied | null> {
  if (verdict.kind !== 'correct') return null;
  const { id: transactionId } = verdict.transaction;
  const awaits = await awaitsOpenReturns(context, transactionId);
  return awaits ? unsettled({ result: 'parked', reason: returnInProgress, transactionId }) : null;
}

/** The result of an item that has neither settled a transaction nor found it settled. */
function unsettled(outcome: Settled): Applied {
  return { outcome, settledId: null };
}

function settled(result: 'applied' | 'already', transactionId: string): Applied {
  return { outcome: { result, transactionId }, settledId: transactionId };
}

/** @returns the item's result, or null when the stored transaction has changed meanwhile. */
async function apply(
  context: LocalContext,
  source: Source,
  verdict: Judged,
): Promise<Applied | null> {
  const { eventId } = source;
  switch (verdict.kind) {
    case 'already':
      return unsettled({ result: 'already', transactionId: verdict.transaction.id });
    case 'waits': {
      const { reason, transaction, beside } = verdict;
      if (beside) await flag(context, { eventId, ...toAnomaly(beside) });
      return unsettled({ result: 'parked', reason, ...named(transaction) });
    }
    case 'ignored': {
      const { reason, transaction } = verdict;
      return unsettled({ result: 'ignored', reason, ...named(transaction) });
    }
    case 'conflict': {
      const { reason, transaction } = verdict;
      const transactionId = transaction?.id ?? null;
      return unsettled(await flag(context, { eventId, transactionId, reason }));
    }
    case 'unread': {
      const unread = toAnomaly(verdict);
      context.metrics.pixUnreadEvents.inc();
      context.log.warn(
        { eventId, ...unread },
        'an event about a stored transaction was not understood',
      );
      return unsettled({ result: 'ignored', ...unread });
    }
    case 'move': {
      const { id: transactionId } = verdict.transaction;
      const moved = await moveTransaction(context, transactionId, verdict.move);
      return moved ? settled('applied', transactionId) : null;
    }
    case 'identify': {
      const transactionId = verdict.transaction.id;
      const { endToEnd } = verdict;
      const isStored = await storeIdentity(context, { transactionId, endToEnd, eventId });
      return isStored ? settled('already', transactionId) : null;
    }
    case 'record': {
      const transactionId = await storeReceived(context, source, verdict.received);
      if (transactionId === null) return null;
      // If the process dies here, the next run finds the record, and flags the charge then.
      if (!verdict.beside) return settled('applied', transactionId);
      const outcome = await flag(context, { eventId, ...toAnomaly(verdict.beside) });
      return { outcome, settledId: transactionId };
    }
    case 'reached': {
      const { id: transactionId } = verdict.transaction;
      const hasFailed = await storeReached(context, transactionId);
      if (!hasFailed) return unsettled({ result: 'ignored', reason: 'reached' });
      return unsettled(await flag(context, { eventId, transactionId, reason: receivedByPayee }));
    }
    case 'analysis': {
      const { id: transactionId } = verdict.transaction;
      const isNew = await noteAnalysis(context, transactionId);
      return unsettled({ result: isNew ? 'applied' : 'already', transactionId });
    }
    case 'dispute':
      return unsettled(await reportDispute(context, eventId, verdict.report));
    case 'refund':
      return applyRefund(context, source, verdict);
    case 'correct':
      return applyCorrection(context, source, verdict);
  }
}

function named(transaction: { readonly id: string } | undefined) {
  return transaction && { transactionId: transaction.id };
}

/** The item counts as an anomaly: a person must look at what the customer did meanwhile. */
async function applyCorrection(
  context: LocalContext,
  source: Source,
  { transaction, endToEnd, providerTxid }: Correction,
): Promise<Applied | null> {
  const { id: transactionId } = transaction;
  const { eventId } = source;
  const proof = { endToEnd, providerTxid, source };
  const corrected = await correctTransaction(context, transactionId, proof);
  if (!corrected) return null;
  reportCorrection(context, { transactionId, eventId, ...corrected });
  const outcome = { result: 'anomaly', reason: 'corrected', transactionId } as const;
  return { outcome, settledId: transactionId };
}

async function applyRefund(
  context: LocalContext,
  source: Source,
  { transaction, refund }: RefundVerdict,
): Promise<Applied | null> {
  const stored = await storeRefund(context, source, refund);
  if (stored === null) return null;
  if (stored.kind === 'stored') return settled('applied', stored.id);
  if (stored.kind === 'known' && stored.isSame) return settled('already', stored.id);
  if (stored.kind === 'waits') {
    const transactionId = transaction.id;
    return unsettled({ result: 'parked', reason: returnInProgress, transactionId });
  }
  const [transactionId, reason] =
    stored.kind === 'exceeds'
      ? [transaction.id, 'refunds_exceed_amount']
      : [stored.id, 'amount_mismatch'];
  return unsettled(await flag(context, { eventId: source.eventId, transactionId, reason }));
}

function toAnomaly({ transaction, reason }: Pick<Beside, 'transaction' | 'reason'>) {
  return { transactionId: transaction.id, reason };
}

interface FoundAnomaly {
  /** Null for a line of a statement. */
  readonly eventId: string | null;
  /** Null if the anomaly concerns no transaction. */
  readonly transactionId: string | null;
  readonly reason: string;
  readonly error?: unknown;
}

/** Counts and logs an anomaly, and adds it to the transaction's timeline, once for each event. */
async function flag(context: LocalContext, anomaly: FoundAnomaly): Promise<Settled> {
  const { eventId, transactionId, reason } = anomaly;
  const isNew =
    transactionId === null || (await noteAnomaly(context, { transactionId, eventId, reason }));
  if (isNew) {
    context.metrics.pixAnomalies.inc();
    context.log.error({ ...anomaly }, 'an event contradicts a stored transaction');
  }
  return { result: 'anomaly', reason, ...(transactionId !== null && { transactionId }) };
}
