/**
 * A send that is open a day and a half after its last attempt. A reading that begins after that
 * ends it where the reading proves that no money has left. Any other send stays open, and the bank
 * says how it has ended.
 */
import { providerSession } from '../auth/banking-sessions.ts';
import type { Context } from '../context/context.ts';
import { judgeOverdueSend, type OverdueFacts } from '../ledger/judge-clock.ts';
import type { UnconfirmedOrder } from '../ledger/sweep-repository.ts';
import type { CallOptions, StatementLine } from '../provider/provider.ts';
import { readWholeStatement } from './read-statement.ts';
import { findStoredMovements } from './reconciliation-repository.ts';
import { judgeSend, type StatementEvidence } from './statement-evidence.ts';
import type { ReadStatement } from './statement-movements.ts';
import { moveSwept } from './sweep-part.ts';

/**
 * Fails an overdue send, if the statement of all days from the day before it to today proves that
 * it was not paid: a later line may contradict the first. The judge of the clock has the rules.
 * @param evidence what the statement of its own days says.
 */
export async function failIfOverdue(
  context: Context,
  order: UnconfirmedOrder,
  { evidence, options }: { readonly evidence: StatementEvidence; readonly options: CallOptions },
): Promise<void> {
  const { id, operation, createdAt, endToEnd, amountCents } = order;
  if (operation !== 'SEND' || amountCents === null) return;
  const facts = { ...factsOf(context, order), evidence, mayBeThere: false };
  if (judgeOverdueSend(facts) === null) return;
  const session = providerSession(context, order.session);
  const days = { session, first: createdAt, last: facts.now, options };
  const statement = await readWholeStatement(context, days);
  if (!statement) return;
  const { evidence: now } = judgeSend(statement, { endToEnd, amountCents });
  const mayBeThere = now === 'absent' && (await findSimilar(context, order, statement));
  const move = judgeOverdueSend({ ...facts, evidence: now, mayBeThere });
  if (move) await moveSwept(context, id, move);
}

function factsOf(
  { config: { provider }, clock }: Context,
  order: UnconfirmedOrder,
): Omit<OverdueFacts, 'evidence' | 'mayBeThere'> {
  const { attemptedAt, endToEnd, outcome, payeeIspb } = order;
  const wasRefused = order.wasRefusedForSession && provider.paymentRetries > 0;
  return {
    now: clock.now(),
    attemptedAt,
    endToEnd,
    outcome,
    isRefused: order.hasFailureReport || wasRefused,
    isElsewhere: payeeIspb !== null && payeeIspb !== provider.ispb,
    hasLineIds: provider.statementHasIds,
  };
}

/**
 * Whether a line may be the payment: it has its request id, or it may have left with its amount,
 * and is that of no other stored payment.
 */
async function findSimilar(
  context: Context,
  { userId, idempotencyKey, amountCents, createdAt }: UnconfirmedOrder,
  { lines, from }: ReadStatement,
): Promise<boolean> {
  if (lines.some(({ ids }) => ids.clientRequestId === idempotencyKey)) return true;
  const similar = lines.filter(
    (line) =>
      line.direction !== 'in' && (line.amountCents === null || line.amountCents === amountCents),
  );
  if (similar.length === 0) return false;
  const ids = similar.flatMap((line) => ownId(line) ?? []);
  const until = createdAt;
  const stored = await findStoredMovements(context, { userId, from, until, ids });
  const known = new Set(stored.filter((one) => one.userId === userId).map((one) => one.endToEnd));
  return similar.some((line) => !known.has(ownId(line)));
}

function ownId({ ids }: StatementLine): string | null {
  return ids.returnId ?? ids.endToEnd;
}
