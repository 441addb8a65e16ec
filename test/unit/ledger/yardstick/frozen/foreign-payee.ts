/** Items about a send that name another payee than the send has. */
import { isOtherPixKey } from '../../../../../src/domain/pix-key.ts';
import type { WebhookItem } from '../../../../../src/provider/webhook-events.ts';
import { matchItem } from './match.ts';
import type { CandidateRow } from '../../../../../src/ledger/transaction-repository.ts';

/**
 * An item that names another payee's key than the send that it is about claims nothing: it is
 * ignored as one that is not understood. The payee of a received Pix is compared with its owner
 * elsewhere.
 *
 * @param candidates the stored transactions that share an id with the item.
 * @returns the item, or the ignored one.
 */
export function withoutForeignPayee(
  item: WebhookItem,
  candidates: readonly CandidateRow[],
): WebhookItem {
  const { kind, payee } = item;
  if (kind !== 'payment' || (payee.key === null && !payee.isContradictory)) return item;
  const match = matchItem(item, candidates);
  if (match.kind === 'none' || match.transaction.operation !== 'SEND') return item;
  const { pixKey: key } = match.transaction;
  const isForeign =
    payee.isContradictory === true || (key !== null && isOtherPixKey(payee.key, key));
  return isForeign ? { ...item, kind: 'ignored', ignoredBecause: 'other_payee_key' } : item;
}
