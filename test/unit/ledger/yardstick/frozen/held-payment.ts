/** The decision about an item that reports that the provider analyses a payment. It is pure. */
import { centsFromDecimal } from '../../../../../src/domain/money.ts';
import { isSameId, phasesOpenToSettlement } from '../../../../../src/domain/pix.ts';
import type { WebhookItem } from '../../../../../src/provider/webhook-events.ts';
import type { Decision } from './decision.ts';
import type { CandidateRow } from '../../../../../src/ledger/transaction-repository.ts';

/**
 * Notes the analysis on the open send that has the item's end-to-end id and amount. It moves no
 * money and ends nothing, so an item that fits no send is ignored.
 */
export function decideHeld(
  { ids: { endToEnd }, amountCents }: WebhookItem,
  candidates: readonly CandidateRow[],
): Decision {
  const isOpen = ({ phase }: CandidateRow): boolean =>
    phasesOpenToSettlement.some((open) => open === phase);
  const transaction = candidates.find(
    (one) =>
      one.operation === 'SEND' &&
      isSameId(one.endToEnd, endToEnd) &&
      isOpen(one) &&
      (amountCents === null || amountCents === centsFromDecimal(one.amount)),
  );
  return transaction
    ? { kind: 'hold', transaction }
    : { kind: 'skip', result: 'ignored', reason: 'processing' };
}
