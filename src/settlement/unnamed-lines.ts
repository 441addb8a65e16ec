/** Lines of a statement that name no payment, and may be one all the same. */
import type { LocalContext } from '../context/context.ts';
import { centsFromDecimal } from '../domain/money.ts';
import { isBeforePaying, isOrder, isSameId } from '../domain/pix.ts';
import { requestIdOf } from '../ledger/return-ids.ts';
import type { StatementLine } from '../provider/provider.ts';
import { findStoredMovements, type StoredMovement } from './movement-repository.ts';
import type { ReadStatement } from './statement-movements.ts';

/** A payment that no line names by its end-to-end id. */
export interface UnnamedPayment {
  readonly userId: number;
  /** The id by which the provider recognises a repeat; null: it knows none. */
  readonly requestId: string | null;
  /** In centavos; null: not comparable. */
  readonly amountCents: number | null;
}

/**
 * Whether a line may be a payment: it has the payment's request id; or it may be a debit of its
 * amount, and of no other stored payment of the user by id or request id.
 */
export async function hasSimilarLine(
  context: Pick<LocalContext, 'db'>,
  { userId, requestId, amountCents }: UnnamedPayment,
  { lines, from, readAt }: ReadStatement,
): Promise<boolean> {
  if (lines.some(({ ids }) => isSameId(ids.clientRequestId, requestId))) return true;
  const left = lines.filter(({ direction }) => direction !== 'in');
  const similar = left.filter(
    (line) => line.amountCents === null || amountCents === null || line.amountCents === amountCents,
  );
  if (similar.length === 0) return false;
  const ids = similar.flatMap((line) => ownId(line) ?? []);
  const search = { userId, from, until: readAt, ids };
  const stored = await findStoredMovements(context, search);
  const own = stored.filter((one) => one.userId === userId);
  const known = new Set(own.flatMap((one) => [one.endToEnd, requestIdOf(one)]));
  return similar.some((line) => {
    const id = ownId(line) ?? line.ids.clientRequestId;
    return id === null || !known.has(id);
  });
}

/**
 * The debits without an id of the payment for which no stored order accounts. A debit with a
 * request id belongs to the order with that id and its amount, if the order may have been paid.
 * Each COMPLETED order that no line names accounts for one other debit of its amount.
 * @param isOurs whether only those count that have a request id.
 */
export async function findUnaccountedDebits(
  context: Pick<LocalContext, 'db'>,
  { userId, isOurs }: { readonly userId: number; readonly isOurs: boolean },
  { lines, from, readAt }: ReadStatement,
): Promise<StatementLine[]> {
  const debits = lines.filter(
    (line) => isUnnamedDebit(line) && !(isOurs && line.ids.clientRequestId === null),
  );
  if (debits.length === 0) return [];
  const search = { userId, from, until: readAt, ids: [] };
  const stored = (await findStoredMovements(context, search)).filter(isOwnOrder);
  const named = new Set(lines.flatMap((line) => ownId(line) ?? line.ids.clientRequestId ?? []));
  const left = stored.filter(({ endToEnd, status, ...order }) => {
    const isNamed = named.has(endToEnd ?? '') || named.has(requestIdOf(order) ?? '');
    return status === 'COMPLETED' && !isNamed;
  });
  const accounting = left.map(({ amount }) => centsFromDecimal(amount));
  return debits.filter(({ ids: { clientRequestId }, amountCents }) => {
    if (clientRequestId !== null) {
      const isKnown = (order: StoredMovement): boolean =>
        requestIdOf(order) === clientRequestId &&
        centsFromDecimal(order.amount) === amountCents &&
        order.status !== 'FAILED' &&
        !isBeforePaying(order.phase);
      return !stored.some(isKnown);
    }
    const place = accounting.indexOf(amountCents);
    if (place >= 0) accounting.splice(place, 1);
    return place < 0;
  });
}

function isOwnOrder({ operation, idempotencyKey }: StoredMovement): boolean {
  return isOrder(operation) && idempotencyKey !== null;
}

/** Whether a line that names no payment may be one: it has our id, or it has an amount. */
function isUnnamedDebit(line: StatementLine): boolean {
  const { ids, direction, amountCents, status } = line;
  if (ownId(line) !== null || direction === 'in' || status === 'FAILED') return false;
  return ids.clientRequestId !== null || (direction !== 'other' && amountCents !== null);
}

function ownId({ ids }: StatementLine): string | null {
  return ids.returnId ?? ids.endToEnd;
}
