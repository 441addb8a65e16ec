/**
 * Settles what a line of a statement proves: a payment that was sent as the sweep does, money that
 * came in and refunds by the judge of the items of events.
 */
import type { LocalContext } from '../context/context.ts';
import { centsFromDecimal, decimalFromCents } from '../domain/money.ts';
import { isBeforePaying, type PixType } from '../domain/pix.ts';
import type { DifferenceKind } from '../domain/reconciliation.ts';
import { mayBeReversed, settleByLine } from './settle-by-statement.ts';
import type { ClearLine, WholeStatement } from './statement-movements.ts';
import { noPayee, type WebhookItem } from '../provider/webhook-events.ts';
import { judge } from '../ledger/judge.ts';
import { toFacts, toReport, type Stored, type Verdict } from '../ledger/report.ts';
import { applyVerdicts } from './apply.ts';
import type { FoundDifference, StoredMovement } from './reconciliation-repository.ts';
import { maxJudgements } from './settle-items.ts';
import { lineSubject, type ProvenLine } from './statement-lines.ts';
import { loadCandidates, type Candidates } from '../ledger/transaction-repository.ts';

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

export interface SettleLineOptions {
  /** Whose statement it is: a line concerns only this user's transactions. */
  readonly userId: number;
  /** The stored transactions, of any user, with the end-to-end id or the return id of the line. */
  readonly stored: readonly StoredMovement[];
  readonly isDryRun: boolean;
  readonly reading: Pick<WholeStatement, 'readAt' | 'isFinal'>;
}

export interface LineResult {
  readonly done: readonly SettledLine[];
  readonly differences: readonly LineDifference[];
}

export const nothing: LineResult = { done: [], differences: [] };

/**
 * Settles a line. It may be repeated, and an event may settle the same at the same time: the second
 * finds it done.
 */
export async function settleLine(
  context: LocalContext,
  { line, item }: ProvenLine,
  options: SettleLineOptions,
): Promise<LineResult> {
  const { userId, stored } = options;
  const types = possibleTypes(line);
  const ofType = stored.filter(({ operation }) => types.has(operation));
  const own = ofType.filter((one) => one.userId === userId);
  if (ofType.length > 0 && own.length === 0) {
    return differing(line, { kind: 'UNPROVEN', reason: 'other_account' });
  }
  if (own.some((one) => isStoredAs(one, line))) return nothing;
  if (item === null) return settleSent(context, line, { send: own[0], options });
  const [refund] = item.kind === 'refund' ? own : [];
  if (refund && centsFromDecimal(refund.amount) !== line.amountCents) {
    return differing(line, differs(refund, 'DIFFERENT_AMOUNT', 'amount_mismatch'));
  }
  return judgeLine(context, { line, item }, options);
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

interface SentLine {
  /** The send of the user with the end-to-end id of the line. */
  readonly send: StoredMovement | undefined;
  readonly options: SettleLineOptions;
}

async function settleSent(
  context: LocalContext,
  line: ClearLine,
  { send, options: { isDryRun, reading } }: SentLine,
): Promise<LineResult> {
  if (!send) return differing(line, { kind: 'MISSING_HERE', reason: 'payment_out' });
  if (centsFromDecimal(send.amount) !== line.amountCents) {
    return differing(line, differs(send, 'DIFFERENT_AMOUNT', 'amount_mismatch'));
  }
  const { id, status, phase } = send;
  if (status === 'PROCESSING' && isBeforePaying(phase)) {
    return differing(line, differs(send, 'OTHER_STATUS', 'not_paying_yet'));
  }
  const endToEnd = send.endToEnd ?? '';
  const order = { id, endToEnd, status, operation: 'SEND' } as const;
  const settle = isDryRun ? expectSettled : settleByLine;
  const action = await settle(context, order, { line, reading });
  // The next reading finds how it has ended.
  if (!action) return differing(line, { kind: 'UNPROVEN', reason: 'changed_meanwhile' });
  if (action === 'seen') return differing(line, differs(send, 'UNPROVEN', 'first_seen'));
  const settled = { action, transactionId: id, endToEnd, amountCents: line.amountCents };
  return { done: [settled], differences: [] };
}

/** What `settleByLine` is going to do; stores nothing. */
async function expectSettled(
  ...[context, order, proof]: Parameters<typeof settleByLine>
): Promise<'completed' | 'corrected' | 'seen'> {
  if (await mayBeReversed(context, order, { ...proof, isDryRun: true })) return 'seen';
  return order.status === 'FAILED' ? 'corrected' : 'completed';
}

interface ReportedLine {
  readonly line: ClearLine;
  readonly item: WebhookItem;
}

async function judgeLine(
  context: LocalContext,
  { line, item }: ReportedLine,
  { userId, isDryRun }: SettleLineOptions,
): Promise<LineResult> {
  for (let attempt = 0; attempt < maxJudgements; attempt += 1) {
    const reported = { eventId: null, item, receivedAt: context.clock.now() };
    const results: (LineResult | null)[] = [];
    const facts = toFacts(await loadCandidatesOfUser(context, item, userId));
    for (const verdict of judge(toReport(reported), facts)) {
      results.push(await carryOut(context, verdict, { line, isDryRun }));
    }
    const carried = results.filter((one) => one !== null);
    if (carried.length < results.length) continue;
    return {
      done: carried.flatMap(({ done }) => done),
      differences: carried.flatMap(({ differences }) => differences),
    };
  }
  return differing(line, { kind: 'UNPROVEN', reason: 'changed_meanwhile' });
}

/**
 * Reads the user's transactions that a line may concern. The payee is the user, because a statement
 * lists only the payments of its owner.
 */
async function loadCandidatesOfUser(
  context: LocalContext,
  item: WebhookItem,
  userId: number,
): Promise<Candidates> {
  const { candidates } = await loadCandidates(context, { ...item, payee: noPayee });
  return {
    candidates: candidates.filter((one) => one.user_id === userId),
    payees: [{ user_id: userId, has_key: false, agrees: true }],
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

/** @returns null when a stored transaction has changed meanwhile: the line is judged again. */
async function carryOut(
  context: LocalContext,
  verdict: Verdict,
  { line, isDryRun }: Pick<SettleLineOptions, 'isDryRun'> & { readonly line: ClearLine },
): Promise<LineResult | null> {
  const action = actions[verdict.kind];
  if (action === undefined) return openResult(line, verdict);
  const settled = { action, endToEnd: line.ids.endToEnd, amountCents: line.amountCents };
  if (isDryRun) {
    const transactionId = findTransaction(verdict)?.id ?? null;
    return { done: [{ ...settled, transactionId }], differences: [] };
  }
  const applied = await applyVerdicts(context, null, [verdict]);
  if (!applied) return null;
  const { outcome, settledId } = applied;
  const { result, reason = 'unclear', transactionId = null } = outcome;
  const isDone = result === 'applied' || action === 'identified' || reason === 'corrected';
  const isAnomaly = result === 'anomaly' && !isDone;
  // A refund that waits for the end of a return is for an operator as long as that is unknown.
  const isListed = isAnomaly || result === 'parked';
  return {
    done:
      settledId !== null && (isDone || isAnomaly) ? [{ ...settled, transactionId: settledId }] : [],
    differences: isListed
      ? [differenceFrom(line, { kind: differenceKind(reason), reason, transactionId })]
      : [],
  };
}

const kinds: Readonly<Record<string, DifferenceKind>> = {
  amount_mismatch: 'DIFFERENT_AMOUNT',
  refunds_exceed_amount: 'DIFFERENT_AMOUNT',
  contradicts_final_status: 'OTHER_STATUS',
  not_completed_yet: 'OTHER_STATUS',
};

function differenceKind(reason: string): DifferenceKind {
  return kinds[reason] ?? 'UNPROVEN';
}

/** The result of a verdict that changes nothing. */
function openResult(line: ClearLine, verdict: Verdict): LineResult {
  if (verdict.kind === 'already' || verdict.kind === 'ignored') return nothing;
  const open = (verdict.kind === 'waits' && verdict.beside) || verdict;
  const { reason = 'unclear' } = 'reason' in open ? open : {};
  // Money that came in is recorded: only a return may have no payment.
  if (reason === 'no_match') {
    return differing(line, { kind: 'MISSING_HERE', reason: 'refund_of_nothing' });
  }
  const stored = findTransaction(open);
  const cents = stored?.amountCents ?? null;
  const storedAmount = cents === null ? null : decimalFromCents(cents);
  const transactionId = stored?.id ?? null;
  return differing(line, { kind: differenceKind(reason), reason, transactionId, storedAmount });
}

function findTransaction(verdict: Verdict): Stored | null {
  return 'transaction' in verdict ? (verdict.transaction ?? null) : null;
}

type Differs = Pick<LineDifference, 'kind' | 'reason'> &
  Partial<Pick<LineDifference, 'transactionId' | 'storedAmount'>>;

/** A difference that concerns a stored transaction. */
export function differs(
  { id, amount }: StoredMovement,
  kind: DifferenceKind,
  reason: string,
): Differs {
  return { kind, reason, transactionId: id, storedAmount: amount };
}

/** @returns the result of a line that settles nothing and differs from what is stored. */
export function differing(line: ClearLine, found: Differs): LineResult {
  return { done: [], differences: [differenceFrom(line, found)] };
}

/** The difference of a line that has been read. */
export function differenceFrom(line: ClearLine, found: Differs): LineDifference {
  return {
    transactionId: null,
    storedAmount: null,
    ...found,
    subject: lineSubject(line),
    endToEnd: line.ids.endToEnd,
    amountCents: line.amountCents,
  };
}
