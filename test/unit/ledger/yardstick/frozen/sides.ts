/**
 * The sides of a payment that an item reports: if a user pays another user, one item may report the
 * payer's send and the payee's charge or received PIX.
 */
import { isSameId } from '../../../../../src/domain/pix.ts';
import { normalisePixKey } from '../../../../../src/domain/pix-key.ts';
import type { WebhookItem } from '../../../../../src/provider/webhook-events.ts';
import type { FinalItem } from './decision.ts';
import { chargePaid } from './match.ts';
import type { CandidateRow } from '../../../../../src/ledger/transaction-repository.ts';

/** An item for each side: the decision about a side uses its kind. */
export interface TwoSides {
  readonly kind: 'two';
  readonly sent: FinalItem;
  readonly received: FinalItem;
  /** False: the item may report the side of the payer only. */
  readonly isCertain: boolean;
}

export type Sides =
  | { readonly kind: 'one'; readonly side: FinalItem }
  | TwoSides
  /** The item names a charge, and a send that may be another user's. */
  | { readonly kind: 'unclear'; readonly charge: CandidateRow };

/** Finds which sides of a payment an item reports. */
export function findSides(reported: FinalItem, candidates: readonly CandidateRow[]): Sides {
  const { item } = reported;
  const final = { ...reported, item: directed(item, candidates) };
  const charge = chargeOrSend(final, candidates);
  if (charge) return { kind: 'unclear', charge };
  if (paysCharge(final, candidates)) {
    const received = { ...final, item: { ...item, kind: 'received' } } as const;
    return isForSend(item, candidates)
      ? { kind: 'two', sent: final, received, isCertain: true }
      : { kind: 'one', side: received };
  }
  return final.item === item
    ? { kind: 'one', side: final }
    : { kind: 'two', sent: final, received: reported, isCertain: false };
}

/**
 * Finds the direction of an item in the list of received PIX that does not report one: it is the
 * payment of a send if that send has its end-to-end id and its key.
 */
function directed(item: WebhookItem, candidates: readonly CandidateRow[]): WebhookItem {
  const { endToEnd, transactionIdentification } = item.ids;
  const { key } = item.payee;
  if (!item.isUndirected || endToEnd === null || key === null) return item;
  const isSent = candidates.some(
    (one) =>
      one.operation === 'SEND' &&
      isSameId(one.endToEnd, endToEnd) &&
      one.pixKey === normalisePixKey(key).key,
  );
  return isSent && transactionIdentification === null ? { ...item, kind: 'payment' } : item;
}

/**
 * Whether the payment of an item has paid a charge. It has not if a send has the item's client
 * request id: the events of the payer contain that id and concern only the send.
 */
function paysCharge(final: FinalItem, candidates: readonly CandidateRow[]): boolean {
  if (final.status !== 'COMPLETED' || isOfPayer(final, candidates)) return false;
  return chargePaid(final.item, candidates) !== undefined;
}

/**
 * Whether the item's client request id is that of a send. Several users may use the same id: with
 * another end-to-end id, the send is another user's.
 */
function isOfPayer({ item }: FinalItem, candidates: readonly CandidateRow[]): boolean {
  const { clientRequestId, endToEnd } = item.ids;
  return candidates.some(
    (one) =>
      one.operation === 'SEND' &&
      isSameId(one.idempotencyKey, clientRequestId) &&
      (endToEnd === null || one.endToEnd === null || one.endToEnd === endToEnd),
  );
}

/**
 * Chooses the charge that an item names by its identification and its amount, if it names a send
 * only by a client request id. Another user's payment may have the same id, so it proves neither.
 */
function chargeOrSend(
  final: FinalItem,
  candidates: readonly CandidateRow[],
): CandidateRow | undefined {
  const isByKeyAlone = final.item.ids.endToEnd === null && isOfPayer(final, candidates);
  return isByKeyAlone ? chargePaid(final.item, candidates) : undefined;
}

/**
 * Whether an item also reports a send: if a user pays another user, both sides have the same
 * end-to-end id. A client request id shows that the item concerns the payer's side alone.
 */
function isForSend({ ids }: WebhookItem, candidates: readonly CandidateRow[]): boolean {
  return ids.clientRequestId === null && candidates.some(({ operation }) => operation === 'SEND');
}
