/**
 * A send that is open a day and a half after its last attempt. A statement that is read after that,
 * and proves that no money has left, ends it. Otherwise it stays open until the bank reports its
 * end.
 */
import { providerSession } from '../auth/banking-sessions.ts';
import type { Context } from '../context/context.ts';
import { calendarDay } from '../domain/calendar.ts';
import { judgeOverdueSend, type OverdueFacts } from '../ledger/judge-clock.ts';
import { hasReachedPayee } from '../ledger/payment-repository.ts';
import type { UnconfirmedOrder } from '../ledger/sweep-repository.ts';
import type { CallOptions } from '../provider/provider.ts';
import { readWholeStatement } from './read-statement.ts';
import { hasSimilarLine } from './unnamed-lines.ts';
import { findSendEvidence, type StatementEvidence } from './statement-evidence.ts';
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
  const { id, userId, operation, idempotencyKey, createdAt, endToEnd, amountCents } = order;
  if (operation !== 'SEND' || amountCents === null) return;
  const facts = { ...factsOf(context, order), evidence, mayBeThere: false };
  if (judgeOverdueSend(facts) === null) return;
  const session = providerSession(context, order.session);
  const first = calendarDay(createdAt);
  const days = { session, first, last: calendarDay(facts.now), since: createdAt, options };
  const statement = await readWholeStatement(context, days);
  if (!statement) return;
  const { evidence: now } = findSendEvidence(statement, { endToEnd, amountCents });
  const sought = { userId, requestId: idempotencyKey, amountCents };
  const mayBeThere = now === 'absent' && (await hasSimilarLine(context, sought, statement));
  const move = judgeOverdueSend({ ...facts, evidence: now, mayBeThere });
  if (move && !(await hasReachedPayee(context, id))) await moveSwept(context, id, move);
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
