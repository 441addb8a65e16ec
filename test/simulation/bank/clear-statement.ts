/**
 * The statement that the bank gives when a history is over: every movement with its direction, its
 * status and its ids, as the sample `statement` of the dialect `ponte` has them. What it shows is
 * what reconciliation must know.
 */
import type { Payment, Receipt, Refund } from './ledger.ts';

type Line = Readonly<Record<string, unknown>>;

/** Everything that has happened to one customer's account. */
export interface AllMovements {
  readonly payments: readonly Payment[];
  readonly receipts: readonly Receipt[];
  readonly refunds: readonly Refund[];
  /** Whether a line has the client's id of its payment. */
  readonly namesRequests: boolean;
  /** Whether a rejected payment is a debit and its reversal; otherwise it has no line. */
  readonly booksAtOnce: boolean;
  /** The end-to-end ids of completed payments whose money came back, without a return id. */
  readonly takenBack: ReadonlySet<string>;
}

/** @returns the body of the response; JSON has no undefined fields.
 */
export function writeClearStatement(all: AllMovements): {
  readonly items: readonly Line[];
  /** Says that no further page follows a full one. */
  readonly total: number;
} {
  const { payments, receipts, refunds, namesRequests, booksAtOnce, takenBack } = all;
  const isBack = ({ state, endToEnd }: Payment): boolean =>
    state === 'reversed' || takenBack.has(endToEnd);
  const made = payments.filter(({ state }) => state === 'completed' || booksAtOnce);
  const items = [
    ...made.map((one) => ({
      id: one.bankId,
      direction: 'DEBIT',
      endToEnd: one.endToEnd,
      clientRequestId: namesRequests ? one.clientRequestId : undefined,
      amount: one.amountCents / 100,
      status: 'CONFIRMED',
    })),
    ...made.filter(isBack).map((one) => ({
      id: `${one.bankId}-reversal`,
      type: 'ESTORNO',
      endToEnd: one.endToEnd,
      amount: one.amountCents / 100,
      status: 'CONFIRMED',
    })),
    ...receipts.map(({ bankId, endToEnd, charge, amountCents }) => ({
      id: bankId,
      direction: 'CREDIT',
      endToEnd,
      transactionIdentification: charge?.txid,
      amount: amountCents / 100,
      status: 'CONFIRMED',
    })),
    ...refunds.map(({ direction, returnId, endToEnd, amountCents }) => ({
      id: `of-${returnId}`,
      direction: direction === 'in' ? 'CREDIT' : 'DEBIT',
      returnId,
      originalEndToEnd: endToEnd,
      amount: amountCents / 100,
      status: 'CONFIRMED',
    })),
  ];
  return { items, total: items.length };
}
