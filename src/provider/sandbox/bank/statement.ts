/** The statement of an account, as a provider of this family writes it. */
import { numberFromCents } from '../../../domain/money.ts';
import type { ProviderStatement, ProviderStatementItem } from '../../provider.ts';
import type { OrderedReturn, Payment, Refund, Transfer } from './rows.ts';
import { paymentScript, returnScript } from './scenarios.ts';

/** The statement as the bank answers it. */
export type BankStatement = Pick<ProviderStatement, 'items'>;

/** One line before it is written. A failed payment has two: the debit, and the credit back. */
interface Line {
  readonly atMs: number;
  readonly transfer: Transfer;
  readonly isReversal: boolean;
}

/**
 * Writes the statement of one customer.
 *
 * @param transfers oldest first.
 * @returns the executed movements of the range, newest first; amounts are in reais and positive.
 */
export function writeStatement(
  transfers: Iterable<Transfer>,
  range: { readonly fromInclusive: Date; readonly toExclusive: Date },
): BankStatement {
  const fromMs = range.fromInclusive.getTime();
  const toMs = range.toExclusive.getTime();
  const lines = [...transfers]
    .flatMap((transfer) => transferLines(transfer))
    .filter(({ atMs }) => atMs >= fromMs && atMs < toMs)
    .toSorted((one, other) => one.atMs - other.atMs);
  return { items: lines.toReversed().map((line) => writeLine(line)) };
}

function transferLines(transfer: Transfer): Line[] {
  const line = { atMs: transfer.atMs, transfer, isReversal: false };
  if (transfer.row === 'refund' && transfer.ordered?.refusal) return [];
  if (transfer.row !== 'payment') return [line];
  if (transfer.refusal !== null) return [];
  const reversedAtMs = findReversal(transfer);
  return reversedAtMs === null
    ? [line]
    : [line, { atMs: reversedAtMs, transfer, isReversal: true }];
}

/** When the money of a payment came back by a reversal, in milliseconds; null: it did not. */
export function findReversal({ key, atMs, settlement }: Payment): number | null {
  if (settlement?.status === 'FAILED') return settlement.atMs;
  const { isReversed, webhook } = paymentScript(key);
  if (!isReversed) return null;
  return webhook === 'never' ? atMs : (settlement?.atMs ?? null);
}

function writeLine({ atMs, transfer, isReversal }: Line): ProviderStatementItem {
  if (transfer.row === 'refund') return writeRefund(transfer);
  const { id, endToEnd } = transfer;
  const amount = numberFromCents(transfer.amountCents);
  const createdAt = new Date(atMs).toISOString();
  if (transfer.row === 'receipt') {
    const credit = { id, type: 'PIX_RECEIVED', direction: 'CREDIT', endToEnd } as const;
    const { transactionIdentification } = transfer;
    return {
      ...credit,
      ...(transactionIdentification !== null && { transactionIdentification }),
      amount,
      status: 'CONFIRMED',
      createdAt,
    };
  }
  const { clientRequestId, description } = transfer;
  return {
    // A reversal is a movement of its own, and two movements never share an id.
    id: isReversal ? `${id}-reversal` : id,
    type: isReversal ? 'PIX_PAYMENT_REVERSAL' : 'PIX_PAYMENT_OUT',
    direction: isReversal ? 'CREDIT' : 'DEBIT',
    endToEnd,
    clientRequestId,
    ...(description === null ? {} : { description }),
    amount,
    status: isReversal ? 'CONFIRMED' : paymentStatus(transfer),
    createdAt,
  };
}

/** A refund is a separate line that names the payment, as in the statements of providers. */
function writeRefund(refund: Refund): ProviderStatementItem {
  const { id, endToEnd, originalEndToEnd, direction, amountCents, atMs, ordered } = refund;
  return {
    id,
    type: direction === 'in' ? 'PIX_REFUND_IN' : 'PIX_REFUND_OUT',
    direction: direction === 'in' ? 'CREDIT' : 'DEBIT',
    returnId: endToEnd,
    originalEndToEnd,
    amount: numberFromCents(amountCents),
    status: ordered ? returnStatus(ordered, amountCents) : 'CONFIRMED',
    createdAt: new Date(atMs).toISOString(),
  };
}

/** As of a payment: a return that will not fail is confirmed from the start. */
function returnStatus(
  { settlement }: OrderedReturn,
  amountCents: number,
): 'CONFIRMED' | 'ERROR' | 'PROCESSING' {
  const status = settlement?.status ?? returnScript(amountCents).settlement;
  if (status === 'COMPLETED') return 'CONFIRMED';
  return settlement === null ? 'PROCESSING' : 'ERROR';
}

/**
 * The money leaves at once, so a payment that will not fail is confirmed from the start, whenever
 * its webhook is posted.
 */
function paymentStatus({ key, settlement }: Payment): 'CONFIRMED' | 'ERROR' | 'PROCESSING' {
  if (settlement !== null) return settlement.status === 'COMPLETED' ? 'CONFIRMED' : 'ERROR';
  return paymentScript(key).settlement === 'COMPLETED' ? 'CONFIRMED' : 'PROCESSING';
}
