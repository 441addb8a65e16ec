/**
 * Settles what a statement proves, for the sweep, for charges that have expired, for the reading
 * after a loss of commits and for reconciliation. A line is judged as an item of an event is.
 */
import type { LocalContext } from '../context/context.ts';
import { centsFromDecimal, decimalFromCents } from '../domain/money.ts';
import { fromStatement, isSameId, reversedInStatement, type PixType } from '../domain/pix.ts';
import type { DifferenceKind } from '../domain/reconciliation.ts';
import type { SoughtOrder } from '../ledger/correction-repository.ts';
import { judge } from '../ledger/judge.ts';
import { hasClosedLine } from '../ledger/overrule-repository.ts';
import { noteAnomaly } from '../ledger/pix-transaction-repository.ts';
import { toFacts, toReport, type Stored, type Verdict } from '../ledger/report.ts';
import {
  loadCandidates,
  type CandidateRow,
  type Candidates,
} from '../ledger/transaction-repository.ts';
import { noPayee, type WebhookItem } from '../provider/webhook-events.ts';
import { changeSpan } from '../telemetry/tracing.ts';
import { applyVerdicts } from './apply.ts';
import type { StoredMovement } from './movement-repository.ts';
import type { FoundDifference } from './reconciliation-repository.ts';
import { maxJudgements } from './settle-items.ts';
import {
  findOrderEvidence,
  findOtherPayment,
  type StatementEvidence,
} from './statement-evidence.ts';
import { lineSubject, toProven, type ProvenLine } from './statement-lines.ts';
import type { ClearLine, ReadStatement, WholeStatement } from './statement-movements.ts';
import { noteSight } from './statement-sight-repository.ts';

/** What a line has done: it ends a transaction, corrects it, records one or identifies it. */
export type LineAction = 'completed' | 'corrected' | 'received' | 'returned' | 'identified';

export interface SettledLine {
  readonly action: LineAction;
  /** Null: a dry run has recorded none. */
  readonly transactionId: string | null;
  /** Null: the line of a return names only its return id. */
  readonly endToEnd: string | null;
  readonly amountCents: number;
}

/** A difference whose day follows from its line. */
export type LineDifference = Omit<FoundDifference, 'day'>;

/** How a line was read. */
export interface LineReading {
  /** Whose statement it is: a line concerns only this user's transactions. */
  readonly userId: number;
  readonly reading: Pick<WholeStatement, 'readAt' | 'isFinal'>;
  readonly isDryRun: boolean;
}

export interface SettleLineOptions extends LineReading {
  /** The stored transactions, of any user, with the end-to-end id or the return id of the line. */
  readonly stored: readonly StoredMovement[];
}

export interface LineResult {
  readonly done: readonly SettledLine[];
  readonly differences: readonly LineDifference[];
}

export const nothing: LineResult = { done: [], differences: [] };

/**
 * Settles a line of a reconciled statement. It may be repeated, and an event may settle the same at
 * the same time: the second finds it done.
 */
export async function settleLine(
  context: LocalContext,
  proven: ProvenLine,
  { stored, ...options }: SettleLineOptions,
): Promise<LineResult> {
  const { line, item } = proven;
  const types = possibleTypes(line);
  const ofType = stored.filter(({ operation }) => types.has(operation));
  const own = ofType.filter(({ userId }) => userId === options.userId);
  if (ofType.length > 0 && own.length === 0) {
    return onlyDifference(line, { kind: 'UNPROVEN', reason: 'other_account' });
  }
  if (own.some((one) => isStoredAs(one, line))) return nothing;
  const [refund] = item.kind === 'refund' ? own : [];
  if (refund && centsFromDecimal(refund.amount) !== line.amountCents) {
    return onlyDifference(line, aboutMovement(refund, 'DIFFERENT_AMOUNT', 'amount_mismatch'));
  }
  return settleProven(context, proven, options);
}

/** The types of transactions that a line may be about. */
export function possibleTypes({ ids, direction }: ClearLine): ReadonlySet<PixType> {
  if (ids.returnId !== null) return new Set([direction === 'in' ? 'REFUND_IN' : 'REFUND_OUT']);
  return new Set<PixType>(direction === 'in' ? ['CHARGE', 'RECEIVED'] : ['SEND']);
}

/**
 * Whether a transaction is the movement of a line, so that nothing is left to decide. A line that
 * names a charge may complete it, although its payment is recorded.
 */
function isStoredAs({ status, amount, operation }: StoredMovement, line: ClearLine): boolean {
  const mayPay = operation === 'RECEIVED' && line.ids.transactionIdentification !== null;
  return status === 'COMPLETED' && centsFromDecimal(amount) === line.amountCents && !mayPay;
}

/**
 * Settles an order that a whole statement proves, and reports what the statement leaves unclear
 * about an open one. A refund proves an open send as well; only its own line proves a failed one.
 * @returns what the statement says about it.
 */
export async function settleOrder(
  context: LocalContext,
  order: SoughtOrder,
  statement: ReadStatement,
): Promise<StatementEvidence> {
  const { id, operation, endToEnd, amountCents, idempotencyKey: clientRequestId, userId } = order;
  if (amountCents === null) return 'unclear';
  const payment = { endToEnd, amountCents };
  const found = findOrderEvidence(statement, { operation, ...payment });
  const { evidence } = found;
  const isProved =
    evidence === 'completed' || (evidence === 'returned' && order.status !== 'FAILED');
  if (isProved) {
    const { line } = found;
    // The row of a return may have another minute in its id than the line.
    const ids = operation === 'REFUND_OUT' ? { ...line.ids, returnId: endToEnd } : line.ids;
    const options = { userId, reading: statement, isDryRun: false };
    await settleProven(context, toProven({ ...line, ids }, null), options);
  }
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
async function flagSwept(
  context: LocalContext,
  transactionId: string,
  reason: string,
): Promise<void> {
  if (!(await noteAnomaly(context, { transactionId, eventId: null, reason }))) return;
  context.metrics.pixAnomalies.inc();
  const facts = { transactionId, reason };
  context.log.error(facts, 'the statement mentions a payment and proves nothing');
}

/**
 * Judges a line that proves a movement, and carries the verdicts out. It may be repeated.
 */
export async function settleProven(
  context: LocalContext,
  proven: ProvenLine,
  options: LineReading,
): Promise<LineResult> {
  const { line, item } = proven;
  const done: SettledLine[] = [];
  for (let attempt = 0; attempt < maxJudgements; attempt += 1) {
    const reported = { source: fromStatement, item, receivedAt: options.reading.readAt };
    const results: (LineResult | null)[] = [];
    const facts = toFacts(await loadCandidatesOfUser(context, item, options.userId));
    for (const verdict of judge(toReport(reported), facts)) {
      results.push(await carryOut(context, verdict, { line, options }));
    }
    const carried = results.filter((one) => one !== null);
    done.push(...carried.flatMap((one) => one.done));
    if (carried.length < results.length) continue;
    return { done, differences: carried.flatMap(({ differences }) => differences) };
  }
  return { ...onlyDifference(line, { kind: 'UNPROVEN', reason: 'changed_meanwhile' }), done };
}

/**
 * Reads the user's transactions that a line may concern. For an outgoing payment that is only a
 * send with its end-to-end id; for money that came in also the send of another customer who paid
 * it. The payee is the user, because a statement lists only the payments of its owner.
 */
async function loadCandidatesOfUser(
  context: LocalContext,
  item: WebhookItem,
  userId: number,
): Promise<Candidates> {
  const { candidates } = await loadCandidates(context, { ...item, payee: noPayee });
  const mayBeMeant = ({ operation, endToEnd, userId: owner }: CandidateRow): boolean => {
    const isItsSend = operation === 'SEND' && isSameId(endToEnd, item.ids.endToEnd);
    if (owner !== userId) return item.kind === 'received' && isItsSend;
    return item.kind !== 'payment' || isItsSend;
  };
  return {
    candidates: candidates.filter(mayBeMeant),
    payees: [{ userId, hasKey: false, agrees: true }],
  };
}

/** What the verdicts do that change something. */
const actions: Readonly<Partial<Record<Verdict['kind'], LineAction>>> = {
  move: 'completed',
  correct: 'corrected',
  record: 'received',
  refund: 'returned',
  identify: 'identified',
};

interface JudgedLine {
  readonly line: ClearLine;
  readonly options: LineReading;
}

/** @returns null when a stored transaction has changed meanwhile: the line is judged again. */
async function carryOut(
  context: LocalContext,
  verdict: Verdict,
  { line, options }: JudgedLine,
): Promise<LineResult | null> {
  if (verdict.kind === 'reached') {
    // It is a payment of another customer, and no difference of the line's owner.
    if (!options.isDryRun) await applyVerdicts(context, fromStatement, [verdict]);
    return nothing;
  }
  const action = actions[verdict.kind];
  if (action === undefined) return openResult(line, verdict);
  const named = findTransaction(verdict);
  if (named && (await mayBeReversed(context, named, { line, ...options }))) {
    return onlyDifference(line, { ...aboutStored(named), kind: 'UNPROVEN', reason: 'first_seen' });
  }
  if (verdict.kind === 'correct' && (await hasClosedLine(context, verdict.transaction.id))) {
    return nothing;
  }
  const settled = { action, endToEnd: line.ids.endToEnd, amountCents: line.amountCents };
  if (options.isDryRun) {
    return { done: [{ ...settled, transactionId: named?.id ?? null }], differences: [] };
  }
  const applied = await apply(context, verdict, named);
  if (!applied) return null;
  const { outcome, settledId } = applied;
  const { result, reason = 'unclear', transactionId = null } = outcome;
  const isDone = result === 'applied' || action === 'identified' || reason === 'corrected';
  const isAnomaly = result === 'anomaly' && !isDone;
  // A refund that waits for the end of a return is listed for an operator until that end.
  const isListed = isAnomaly || result === 'parked';
  return {
    done:
      settledId !== null && (isDone || isAnomaly) ? [{ ...settled, transactionId: settledId }] : [],
    differences: isListed
      ? [toDifference(line, { kind: differenceKind(reason), reason, transactionId })]
      : [],
  };
}

function apply(
  context: LocalContext,
  verdict: Verdict,
  named: Stored | null,
): ReturnType<typeof applyVerdicts> {
  const work = () => applyVerdicts(context, fromStatement, [verdict]);
  const change = { name: 'settle by statement', transactionId: named?.id ?? '' };
  return named ? changeSpan(context.tracing, change, work) : work();
}

/**
 * How long after its first sight a reading must still show the debit of a send, in ms: a bank may
 * book a rejected payment, and reverse it some minutes later.
 */
const reversedWithinMs = 10 * 60_000;

interface SeenDebit extends Pick<LineReading, 'reading' | 'isDryRun'> {
  readonly line: Pick<ClearLine, 'direction'>;
}

/**
 * Whether the debit of a send was first seen too short a time ago. Stores its first sight, except
 * in a dry run.
 */
export async function mayBeReversed(
  context: LocalContext,
  { id, type }: Pick<Stored, 'id' | 'type'>,
  { line, reading: { readAt, isFinal }, isDryRun }: SeenDebit,
): Promise<boolean> {
  if (isFinal || type !== 'SEND' || line.direction !== 'out') return false;
  const seenAt = await noteSight(context, id, { readAt, isDryRun });
  return seenAt === null || readAt.getTime() - seenAt.getTime() < reversedWithinMs;
}

const kinds: Readonly<Record<string, DifferenceKind>> = {
  amount_mismatch: 'DIFFERENT_AMOUNT',
  refunds_exceed_amount: 'DIFFERENT_AMOUNT',
  contradicts_final_status: 'OTHER_STATUS',
  not_completed_yet: 'OTHER_STATUS',
  not_paying_yet: 'OTHER_STATUS',
};

function differenceKind(reason: string): DifferenceKind {
  return kinds[reason] ?? 'UNPROVEN';
}

/** The result of a verdict that changes nothing. */
function openResult(line: ClearLine, verdict: Verdict): LineResult {
  if (verdict.kind === 'already' || verdict.kind === 'ignored') return nothing;
  const open = (verdict.kind === 'waits' && verdict.beside) || verdict;
  const { reason = 'unclear' } = 'reason' in open ? open : {};
  // Money that came in is recorded: only a payment that left, or a return, may be missing.
  if (reason === 'no_match') {
    const isPayment = line.direction === 'out' && line.ids.returnId === null;
    const missing = isPayment ? 'payment_out' : 'refund_of_nothing';
    return onlyDifference(line, { kind: 'MISSING_HERE', reason: missing });
  }
  const stored = findTransaction(open);
  const named = stored ? aboutStored(stored) : {};
  return onlyDifference(line, { kind: differenceKind(reason), reason, ...named });
}

function aboutStored({ id, amountCents }: Stored) {
  const storedAmount = amountCents === null ? null : decimalFromCents(amountCents);
  return { transactionId: id, storedAmount };
}

function findTransaction(verdict: Verdict): Stored | null {
  return 'transaction' in verdict ? (verdict.transaction ?? null) : null;
}

type LineFinding = Pick<LineDifference, 'kind' | 'reason'> &
  Partial<Pick<LineDifference, 'transactionId' | 'storedAmount'>>;

/** A difference that concerns a stored transaction. */
export function aboutMovement(
  { id, amount }: StoredMovement,
  kind: DifferenceKind,
  reason: string,
): LineFinding {
  return { kind, reason, transactionId: id, storedAmount: amount };
}

/** @returns the result of a line that settles nothing and differs from what is stored. */
export function onlyDifference(line: ClearLine, found: LineFinding): LineResult {
  return { done: [], differences: [toDifference(line, found)] };
}

/** The difference of a line that has been read. */
export function toDifference(line: ClearLine, found: LineFinding): LineDifference {
  return {
    transactionId: null,
    storedAmount: null,
    ...found,
    subject: lineSubject(line),
    endToEnd: line.ids.endToEnd,
    amountCents: line.amountCents,
  };
}
