/**
 * A send that is open a day and a half after its last attempt. Nothing can execute it any more: the
 * end-to-end ids of the instant payment system live twelve hours, and a bank reconciles by the next
 * day. A reading that begins after that ends it where the reading proves that no money has left.
 * Any other send stays open, and the bank says how it has ended.
 */
import { providerSession } from '../auth/banking-sessions.ts';
import type { Context } from '../context/context.ts';
import {
  executableMs,
  expiredUnexecuted,
  phasesOpenToFailure,
  reversed,
  reversedNote,
  unexecutedNote,
} from '../domain/pix.ts';
import type { CallOptions, StatementLine } from '../provider/provider.ts';
import type { UnconfirmedOrder } from '../ledger/sweep-repository.ts';
import { readWholeStatement } from './read-statement.ts';
import { findStoredMovements } from './reconciliation-repository.ts';
import { judgeSend, type StatementEvidence } from './statement-evidence.ts';
import type { ReadStatement } from './statement-movements.ts';
import { moveSwept } from './sweep-part.ts';

/** Why an overdue send fails. */
interface Failure {
  readonly failureCode: string;
  readonly note: string;
}

const wasReversed: Failure = { failureCode: reversed, note: reversedNote };
const wasUnexecuted: Failure = { failureCode: expiredUnexecuted, note: unexecutedNote };

/**
 * Fails an overdue send, if the statement of all days from the day before it to today proves that
 * it was not paid: a later line may contradict the first.
 *
 * - Its settled debits stand there with reversals of equal sums.
 * - Nothing there may be the payment, the bank has said that it failed or refused every attempt for
 *   its session alone, and the payee's account is at another institution.
 * @param evidence what the statement of its own days says.
 */
export async function failIfOverdue(
  context: Context,
  order: UnconfirmedOrder,
  { evidence, options }: { readonly evidence: StatementEvidence; readonly options: CallOptions },
): Promise<void> {
  const { operation, attemptedAt, createdAt } = order;
  const mayFail = evidence === 'reversed' || (evidence === 'absent' && mayExpire(context, order));
  const now = context.clock.now();
  if (!mayFail || operation !== 'SEND' || attemptedAt === null) return;
  if (now.getTime() < attemptedAt.getTime() + executableMs) return;
  const session = providerSession(context, order.session);
  const days = { session, first: createdAt, last: now, options };
  const statement = await readWholeStatement(context, days);
  const failure = statement && (await findFailure(context, order, statement));
  if (failure) await fail(context, order, failure);
}

/**
 * Whether the absence of a send from the statement may prove that it was not executed. A transfer
 * within one institution does not pass the instant payment system, and does not expire with its id.
 */
function mayExpire({ config }: Context, order: UnconfirmedOrder): boolean {
  const { provider } = config;
  const isElsewhere = order.payeeIspb !== null && order.payeeIspb !== provider.ispb;
  const wasRefused = order.wasRefusedForSession && provider.paymentRetries > 0;
  return provider.statementHasIds && isElsewhere && (order.hasFailureReport || wasRefused);
}

async function findFailure(
  context: Context,
  order: UnconfirmedOrder,
  statement: ReadStatement,
): Promise<Failure | null> {
  const { endToEnd, amountCents } = order;
  if (amountCents === null) return null;
  const { evidence } = judgeSend(statement, { endToEnd, amountCents });
  if (evidence === 'reversed') return wasReversed;
  const isAbsent = evidence === 'absent' && mayExpire(context, order);
  return isAbsent && !(await mayBeThere(context, order, statement)) ? wasUnexecuted : null;
}

/**
 * Whether a line may be the payment: it has its request id, or it may have left with its amount,
 * and is that of no other stored payment.
 */
async function mayBeThere(
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

async function fail(
  context: Context,
  { id, endToEnd, outcome }: UnconfirmedOrder,
  { failureCode, note }: Failure,
): Promise<void> {
  await moveSwept(context, id, {
    from: phasesOpenToFailure,
    to: 'SETTLED',
    status: 'FAILED',
    failureCode,
    endToEnd,
    ...(outcome !== 'accepted' && { outcome: 'rejected' }),
    timeline: [{ phase: 'SETTLED', note }],
  });
}
