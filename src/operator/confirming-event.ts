/** Finds an event by which the bank has confirmed that a transaction was paid. */
import type { LocalContext } from '../context/context.ts';
import { isSameId } from '../domain/pix.ts';
import type { WebhookItem } from '../provider/webhook-events.ts';
import { mapSettledIds, readEvent } from '../settlement/event-reader.ts';
import { findEvent } from '../settlement/event-repository.ts';
import { listIds } from '../settlement/settle-items.ts';
import type { InspectedPix } from './pix-repository.ts';
import { findEventIdsNaming, findUnsettledEventIds } from './webhook-repository.ts';

/** More events than the bank sends about one payment. */
const maxEvents = 100;

/**
 * @returns why an event may have completed the transaction, or found it completed; null: none has.
 *   An event whose payload was purged may have said so, and so may one of too many events.
 */
export async function findConfirmation(
  context: LocalContext,
  { id, createdAt }: Pick<InspectedPix, 'id' | 'createdAt'>,
): Promise<string | null> {
  const eventIds = await findEventIdsNaming(context, { id, createdAt }, maxEvents + 1);
  if (eventIds.length > maxEvents) return `more than ${maxEvents} events name it`;
  for (const eventId of eventIds) {
    const stored = await findEvent(context, eventId);
    if (!stored) continue;
    const event = await readEvent(context.dialects, stored);
    if (event === null) return `the payload of the event ${eventId} is purged`;
    const settled = mapSettledIds(event);
    const isConfirmed = event.items.some(
      ({ index, kind, status }) =>
        settled.get(index) === id && status === 'COMPLETED' && kind !== 'held',
    );
    if (isConfirmed) return `the event ${eventId} says that it was paid`;
  }
  return null;
}

type Named = Pick<
  InspectedPix,
  'createdAt' | 'endToEnd' | 'idempotencyKey' | 'transactionIdentification' | 'providerTxid'
>;

/**
 * @returns why an event that is not settled, or orphaned, may say that the transaction was paid;
 *   null: none does.
 */
export async function findUnsettledConfirmation(
  context: LocalContext,
  pix: Named,
): Promise<string | null> {
  const { endToEnd, idempotencyKey, transactionIdentification, providerTxid } = pix;
  const named = [endToEnd, idempotencyKey, transactionIdentification, providerTxid];
  const ids = named.filter((id) => id !== null);
  const search = { ids, since: pix.createdAt };
  const eventIds = await findUnsettledEventIds(context, search, maxEvents + 1);
  if (eventIds.length > maxEvents) return `more than ${maxEvents} events are not settled yet`;
  for (const eventId of eventIds) {
    const stored = await findEvent(context, eventId);
    const event = stored && (await readEvent(context.dialects, stored));
    if (event?.items.some((item) => mayConfirm(item, pix, ids)) === true) {
      return `the event ${eventId}, which is not settled yet, may say that it was paid`;
    }
  }
  return null;
}

/** Another end-to-end id is another payment: the request id may be another user's. */
function mayConfirm(item: WebhookItem, { endToEnd }: Named, ids: readonly string[]): boolean {
  const isOther = endToEnd !== null && !isSameId(item.ids.endToEnd ?? endToEnd, endToEnd);
  return item.status === 'COMPLETED' && !isOther && listIds(item).some((id) => ids.includes(id));
}
