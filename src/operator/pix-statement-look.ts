/**
 * What the provider's statement says of a payment, read before an operator calls it failed: from
 * the day before it to the day of the reading. No database transaction is open meanwhile.
 */
import type { LocalContext } from '../context/context.ts';
import { calendarDay } from '../domain/calendar.ts';
import { centsFromDecimal } from '../domain/money.ts';
import { isReturnId, isSameId } from '../domain/pix.ts';
import { timeOfSpiId } from '../domain/reconciliation.ts';
import { findChargeEvidence, findOrderEvidence } from '../settlement/statement-evidence.ts';
import { hasSimilarLine } from '../settlement/unnamed-lines.ts';
import { returnGroup, type ReadStatement } from '../settlement/statement-movements.ts';
import type { InspectedPix } from './pix-repository.ts';
import { requestIdOf } from '../ledger/return-ids.ts';
import { readUserStatement, unreadSentence, type Unread } from './read-user-statement.ts';
import { findUserSession } from './user-session-repository.ts';
import { withProvider } from './with-provider.ts';

/**
 * - `absent`: no line names the payment.
 * - `failed`: its debits have failed.
 * - `reversed`: a debit, and as much money back under its end-to-end id.
 * - `shown`: a line shows that it was made, also one that a bank may still reverse.
 * - `unclear`: lines name it and prove nothing.
 * - `similar`: no other line shows it, and one of its amount, that of no stored payment, may be it.
 */
export type StatementSays = 'absent' | 'failed' | 'reversed' | 'shown' | 'unclear' | 'similar';

/** What it says of a payment that may have been made. */
export const mayBeMade: ReadonlySet<StatementSays | null> = new Set([
  'shown',
  'unclear',
  'similar',
]);

export interface StatementLook {
  /** Null: it was not read. */
  readonly says: StatementSays | null;
  /** Why it was not read. */
  readonly unread: Unread | null;
  /** What it says, or why it was not read: a sentence without a full stop. */
  readonly sentence: string;
}

const sentences = {
  absent: 'no line of the statement names this payment',
  failed: 'the statement says that this payment has failed',
  reversed: 'the statement has a debit of this payment and as much money back',
  shown: 'the statement shows this payment',
  unclear: 'the statement names this payment, and its lines are not clear',
  similar: 'the statement has a debit of this amount that is of no stored payment',
} as const;

/** @returns what the statement says of a transaction; null: nothing of it can be in a statement. */
export async function lookAtStatement(
  context: LocalContext,
  row: InspectedPix,
): Promise<StatementLook | null> {
  if (row.operation === 'CHARGE' && row.transactionIdentification === null) return null;
  const session = await findUserSession(context, row.userId);
  const days = { first: row.createdAt, last: context.clock.now() };
  const read = await withProvider(context, (provider) =>
    readUserStatement(context, { session, provider, ...days }),
  );
  if (typeof read === 'string') {
    return { says: null, unread: read, sentence: unreadSentence(read) };
  }
  const judgement = await judgeStatement(context, read, row);
  return { says: judgement.says, unread: null, sentence: toSentence(row, judgement, days.last) };
}

/** Why the statement refuses that a payment is called failed; null: it does not. */
export function refusalOfStatement(look: StatementLook): string | null {
  if (!mayBeMade.has(look.says)) return null;
  return `${look.sentence}; to call it failed all the same, give --despite-statement`;
}

/** The reading in the words of the operators' record. */
export function recordOfStatement({ says, unread }: StatementLook): string {
  if (says === null) return `statement not read: ${unread ?? 'NOT_WHOLE'}`;
  return `${mayBeMade.has(says) ? 'despite the statement' : 'statement'}: ${says}`;
}

interface Judgement {
  readonly says: StatementSays;
  /** When the payment was made that the statement shows; absent: as the transaction was. */
  readonly at?: Date;
  /** The other end-to-end id of a payment that has the request id. */
  readonly other?: string;
}

/** What of a transaction its judgement needs. */
type JudgedPix = Pick<
  InspectedPix,
  | 'userId'
  | 'operation'
  | 'idempotencyKey'
  | 'amount'
  | 'endToEnd'
  | 'providerTxid'
  | 'transactionIdentification'
>;

/** @returns what a statement says of a transaction. */
export async function judgeStatement(
  context: Pick<LocalContext, 'db'>,
  statement: ReadStatement,
  row: JudgedPix,
): Promise<Judgement> {
  const judgement = judgeLines(statement, row);
  if (row.operation === 'CHARGE' || judgement.says !== 'absent') return judgement;
  const { userId, amount } = row;
  const amountCents = centsFromDecimal(amount);
  const sought = { userId, requestId: requestIdOf(row), amountCents };
  return (await hasSimilarLine(context, sought, statement)) ? { says: 'similar' } : judgement;
}

function judgeLines(statement: ReadStatement, row: JudgedPix): Judgement {
  const { operation, endToEnd, amount, transactionIdentification } = row;
  const amountCents = centsFromDecimal(amount);
  if (amountCents === null) return { says: 'unclear' };
  if (operation === 'CHARGE') {
    const charge = { transactionIdentification: transactionIdentification ?? '', amountCents };
    const found = findChargeEvidence(statement, charge);
    if (found.evidence !== 'paid') return { says: found.evidence };
    const at = timeOfSpiId(found.line.ids.endToEnd);
    return { says: 'shown', ...(at && { at }) };
  }
  if (endToEnd === null) return judgeRequest(statement, row);
  const kind = operation === 'REFUND_OUT' ? operation : 'SEND';
  const { evidence } = findOrderEvidence(statement, { operation: kind, endToEnd, amountCents });
  switch (evidence) {
    case 'completed':
    case 'returned':
      return { says: 'shown' };
    case 'reversed':
      return { says: 'reversed' };
    case 'absent':
      return judgeRequest(statement, row);
    case 'pending':
    case 'unclear':
      return { says: hasFailed(statement, endToEnd) ? 'failed' : 'unclear' };
  }
}

/** Whether the debits with the id of an order say that it has failed. */
function hasFailed({ byId }: ReadStatement, id: string): boolean {
  const groups = byId.get(isReturnId(id) ? returnGroup(id) : id) ?? [];
  const debits = groups.flatMap(({ lines }) => lines.filter(({ direction }) => direction !== 'in'));
  return (
    debits.length > 0 &&
    debits.every(({ direction, status }) => direction === 'out' && status === 'FAILED')
  );
}

/** Looks for a payment with the request id of an order, or the bank's own id, under another id. */
function judgeRequest({ lines }: ReadStatement, row: JudgedPix): Judgement {
  const requestId = requestIdOf(row);
  const line = lines.find(
    ({ ids, direction }) =>
      direction !== 'in' &&
      (isSameId(ids.clientRequestId, requestId) || isSameId(ids.providerTxid, row.providerTxid)),
  );
  if (!line) return { says: 'absent' };
  const { returnId, endToEnd } = line.ids;
  const other = returnId ?? endToEnd;
  return { says: 'unclear', ...(other !== null && { other }) };
}

/** With the command by which an operator settles what the statement shows. */
function toSentence(
  row: InspectedPix,
  { says, at = row.createdAt, other }: Judgement,
  readAt: Date,
): string {
  if (other !== undefined) {
    const what = `the statement has a payment with its request id under ${other}`;
    return row.endToEnd === null && row.operation === 'SEND'
      ? `${what}: \`ponte pix resolve ${row.id} --as completed --end-to-end ${other}\``
      : `${what}: ask the provider about both`;
  }
  if (says !== 'shown' && says !== 'unclear') return sentences[says];
  if (row.status === 'COMPLETED') return sentences[says];
  const day = calendarDay(at);
  const reconcile = `\`ponte reconcile --user ${row.userId} --day ${day}\``;
  const command = `${reconcile} ${says === 'shown' ? 'settles it' : 'shows what to do'}`;
  if (day < calendarDay(readAt)) return `${sentences[says]}: ${command}`;
  // The sweep reads the statement for orders.
  const isSwept = says === 'shown' && row.operation !== 'CHARGE';
  const sweep = isSwept ? 'the sweep settles it while the user is logged in; ' : '';
  return `${sentences[says]}: ${sweep}from tomorrow, ${command}`;
}
