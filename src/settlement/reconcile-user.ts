/**
 * Reconciles the days of one user: reads the provider's statement whole, settles or records what
 * its lines prove, and compares the rest with what is stored. Nothing is held over the call to the
 * provider, and every write is conditional, so that an event or another run may do the same at any
 * time.
 */
import { providerSession, type StoredSession } from '../auth/banking-sessions.ts';
import { nextTurn } from '../clock.ts';
import type { Context, LocalContext } from '../context/context.ts';
import { checkedRange, type DayRange } from '../domain/calendar.ts';
import { isSameId } from '../domain/pix.ts';
import type { UnreadBecause } from '../domain/reconciliation.ts';
import { readWholeStatement } from './read-statement.ts';
import { ProviderError } from '../provider/errors.ts';
import type { ClearLine, ReadStatement } from './statement-movements.ts';
import type { CallOptions, StatementLine } from '../provider/provider.ts';
import { span } from '../telemetry/tracing.ts';
import { compareWithStored, dated, storedById, type StoredById } from './compare-statement.ts';
import {
  storeReadDays,
  storeUnreadDays,
  type FoundDifference,
  type StatementUser,
} from './reconciliation-repository.ts';
import { findStoredMovements, type StoredMovement } from './movement-repository.ts';
import {
  settleLine,
  type LineDifference,
  type LineReading,
  type LineResult,
  type SettledLine,
} from './settle-line.ts';
import { settleReversed } from './reversals.ts';
import {
  sortLines,
  lineSubject,
  type ReversedPayment,
  type SortedLines,
} from './statement-lines.ts';

/** What reconciliation needs: a job has all of it, a command only the provider besides. */
export type ReconcilingContext = LocalContext & Pick<Context, 'provider'>;

/** The days to reconcile, both included. */
export interface DaysToReconcile {
  readonly first: string;
  readonly last: string;
  readonly options: CallOptions;
  /** Reports what would be done, and writes nothing. */
  readonly isDryRun?: boolean;
}

export type ReconciledUser =
  | { readonly state: 'UNREAD'; readonly userId: number; readonly reason: UnreadBecause }
  | {
      readonly state: 'READ';
      readonly userId: number;
      readonly lines: number;
      /** What the lines have settled or recorded, or would have. */
      readonly settled: readonly SettledLine[];
      readonly differences: readonly FoundDifference[];
      /** How many earlier differences are explained now. */
      readonly explained: number;
    };

/**
 * Reconciles the days of a user and stores the result. It may be repeated.
 * @throws the error of the database.
 */
export function reconcileUser(
  context: ReconcilingContext,
  user: StatementUser,
  days: DaysToReconcile,
): Promise<ReconciledUser> {
  const { first, last, options } = days;
  const attributes = { 'ponte.user.id': user.userId, 'ponte.days': `${first}/${last}` };
  const facts = { name: 'reconcile a statement', kind: 'internal', attributes } as const;
  return span(context.tracing, { ...facts, parent: options.trace }, (trace) =>
    reconcileRead(context, user, { ...days, options: { ...options, ...(trace && { trace }) } }),
  );
}

async function reconcileRead(
  context: ReconcilingContext,
  user: StatementUser,
  days: DaysToReconcile,
): Promise<ReconciledUser> {
  const { userId } = user;
  const { first, last, isDryRun = false } = days;
  const read = await readLines(context, user.session, days);
  if (typeof read === 'string') {
    if (!isDryRun) await storeUnreadDays(context, [userId], { first, last, reason: read });
    return { state: 'UNREAD', userId, reason: read };
  }
  const range = checkedRange(first, last, context.clock.now());
  const work = { user, days, range, statement: read };
  const { settled, differences } = await settleAndCompare(context, work);
  const counts = { lines: read.lines.length, settled: settled.length };
  const found = { userId, first, last, differences, ...counts };
  const explained = isDryRun ? 0 : await storeReadDays(context, found);
  return { state: 'READ', userId, lines: read.lines.length, settled, differences, explained };
}

/** @returns the statement, or why it is not read. */
async function readLines(
  context: ReconcilingContext,
  stored: StoredSession | null,
  { first, last, options }: DaysToReconcile,
): Promise<ReadStatement | UnreadBecause> {
  if (!stored) return 'NO_SESSION';
  try {
    const session = providerSession(context, stored);
    const { fromInclusive: since } = checkedRange(first, last, context.clock.now());
    const days = { session, first, last, since, options };
    return (await readWholeStatement(context, days)) ?? 'NOT_WHOLE';
  } catch (error) {
    if (error instanceof ProviderError && error.code === 'TOKEN_REFUSED') return 'TOKEN_REFUSED';
    context.log.error({ error, userId: stored.userId }, 'a statement could not be reconciled');
    return 'UNAVAILABLE';
  }
}

interface DaysToCompare {
  readonly user: StatementUser;
  readonly days: DaysToReconcile;
  readonly range: DayRange;
  readonly statement: ReadStatement;
}

interface Compared {
  readonly settled: readonly SettledLine[];
  readonly differences: readonly FoundDifference[];
}

async function settleAndCompare(context: LocalContext, work: DaysToCompare): Promise<Compared> {
  const { user, days, range, statement } = work;
  const { lines, groups, from } = statement;
  const { owner, userId } = user;
  const { isDryRun = false } = days;
  const search = {
    userId,
    from: range.fromInclusive,
    until: range.toExclusive,
    ids: collectIds(lines),
  };
  const before = await findStoredMovements(context, search);
  const sorted = sortLines({ groups, owner, sent: collectSent(before, userId) });
  const reading = { userId, reading: statement, isDryRun, byId: storedById(before) };
  const { done: settled, differences: found } = await settleLines(context, sorted, reading);
  const isChanged = settled.length > 0 && !isDryRun;
  const stored = isChanged ? await findStoredMovements(context, search) : before;
  if (isChanged) {
    const transactionIds = settled.map(({ transactionId }) => transactionId);
    context.log.warn({ userId, transactionIds }, 'a statement has settled what events did not');
  }
  const rest = compareWithStored({ userId, lines, sorted, stored, from });
  return { settled, differences: dated([...found, ...rest], days) };
}

interface LinesToSettle extends LineReading {
  /** What was stored before. */
  readonly byId: StoredById;
}

async function settleLines(
  context: LocalContext,
  sorted: SortedLines,
  work: LinesToSettle,
): Promise<LineResult> {
  const { byId, ...reading } = work;
  const done: SettledLine[] = [];
  const differences: LineDifference[] = [];
  // Refunds last: the payment that they give back may be among the other lines.
  for (const proven of [...sorted.payments, ...sorted.refunds]) {
    const { line, item } = proven;
    const isOfDryRun = reading.isDryRun && item.kind === 'refund';
    if (isOfDryRun && done.some(({ endToEnd }) => isSameId(endToEnd, line.ids.endToEnd))) {
      // Its payment would be settled by then.
      done.push(toReturned(line));
      continue;
    }
    const stored = byId.get(lineSubject(line)) ?? [];
    const result = await settleLine(context, proven, { ...reading, stored });
    done.push(...result.done);
    differences.push(...result.differences);
    await nextTurn();
  }
  // After the refunds: a refund of the same amount is the same money.
  const reversed = await settleAllReversed(context, sorted.reversed, work);
  return {
    done: [...done, ...reversed.done],
    differences: [...differences, ...reversed.differences],
  };
}

async function settleAllReversed(
  context: LocalContext,
  payments: readonly ReversedPayment[],
  { userId, isDryRun, byId }: LinesToSettle,
): Promise<LineResult> {
  const done: SettledLine[] = [];
  const differences: LineDifference[] = [];
  for (const reversed of payments) {
    const [line] = [...reversed.debits, ...reversed.reversals];
    const stored = (line && byId.get(lineSubject(line))) ?? [];
    const result = await settleReversed(context, reversed, { userId, stored, isDryRun });
    done.push(...result.done);
    differences.push(...result.differences);
  }
  return { done, differences };
}

function toReturned({ ids: { endToEnd }, amountCents }: ClearLine): SettledLine {
  return { action: 'returned', transactionId: null, endToEnd, amountCents };
}

/** @returns the end-to-end ids and return ids of lines. */
function collectIds(lines: readonly StatementLine[]): string[] {
  return [...new Set(lines.flatMap(({ ids }) => [ids.endToEnd ?? [], ids.returnId ?? []].flat()))];
}

/** @returns the end-to-end ids of the sends of a user. */
function collectSent(stored: readonly StoredMovement[], userId: number): ReadonlySet<string> {
  const sends = stored.filter((one) => one.userId === userId && one.operation === 'SEND');
  return new Set(sends.flatMap(({ endToEnd }) => endToEnd ?? []));
}
