/** What the lines of a whole statement prove about a payment. The functions are pure. */
import { isSameReturn, namesCharge, type OrderType, type PixStatus } from '../domain/pix.ts';
import type { StatementLine } from '../provider/provider.ts';

/** The payment to find. */
export interface SoughtPayment {
  readonly endToEnd: string;
  /** In centavos. */
  readonly amountCents: number;
}

/** An order that is not COMPLETED, and whose payment is sought. */
export interface SoughtOrder extends Omit<SoughtPayment, 'amountCents'> {
  readonly id: string;
  readonly operation: OrderType;
  readonly status: PixStatus;
  /** Null: an amount that is too large to compare. */
  readonly amountCents: number | null;
  /** The request id that the provider knows; null: not looked for. */
  readonly idempotencyKey: string | null;
}

/** The payment that an order is to have made: of a return the id is the return id. */
type JudgedOrder = Pick<SoughtOrder, 'operation'> & SoughtPayment;

/** Judges an order by the lines that have its id. */
export function judgeOrder(lines: readonly StatementLine[], order: JudgedOrder): JudgedSend {
  return order.operation === 'REFUND_OUT' ? judgeReturn(lines, order) : judgeSend(lines, order);
}

/**
 * - `completed`: exactly one line has the end-to-end id and does not give the money back, and it is
 *   a settled outgoing payment of the same amount.
 * - `pending`: exactly one such line has the id, and the payment is in progress.
 * - `absent`: no line contains the end-to-end id.
 * - `unclear`: the lines with the id prove nothing: several lines, a hold, another amount, an
 *   unreadable direction or status, a failure.
 */
export type StatementEvidence = 'completed' | 'pending' | 'absent' | 'unclear';

export type JudgedSend =
  /** The line proves the payment. */
  | { readonly evidence: 'completed'; readonly line: StatementLine }
  | { readonly evidence: Exclude<StatementEvidence, 'completed'> };

/**
 * Judges a send. Evidence is positive only: missing or unknown fields prove nothing, and a
 * statement never proves a failure. Money that came back was paid before.
 */
export function judgeSend(lines: readonly StatementLine[], payment: SoughtPayment): JudgedSend {
  const named = lines.filter(({ ids }) => ids.endToEnd === payment.endToEnd);
  if (named.length === 0) return { evidence: 'absent' };
  const [line, ...others] = named.filter((one) => !givesBack(one));
  const isThePayment =
    others.length === 0 && line?.direction === 'out' && line.amountCents === payment.amountCents;
  if (!isThePayment) return { evidence: 'unclear' };
  if (line.status === 'COMPLETED') return { evidence: 'completed', line };
  return { evidence: line.status === 'PROCESSING' ? 'pending' : 'unclear' };
}

/**
 * Judges a return: exactly one line has its return id, and it is outgoing, settled and of its
 * amount.
 */
function judgeReturn(lines: readonly StatementLine[], payment: SoughtPayment): JudgedSend {
  const [line, ...others] = lines.filter(({ ids }) => isSameReturn(ids.returnId, payment.endToEnd));
  if (!line) return { evidence: 'absent' };
  const isTheReturn =
    others.length === 0 && line.direction === 'out' && line.amountCents === payment.amountCents;
  if (!isTheReturn) return { evidence: 'unclear' };
  if (line.status === 'COMPLETED') return { evidence: 'completed', line };
  return { evidence: line.status === 'PROCESSING' ? 'pending' : 'unclear' };
}

/** Whether a line with the end-to-end id of a send returns its money. */
function givesBack({ ids, direction }: StatementLine): boolean {
  return ids.returnId !== null || direction === 'in';
}

/**
 * Finds a payment with the request id and the amount of a send, but another end-to-end id: the
 * record of a payment was lost, or another user has the same key.
 *
 * @returns the other end-to-end id, or null.
 */
export function findOtherPayment(
  lines: readonly StatementLine[],
  payment: SoughtPayment & { readonly clientRequestId: string },
): string | null {
  const other = lines.find(
    ({ ids, amountCents }) =>
      ids.clientRequestId === payment.clientRequestId &&
      amountCents === payment.amountCents &&
      ids.endToEnd !== null &&
      ids.endToEnd !== payment.endToEnd,
  );
  return other?.ids.endToEnd ?? null;
}

/** The charge whose payment is sought. */
export interface SoughtCharge {
  readonly transactionIdentification: string;
  /** In centavos. */
  readonly amountCents: number;
}

/**
 * Finds the payment of a charge in its owner's statement.
 * @returns the first settled incoming line with its identification and its amount, or null.
 */
export function findPaymentOfCharge(
  lines: readonly StatementLine[],
  { transactionIdentification, amountCents }: SoughtCharge,
): StatementLine | null {
  const paid = lines.find(
    ({ ids, ...line }) =>
      namesCharge(ids.transactionIdentification, transactionIdentification) &&
      ids.returnId === null &&
      line.amountCents === amountCents &&
      line.direction === 'in' &&
      line.status === 'COMPLETED',
  );
  return paid ?? null;
}
