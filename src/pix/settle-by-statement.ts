/**
 * Settles an order by the provider's statement: for the sweep, for reconciliation, and for the
 * reading after a loss of commits.
 */
import type { LocalContext } from '../context/context.ts';
import { isConstraintViolation } from '../db/unavailable.ts';
import { foundInStatementNote, phasesOpenToSettlement } from '../domain/pix.ts';
import type { StatementLine } from '../provider/provider.ts';
import { changeSpan } from '../telemetry/tracing.ts';
import { awaitsOpenReturns, correctTransaction } from './correction-repository.ts';
import { noteCorrection } from './correction.ts';
import { moveTransaction } from './move-repository.ts';
import { noteAnomaly } from './pix-transaction-repository.ts';
import { findOtherPayment, judgeOrder, type SoughtOrder } from './statement-evidence.ts';

/**
 * Ends an order that a line proves, or corrects one that is FAILED. A correction that the amount of
 * the returned payment does not allow any more is an anomaly; one that only an open return blocks
 * waits for the next reading.
 * @param proof the line as `judgeOrder` has found it, and a note for the timeline.
 * @returns null when it was never sent, or another process has ended it meanwhile.
 */
export async function settleByLine(
  context: LocalContext,
  order: SettledOrder,
  proof: SettlementProof,
): Promise<'completed' | 'corrected' | null> {
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

type SettledOrder = Pick<SoughtOrder, 'id' | 'endToEnd' | 'status'>;

interface SettlementProof {
  readonly line: StatementLine;
  readonly note?: string;
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
 * about an open one.
 */
export async function settleByLines(
  context: LocalContext,
  order: SoughtOrder,
  lines: readonly StatementLine[],
): Promise<void> {
  const { id, operation, endToEnd, amountCents, idempotencyKey: clientRequestId } = order;
  if (amountCents === null) return;
  const payment = { endToEnd, amountCents };
  const found = judgeOrder(lines, { operation, ...payment });
  if (found.evidence === 'completed') await settleByLine(context, order, found);
  if (order.status === 'FAILED') return;
  if (found.evidence === 'unclear') await flagSwept(context, id, 'statement_unclear');
  if (found.evidence !== 'absent' || clientRequestId === null) return;
  const other = findOtherPayment(lines, { ...payment, clientRequestId });
  if (other !== null) await flagSwept(context, id, `same_key_and_amount_as ${other}`);
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
