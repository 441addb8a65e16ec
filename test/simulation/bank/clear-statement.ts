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
}

const settled = { status: 'CONFIRMED' } as const;

/** @returns the body of the answer. A payment that was returned has no line. */
export function writeClearStatement(all: AllMovements): { readonly items: readonly Line[] } {
  const { payments, receipts, refunds, namesRequests } = all;
  const made = payments.filter(({ state }) => state === 'completed');
  return {
    items: [
      ...made.map((one) => ({
        id: one.bankId,
        direction: 'DEBIT',
        endToEnd: one.endToEnd,
        ...(namesRequests && { clientRequestId: one.clientRequestId }),
        amount: one.amountCents / 100,
        ...settled,
      })),
      ...receipts.map(({ bankId, endToEnd, charge, amountCents }) => ({
        id: bankId,
        direction: 'CREDIT',
        endToEnd,
        ...(charge && { transactionIdentification: charge.txid }),
        amount: amountCents / 100,
        ...settled,
      })),
      ...refunds.map(({ direction, returnId, endToEnd, amountCents }) => ({
        id: `of-${returnId}`,
        direction: direction === 'in' ? 'CREDIT' : 'DEBIT',
        returnId,
        originalEndToEnd: endToEnd,
        amount: amountCents / 100,
        ...settled,
      })),
    ],
  };
}
