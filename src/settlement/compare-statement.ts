/**
 * Compares a statement that was read whole with what is stored, after its lines have settled what
 * they prove. Nothing here is changed: what is found needs an operator, or a later run explains it.
 * The functions are pure.
 */
import { calendarDay, shiftDay } from '../domain/calendar.ts';
import { centsFromDecimal } from '../domain/money.ts';
import { timeOfSpiId } from '../domain/reconciliation.ts';
import { isOrder, isSameId, isSameReturn, namesCharge } from '../domain/pix.ts';
import type { ClearLine } from './statement-movements.ts';
import type { StatementLine } from '../provider/provider.ts';
import type { StoredMovement } from './movement-repository.ts';
import type { FoundDifference } from './reconciliation-repository.ts';
import { aboutMovement, possibleTypes, toDifference, type LineDifference } from './settle-line.ts';
import { lineSubject, type SortedLines, type UnprovenLine } from './statement-lines.ts';

/** The stored transactions that lines name, by their end-to-end id or return id. */
export type StoredById = ReadonlyMap<string, readonly StoredMovement[]>;

export interface Comparison {
  readonly userId: number;
  readonly lines: readonly StatementLine[];
  readonly sorted: SortedLines;
  readonly stored: readonly StoredMovement[];
  /** When the first day of the statement begins. */
  readonly from: Date;
}

/** @returns every difference besides those of the lines that prove a movement. */
export function compareWithStored(comparison: Comparison): LineDifference[] {
  const { userId, sorted, stored } = comparison;
  const own = stored.filter((one) => one.userId === userId);
  const byId = storedById(own);
  return [
    ...sorted.open.flatMap((line) => compareOpen(line, findMovement(line, byId)) ?? []),
    ...sorted.unproven.flatMap((line) => compareUnproven(line, byId) ?? []),
    ...missingThere(own, comparison),
  ];
}

/** @returns the stored transactions by their end-to-end id, or of a refund its return id. */
export function storedById(stored: readonly StoredMovement[]): StoredById {
  const named = stored.filter(({ endToEnd }) => endToEnd !== null);
  return Map.groupBy(named, ({ endToEnd }) => endToEnd ?? '');
}

function findMovement(line: ClearLine, byId: StoredById): StoredMovement | undefined {
  const types = possibleTypes(line);
  return byId.get(lineSubject(line))?.find(({ operation }) => types.has(operation));
}

/** A line that is not settled ends nothing: a statement never proves a failure. */
function compareOpen(line: ClearLine, stored: StoredMovement | undefined): LineDifference | null {
  if (!stored) {
    const isLeaving = line.direction === 'out' && line.status === 'PROCESSING';
    const reason = line.ids.returnId === null ? 'payment_out' : 'return_out';
    return isLeaving ? toDifference(line, { kind: 'MISSING_HERE', reason }) : null;
  }
  if (line.status === stored.status) return null;
  const reason = line.status === 'FAILED' ? 'failed_there' : 'open_there';
  return toDifference(line, aboutMovement(stored, 'OTHER_STATUS', reason));
}

/** What is stored with the same id and amount explains a line that is only too early. */
function compareUnproven(
  { line, reason, subject }: UnprovenLine,
  byId: StoredById,
): LineDifference | null {
  const { ids, amountCents } = line;
  const stored = byId.get(ids.endToEnd ?? '') ?? [];
  const isKnown = stored.some((one) => centsFromDecimal(one.amount) === amountCents);
  if (reason === 'id_before_statement' && isKnown) return null;
  const endToEnd = ids.endToEnd;
  const unknown = { transactionId: null, storedAmount: null };
  return { kind: 'UNPROVEN', reason, subject, endToEnd, amountCents, ...unknown };
}

function missingThere(own: readonly StoredMovement[], comparison: Comparison): LineDifference[] {
  const { from, sorted } = comparison;
  // A hold, a fee and a failure show no movement; a failure that contradicts one is listed itself.
  const shows = ({ direction, status }: StatementLine): boolean =>
    direction !== 'other' && status !== 'FAILED';
  const lines = [...comparison.lines.filter(shows), ...sorted.open];
  const ids = new Set(lines.flatMap((line) => line.ids.returnId ?? line.ids.endToEnd ?? []));
  return own.flatMap((stored): LineDifference[] => {
    const { id, amount, endToEnd, isOfDays } = stored;
    if (!isOfDays || !isExpectedThere(stored)) return [];
    const at = timeOfSpiId(endToEnd);
    // Its event came late: its line is in the statement of an earlier day.
    if (at !== null && at < from) return [];
    const isThere =
      (endToEnd === null
        ? lines.some((line) => isSameMovement(line, stored))
        : ids.has(endToEnd)) ||
      lines.some((line) => isReturnOf(line, stored) || isReversalOf(line, stored));
    if (isThere) return [];
    const reason = stored.status === 'COMPLETED' ? 'not_in_statement' : 'open_and_not_in_statement';
    const found = { kind: 'MISSING_THERE', reason, subject: id, transactionId: id } as const;
    return [{ ...found, endToEnd, amountCents: null, storedAmount: amount }];
  });
}

/** Money has moved, or may have. */
function isExpectedThere({ operation, status, phase }: StoredMovement): boolean {
  if (status === 'COMPLETED') return true;
  return isOrder(operation) && (phase === 'ACCEPTED' || phase === 'UNKNOWN');
}

/** Whether a line is a return that was made here; its minute may be another there. */
function isReturnOf({ ids }: StatementLine, { endToEnd, idempotencyKey }: StoredMovement): boolean {
  return idempotencyKey !== null && isSameReturn(ids.returnId, endToEnd);
}

/** Whether a line without a return id is the money of a stored refund. */
function isReversalOf({ ids, direction, amountCents }: StatementLine, stored: StoredMovement) {
  const { operation, originalEndToEnd, amount } = stored;
  return (
    operation === 'REFUND_IN' &&
    direction === 'in' &&
    ids.returnId === null &&
    isSameId(ids.endToEnd, originalEndToEnd) &&
    amountCents === centsFromDecimal(amount)
  );
}

/** Whether a line may be about what was paid without an end-to-end id. */
function isSameMovement({ ids, amountCents }: StatementLine, stored: StoredMovement): boolean {
  const { transactionIdentification: txid, providerTxid, amount } = stored;
  const isNamed =
    (txid !== null && namesCharge(ids.transactionIdentification, txid)) ||
    isSameId(providerTxid, ids.providerTxid);
  return isNamed && amountCents === centsFromDecimal(amount);
}

interface Days {
  readonly first: string;
  readonly last: string;
}

/**
 * Dates differences by their ids. A statement includes the day after the last one, which has a run
 * of its own; what is from before the first day, from a later time, or has no time, belongs to the
 * days of this run. Of several differences of one kind about the same movement the first counts.
 */
export function dated(found: readonly LineDifference[], { first, last }: Days): FoundDifference[] {
  const once = new Map(found.toReversed().map((one) => [`${one.kind} ${one.subject}`, one]));
  return [...once.values()].toReversed().flatMap((one) => {
    const at = timeOfSpiId(one.kind === 'MISSING_THERE' ? null : one.subject);
    const own = at ? calendarDay(at) : last;
    if (own === shiftDay(last, 1)) return [];
    const day = own < first ? first : own;
    return [{ ...one, day: day > last ? last : day }];
  });
}
