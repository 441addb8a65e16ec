/**
 * The items of an event that another item of the same event contradicts. The functions are pure.
 */
import { staticTxidLength } from '../domain/pix.ts';
import type { WebhookItem } from '../provider/webhook-events.ts';

/**
 * Finds the failures of what another item reports as completed. Such a failure ends nothing,
 * whatever the order of the items: the completion may prove itself.
 * @returns the indices of these items.
 */
export function contradictedItems(items: readonly WebhookItem[]): ReadonlySet<number> {
  const completed = items.filter(({ kind, status }) => {
    return (kind === 'payment' || kind === 'received') && status === 'COMPLETED';
  });
  if (completed.length === 0) return new Set();
  const endToEnds = new Set(completed.map(({ ids }) => ids.endToEnd));
  endToEnds.delete(null);
  const named = new Map<string, Set<string | null>>();
  for (const item of completed) {
    for (const id of otherIds(item)) {
      named.set(id, (named.get(id) ?? new Set()).add(item.ids.endToEnd));
    }
  }
  const isContradicted = (item: WebhookItem): boolean => {
    const { endToEnd } = item.ids;
    if (endToEnds.has(endToEnd)) return true;
    // Two payments with different end-to-end ids may share any other id.
    return otherIds(item).some((id) => {
      const of = named.get(id);
      return of !== undefined && (endToEnd === null || of.has(null));
    });
  };
  const failures = items.filter(({ kind, status }) => {
    return (kind === 'payment' || kind === 'expired') && status === 'FAILED';
  });
  return new Set(failures.filter(isContradicted).map(({ index }) => index));
}

/**
 * Puts failures behind what is completed, so that the end of a payment does not depend on the order
 * of the items, even if they name it by different ids.
 */
export function failuresLast(items: readonly WebhookItem[]): readonly WebhookItem[] {
  const isFailure = ({ status }: WebhookItem): boolean => status === 'FAILED';
  return [...items.filter((item) => !isFailure(item)), ...items.filter(isFailure)];
}

/** The ids of an item that several payments may share. */
function otherIds({ ids }: WebhookItem): string[] {
  const { clientRequestId, transactionIdentification, providerTxid } = ids;
  return [
    ...(clientRequestId === null ? [] : [`request ${clientRequestId}`]),
    ...(transactionIdentification === null
      ? []
      : [`charge ${transactionIdentification.slice(0, staticTxidLength)}`]),
    ...(providerTxid === null ? [] : [`provider ${providerTxid}`]),
  ];
}
