/**
 * Ends charges that have expired, whether the provider reports that or not. The webhook of a
 * payment may be lost: before a charge ends as unpaid, the statement of its owner is read if a
 * banking session allows it.
 */
import { providerSession } from '../auth/banking-sessions.ts';
import { dayMs } from '../clock.ts';
import type { Context } from '../context/context.ts';
import { isConstraintViolation } from '../db/unavailable.ts';
import { calendarDay } from '../domain/calendar.ts';
import { chargeExpired, expiredNote, foundInStatementNote } from '../domain/pix.ts';
import { ProviderError } from '../provider/errors.ts';
import type { CallOptions, StatementLine } from '../provider/provider.ts';
import { readWholeStatement } from './read-statement.ts';
import { flagSwept } from './settle-by-statement.ts';
import { judgeCharge } from './statement-evidence.ts';
import type { ReadStatement } from './statement-movements.ts';
import { findExpiredCharges, touchSwept, type ExpiredCharge } from '../ledger/sweep-repository.ts';
import { batchSize, moveSwept, startPart, type SweepPart } from './sweep-part.ts';

/** How long after its expiry an unpaid charge may still be reported as paid, in ms. */
const expiryGraceMs = dayMs;

/** How long after that a charge waits for a statement that cannot be read, in ms. */
const unreadGraceMs = dayMs;

/** Ends the charges whose grace is over, as paid or as expired. */
export async function endExpiredCharges(context: Context, options: CallOptions): Promise<void> {
  const part = startPart(context, options);
  const expiredBefore = new Date(context.clock.now().getTime() - expiryGraceMs);
  const charges = await findExpiredCharges(context, { expiredBefore, limit: batchSize });
  for (const charge of charges.filter(({ session }) => session === null)) {
    await endUnpaid(context, charge);
  }
  const readable = charges.filter(({ session }) => session !== null);
  for (const ofUser of Map.groupBy(readable, ({ userId }) => userId).values()) {
    for (const ofDay of Map.groupBy(ofUser, (one) => calendarDay(one.createdAt)).values()) {
      if (part.isOver()) return;
      // To the end of the queue first: a statement that cannot be read must not block the rest.
      await touchSwept(context, ofDay);
      await endByStatement(context, ofDay, part);
    }
  }
}

/** Charges of one user and one day share a statement. */
async function endByStatement(
  context: Context,
  charges: readonly ExpiredCharge[],
  part: SweepPart,
): Promise<void> {
  const statement = await readChargeStatement(context, charges, part);
  for (const charge of charges) {
    const { transactionIdentification, amountCents } = charge;
    const judged =
      statement && amountCents !== null
        ? judgeCharge(statement, { transactionIdentification, amountCents })
        : null;
    // Lines that are not clear end nothing: the charge waits as for a statement that is not read.
    if (judged?.evidence === 'paid') await completePaid(context, charge, judged.line);
    else if (judged?.evidence === 'absent' || isOverdue(context, charge)) {
      await endUnpaid(context, charge);
    }
  }
}

function isOverdue({ clock }: Context, { expiresAt }: ExpiredCharge): boolean {
  return clock.now().getTime() >= expiresAt.getTime() + expiryGraceMs + unreadGraceMs;
}

/** @returns the statement from the first charge's creation to the last expiry. */
async function readChargeStatement(
  context: Context,
  charges: readonly ExpiredCharge[],
  { options }: SweepPart,
): Promise<ReadStatement | null> {
  const [charge] = charges;
  if (!charge?.session) return null;
  const last = new Date(Math.max(...charges.map(({ expiresAt }) => expiresAt.getTime())));
  try {
    const session = providerSession(context, charge.session);
    return await readWholeStatement(context, { session, first: charge.createdAt, last, options });
  } catch (error) {
    if (error instanceof ProviderError && error.code === 'TOKEN_REFUSED') return null;
    const facts = { error, userId: charge.userId };
    context.log.error(facts, 'the statement of expired charges could not be read');
    return null;
  }
}

async function endUnpaid(context: Context, { id }: ExpiredCharge): Promise<void> {
  await moveSwept(context, id, {
    from: ['ACCEPTED'],
    to: 'SETTLED',
    status: 'FAILED',
    failureCode: chargeExpired,
    timeline: [{ phase: 'SETTLED', note: expiredNote }],
  });
}

async function completePaid(
  context: Context,
  { id }: ExpiredCharge,
  { ids: { endToEnd, providerTxid } }: StatementLine,
): Promise<void> {
  try {
    await moveSwept(context, id, {
      from: ['ACCEPTED'],
      to: 'SETTLED',
      status: 'COMPLETED',
      endToEnd,
      providerTxid,
      timeline: [{ phase: 'SETTLED', note: foundInStatementNote }],
    });
  } catch (error) {
    // The payment has completed another charge: an operator decides.
    if (!isConstraintViolation(error)) throw error;
    await flagSwept(context, id, 'breaks_a_constraint');
  }
}
