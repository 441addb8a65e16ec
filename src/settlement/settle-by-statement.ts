/**
 * Settles an order by the provider's statement: for the sweep, for reconciliation, and for the
 * reading after a loss of commits.
 */
import type { LocalContext } from '../context/context.ts';
import { isConstraintViolation } from '../db/unavailable.ts';
import {
  foundInStatementNote,
  phasesOpenToSettlement,
  reversedInStatement,
} from '../domain/pix.ts';
import type { StatementLine } from '../provider/provider.ts';
import { changeSpan } from '../telemetry/tracing.ts';
import {
  awaitsOpenReturns,
  correctTransaction,
  type SoughtOrder,
} from '../ledger/correction-repository.ts';
import { noteCorrection } from '../ledger/correction.ts';
import { moveTransaction } from '../ledger/move-repository.ts';
import { noteAnomaly } from '../ledger/pix-transaction-repository.ts';
import { findOtherPayment, judgeOrder, type StatementEvidence } from './statement-evidence.ts';
import type { ReadStatement, WholeStatement } from './statement-movements.ts';
import { noteSight } from './statement-sight-repository.ts';

/**
 * How long after its first sight a reading must still show the debit of a send, in ms: a bank may
 * book a rejected payment, and reverse it some minutes later.
 */
const reversedWithinMs = 10 * 60_000;

/**
 * Ends an order that a line proves, or corrects one that is FAILED. A correction that the amount of
 * the returned payment does not allow any more is an anomaly; one that only an open return blocks
 * waits for the next reading.
 * @param proof the line as `judgeOrder` has found it, the reading, and a note for the timeline.
 * @returns `seen`: the debit of a send may still be reversed, and a later reading settles it; null
 *   when it was never sent, or another process has ended it meanwhile.
 */
export async function settleByLine(
  context: LocalContext,
  order: SettledOrder,
  proof: SettlementProof,
): Promise<'completed' | 'corrected' | 'seen' | null> {
  if (await mayBeReversed(context, order, { ...proof, isDryRun: false })) return 'seen';
  const change = { name: 'settle by statement', transactionId: order.id };
  try {
    return await changeSpan(context.tracing, change, () =>
      completeOrCorrect(context, order, proof),
    );
  } catch (error) {
    if (!isConstraintViolation(error)) throw error;
    if (await awaitsOpenReturns(context, order.id)) return null;
    await flagSwept(context, order.id, 'breaks_a_constraint');
    return null;
  }
}

type SettledOrder = Pick<SoughtOrder, 'id' | 'endToEnd' | 'status' | 'operation'>;

interface SeenDebit {
  readonly line: StatementLine;
  readonly reading: Pick<WholeStatement, 'readAt' | 'isFinal'>;
}

interface SettlementProof extends SeenDebit {
  readonly note?: string;
}

/**
 * Whether the debit of a send was first seen too short a time ago. Stores its first sight, but in a
 * dry run.
 */
export async function mayBeReversed(
  context: LocalContext,
  { id, operation }: Pick<SettledOrder, 'id' | 'operation'>,
  { line, reading: { readAt, isFinal }, isDryRun }: SeenDebit & { readonly isDryRun: boolean },
): Promise<boolean> {
  if (isFinal || operation !== 'SEND' || line.direction !== 'out') return false;
  const seenAt = await noteSight(context, id, { readAt, isDryRun });
  return seenAt === null || readAt.getTime() - seenAt.getTime() < reversedWithinMs;
}

async function completeOrCorrect(
  context: LocalContext,
  { id, endToEnd, status }: SettledOrder,
  { line, note = foundInStatementNote }: SettlementProof,
): Promise<'completed' | 'corrected' | null> {
  const { providerTxid } = line.ids;
  if (status === 'FAILED') {
    const proof = { endToEnd, providerTxid, eventId: null, source: note };
    const corrected = await correctTransaction(context, id, proof);
    if (corrected) noteCorrection(context, { transactionId: id, eventId: null, ...corrected });
    return corrected && 'corrected';
  }
  const moved = await moveTransaction(context, id, {
    from: phasesOpenToSettlement,
    to: 'SETTLED',
    status: 'COMPLETED',
    outcome: 'accepted',
    endToEnd,
    providerTxid,
    timeline: [{ phase: 'SETTLED', note }],
  });
  return moved && 'completed';
}

/**
 * Settles an order that a whole statement proves, and reports what the statement leaves unclear
 * about an open one. A refund proves that an open send was made; a failed one only its own line.
 * @returns what the statement says about it.
 */
export async function settleByLines(
  context: LocalContext,
  order: SoughtOrder,
  statement: ReadStatement,
): Promise<StatementEvidence> {
  const { id, operation, endToEnd, amountCents, idempotencyKey: clientRequestId } = order;
  if (amountCents === null) return 'unclear';
  const payment = { endToEnd, amountCents };
  const found = judgeOrder(statement, { operation, ...payment });
  const { evidence } = found;
  const isProved =
    evidence === 'completed' || (evidence === 'returned' && order.status !== 'FAILED');
  if (isProved) await settleByLine(context, order, { line: found.line, reading: statement });
  if (order.status === 'FAILED') return evidence;
  if (evidence === 'unclear') await flagSwept(context, id, 'statement_unclear');
  if (evidence === 'reversed') await flagSwept(context, id, reversedInStatement);
  if (evidence !== 'absent' || clientRequestId === null) return evidence;
  const other = findOtherPayment(statement, { ...payment, clientRequestId });
  if (other !== null) await flagSwept(context, id, `same_key_and_amount_as ${other}`);
  return evidence;
}

/**
 * Reports a transaction that the statement mentions without proof, or whose key and amount another
 * payment has: an operator decides.
 */
export async function flagSwept(
  context: LocalContext,
  transactionId: string,
  reason: string,
): Promise<void> {
  if (!(await noteAnomaly(context, { transactionId, eventId: null, reason }))) return;
  context.metrics.pixAnomalies.inc();
  const facts = { transactionId, reason };
  context.log.error(facts, 'the statement mentions a payment and proves nothing');
}
