/**
 * The decision to correct a FAILED transaction that was paid. It is pure. A wrong COMPLETED cannot
 * be taken back, so it needs more than the match that settles an open transaction.
 */
import { centsFromDecimal } from '../../../../../src/domain/money.ts';
import { isSameReturn } from '../../../../../src/domain/pix.ts';
import type { CorrectDecision, FinalItem } from './decision.ts';
import type { WebhookItem } from '../../../../../src/provider/webhook-events.ts';
import type { CandidateRow } from '../../../../../src/ledger/transaction-repository.ts';

/**
 * @param transaction the transaction that the item names, whose payee does not disagree with it.
 * @returns the correction, or null when the transaction is not FAILED or the item does not prove
 *   its payment: for a send by the same end-to-end id and amount, for a return by the same return
 *   id and amount, for a charge by its identification, the same amount and a payee that the item
 *   identifies.
 */
export function decideCorrection(
  { item, status }: FinalItem,
  transaction: CandidateRow,
): CorrectDecision | null {
  if (status !== 'COMPLETED' || transaction.status !== 'FAILED') return null;
  if (item.amountCents !== centsFromDecimal(transaction.amount)) return null;
  const { endToEnd, transactionIdentification, providerTxid } = item.ids;
  if (transaction.operation === 'REFUND_OUT') {
    const isProved = isSameReturn(item.refund?.returnId ?? null, transaction.endToEnd);
    return isProved ? { kind: 'correct', transaction, endToEnd: null, providerTxid } : null;
  }
  const isProved =
    transaction.operation === 'CHARGE'
      ? transactionIdentification !== null && identifiesPayee(item)
      : endToEnd !== null && endToEnd === transaction.endToEnd;
  return isProved ? { kind: 'correct', transaction, endToEnd, providerTxid } : null;
}

function identifiesPayee({ payee }: WebhookItem): boolean {
  const { key, document, agency, accountNumber } = payee;
  return key !== null || document !== null || (agency !== null && accountNumber !== null);
}
