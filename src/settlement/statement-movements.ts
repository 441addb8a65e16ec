/**
 * What the lines of a statement that was read whole say: the one reader of the sweep, of expired
 * charges, of the reading after a loss of commits and of reconciliation. The functions are pure.
 *
 * One own id is one movement. Its lines prove it only if they are clear: one line, or a pending and
 * a settled one of the same amount. A second line, or one that cannot be read, makes all of them
 * prove nothing. Fees, holds and schedules are set aside by their declared kind.
 */
import { issuerLength, isReturnId, staticTxidLength, uniqueLength } from '../domain/pix.ts';
import { timeOfSpiId } from '../domain/reconciliation.ts';
import type { StatementLine } from '../provider/provider.ts';

/** A statement that was read whole. */
export interface WholeStatement {
  readonly lines: readonly StatementLine[];
  /** When its first day begins. */
  readonly from: Date;
  /** When the reading began. */
  readonly readAt: Date;
  /** Whether the provider declares that a line is final when it appears. */
  readonly isFinal: boolean;
}

/** A line whose amount, direction and status are known. */
export interface ClearLine extends StatementLine {
  readonly amountCents: number;
  readonly direction: 'in' | 'out';
  readonly status: NonNullable<StatementLine['status']>;
}

/** What the lines of one own id say together. */
export type Movement =
  /** One movement: a payment that left, money that came in, or a refund in either direction. */
  | { readonly kind: 'payment' | 'received' | 'refund'; readonly line: ClearLine }
  /**
   * A payment that left, and money that came back under its end-to-end id without a return id. Its
   * debit proves nothing.
   */
  | {
      readonly kind: 'reversed';
      readonly debits: readonly ClearLine[];
      readonly reversals: readonly ClearLine[];
      /** Whether all are settled, and their sums are equal: no money has moved. */
      readonly isUndone: boolean;
    }
  | { readonly kind: 'doubt'; readonly reason: DoubtReason };

/** `before_statement`: the lines of a payment that left may be in the statement of earlier days. */
export type DoubtReason = 'no_own_id' | 'unreadable' | 'several_lines' | 'before_statement';

/** The lines of one own id. */
export interface Group {
  /** See {@link ownId}; null: the line has none. */
  readonly id: string | null;
  /** Without those that are set aside. */
  readonly lines: readonly StatementLine[];
  readonly movement: Movement;
}

/** @returns the groups in the order of their first lines. */
export function readGroups({ lines, from }: Pick<WholeStatement, 'lines' | 'from'>): Group[] {
  const counted = lines.filter(({ direction }) => direction !== 'other');
  const groups: Group[] = [];
  for (const [id, named] of Map.groupBy(counted, ownId)) {
    const parts = id === null ? named.map((line) => [line]) : splitRefunds(named);
    for (const part of parts) {
      const movement: Movement =
        id === null ? { kind: 'doubt', reason: 'no_own_id' } : readMovement(part, from);
      groups.push({ id, lines: part, movement });
    }
  }
  return groups;
}

/**
 * The id of a line that no other movement has: the return id, whose minute may differ; the
 * end-to-end id; or of money that came in without one, the identification of its charge.
 */
function ownId({ ids, direction }: StatementLine): string | null {
  const { endToEnd, returnId, transactionIdentification: txid } = ids;
  if (isReturnId(returnId)) return returnGroup(returnId);
  if (endToEnd !== null) return endToEnd;
  return direction === 'in' && txid !== null ? txid.slice(0, staticTxidLength) : null;
}

/** What two return ids of one return have in common: all but the minute. */
export function returnGroup(returnId: string): string {
  return returnId.slice(0, issuerLength) + returnId.slice(-uniqueLength);
}

/** Only a return of this service may have been requested again in another minute. */
function splitRefunds(lines: readonly StatementLine[]): (readonly StatementLine[])[] {
  const areReceived = lines.every(
    ({ ids, direction }) => direction === 'in' && isReturnId(ids.returnId),
  );
  return areReceived ? [...Map.groupBy(lines, ({ ids }) => ids.returnId).values()] : [lines];
}

function readMovement(lines: readonly StatementLine[], from: Date): Movement {
  if (!lines.every(isClear)) return { kind: 'doubt', reason: 'unreadable' };
  const out = mergePending(lines.filter(({ direction }) => direction === 'out'));
  const back = mergePending(lines.filter(({ direction }) => direction === 'in'));
  const isRefund = lines.some(({ ids }) => ids.returnId !== null);
  if (!isRefund && out.length > 0 && back.length > 0) return readReversed(out, back);
  const [line, ...others] = [...out, ...back];
  if (!line || others.length > 0) {
    return { kind: 'doubt', reason: 'several_lines' };
  }
  if (isRefund) return { kind: 'refund', line };
  return line.direction === 'out' ? { kind: 'payment', line } : readReceived(line, from);
}

function readReversed(debits: readonly ClearLine[], reversals: readonly ClearLine[]): Movement {
  const isSettled = [...debits, ...reversals].every(({ status }) => status === 'COMPLETED');
  const isUndone = isSettled && sumCents(debits) === sumCents(reversals);
  if (debits.length > 1 && !isUndone) return { kind: 'doubt', reason: 'several_lines' };
  return { kind: 'reversed', debits, reversals, isUndone };
}

/**
 * Money that came in under an id that is older than the statement may be that of a payment that
 * left before, and whose line is not among these.
 */
function readReceived(line: ClearLine, from: Date): Movement {
  const { endToEnd } = line.ids;
  const at = timeOfSpiId(endToEnd);
  if (endToEnd !== null && at === null) return { kind: 'doubt', reason: 'unreadable' };
  if (at !== null && at < from) return { kind: 'doubt', reason: 'before_statement' };
  return { kind: 'received', line };
}

function isClear(line: StatementLine): line is ClearLine {
  const { ids, amountCents, direction, status } = line;
  return (
    amountCents !== null &&
    amountCents > 0 &&
    (direction === 'in' || direction === 'out') &&
    status !== null &&
    (ids.returnId === null || isReturnId(ids.returnId))
  );
}

/** A pending and a settled line of one id and amount are one, the settled one. */
function mergePending(lines: readonly ClearLine[]): readonly ClearLine[] {
  const settled = lines.filter(({ status }) => status === 'COMPLETED');
  const rest = [...settled];
  const others = lines.filter((line) => {
    if (line.status === 'COMPLETED') return false;
    const twin =
      line.status === 'PROCESSING'
        ? rest.findIndex(({ amountCents }) => amountCents === line.amountCents)
        : -1;
    if (twin >= 0) rest.splice(twin, 1);
    return twin < 0;
  });
  return [...settled, ...others];
}

function sumCents(lines: readonly ClearLine[]): number {
  return lines.reduce((sum, { amountCents }) => sum + amountCents, 0);
}

/** A statement that was read whole, with its movements. */
export interface ReadStatement extends WholeStatement {
  readonly groups: readonly Group[];
  /** The groups of each own id. */
  readonly byId: ReadonlyMap<string, readonly Group[]>;
}

/** Reads the movements of a statement. */
export function readMovements(statement: WholeStatement): ReadStatement {
  const groups = readGroups(statement);
  const named = groups.filter(({ id }) => id !== null);
  return { ...statement, groups, byId: Map.groupBy(named, ({ id }) => id ?? '') };
}
