/**
 * The short way through a settlement. Nearly every event is nothing but the end of one of our
 * sends: one item that names it by its end-to-end id. Where that send is open and agrees with all
 * that the item says, there is nothing to weigh, and the event is settled in the statement that
 * stores it (`webhook-store`). It comes to what `settleEvent` comes to, and whatever does not fit
 * goes that way.
 */
import { decimalFromCents } from '../domain/money.ts';
import type { PixStatus } from '../domain/pix.ts';
import type { ProviderEvent } from '../provider/webhook-events.ts';
import { failureCodeOf } from './event-kinds.ts';

/** What an event says of one send. */
export interface EndOfSend {
  readonly endToEnd: string;
  /** Has to be the send's, if it is there. */
  readonly clientRequestId: string | null;
  /** Is stored, if it is there. */
  readonly providerTxid: string | null;
  /** A decimal in reais; has to be the send's, if it is there. */
  readonly amount: string | null;
  readonly status: Exclude<PixStatus, 'PROCESSING'>;
  readonly failureCode: string | null;
}

/** @returns what an event says that is nothing but the end of one send, or null. */
export function endOfSend(items: readonly ProviderEvent[]): EndOfSend | null {
  const [item] = items;
  if (!item || items.length > 1 || item.kind !== 'payment') return null;
  const { status, ids, amountCents } = item;
  const { endToEnd, clientRequestId, providerTxid } = ids;
  if (endToEnd === null || status === null || status === 'PROCESSING') return null;
  // Without the payer's key, one that names a charge may tell of both.
  if (ids.transactionIdentification !== null && clientRequestId === null) return null;
  return {
    endToEnd,
    clientRequestId,
    providerTxid,
    amount: amountCents === null ? null : decimalFromCents(amountCents),
    status,
    failureCode: status === 'FAILED' ? failureCodeOf(item) : null,
  };
}
