/**
 * Ends charges that have expired, whether the provider reports that or not. The webhook of a
 * payment may be lost: before a charge ends as unpaid, the statement of its owner is read if a
 * banking session allows it.
 */
import { providerSession } from '../auth/banking-sessions.ts';
import type { Context } from '../context/context.ts';
import { calendarDay } from '../domain/calendar.ts';
import { expiryGraceMs, judgeExpiredCharge, unpaid } from '../ledger/judge-clock.ts';
import { ProviderError } from '../provider/errors.ts';
import type { CallOptions } from '../provider/provider.ts';
import { readWholeStatement } from './read-statement.ts';
import { settleProven } from './settle-line.ts';
import { findChargeEvidence, type ChargeEvidence } from './statement-evidence.ts';
import { toProven } from './statement-lines.ts';
import type { ReadStatement } from './statement-movements.ts';
import { findExpiredCharges, touchSwept, type ExpiredCharge } from '../ledger/sweep-repository.ts';
import { batchSize, moveSwept, startPart, type SweepPart } from './sweep-part.ts';

/** Ends the charges whose grace is over, as paid or as expired. */
export async function endExpiredCharges(context: Context, options: CallOptions): Promise<void> {
  const part = startPart(context, options);
  const expiredBefore = new Date(context.clock.now().getTime() - expiryGraceMs);
  const charges = await findExpiredCharges(context, { expiredBefore, limit: batchSize });
  for (const charge of charges.filter(({ session }) => session === null)) {
    await moveSwept(context, charge.id, unpaid);
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
    const { id, userId, transactionIdentification, amountCents, expiresAt } = charge;
    let evidence: ChargeEvidence['evidence'] | null = null;
    if (statement && amountCents !== null) {
      const found = findChargeEvidence(statement, { transactionIdentification, amountCents });
      evidence = found.evidence;
      if (found.evidence === 'paid') {
        const options = { userId, reading: statement, isDryRun: false };
        await settleProven(context, toProven(found.line, null), options);
      }
    }
    const move = judgeExpiredCharge({ expiresAt, now: context.clock.now(), evidence });
    if (move) await moveSwept(context, id, move);
  }
}

/** @returns the statement from the first charge's creation to the last expiry. */
async function readChargeStatement(
  context: Context,
  charges: readonly ExpiredCharge[],
  { options }: SweepPart,
): Promise<ReadStatement | null> {
  const [charge] = charges;
  if (!charge?.session) return null;
  const first = calendarDay(charge.createdAt);
  const since = new Date(Math.min(...charges.map(({ createdAt }) => createdAt.getTime())));
  const lastExpiry = new Date(Math.max(...charges.map(({ expiresAt }) => expiresAt.getTime())));
  try {
    const session = providerSession(context, charge.session);
    const days = { session, first, last: calendarDay(lastExpiry), since, options };
    return await readWholeStatement(context, days);
  } catch (error) {
    if (error instanceof ProviderError && error.code === 'TOKEN_REFUSED') return null;
    const facts = { error, userId: charge.userId };
    context.log.error(facts, 'the statement of expired charges could not be read');
    return null;
  }
}
