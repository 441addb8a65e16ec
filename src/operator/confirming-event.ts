/** Finds an event by which the bank has confirmed that a transaction was paid. */
import type { LocalContext } from '../context/context.ts';
import { mapSettledIds, readEvent } from '../settlement/event-reader.ts';
import { findEvent } from '../settlement/event-repository.ts';
import type { InspectedPix } from './pix-repository.ts';
import { findEventIdsNaming } from './webhook-repository.ts';

/** More events than the bank sends about one payment. */
const maxEvents = 100;

/**
 * @returns the id of an event that has completed the transaction, or has found it completed; null:
 *   there is none. An event whose payload was purged may have said so.
 */
export async function findConfirmingEvent(
  context: LocalContext,
  { id, createdAt }: Pick<InspectedPix, 'id' | 'createdAt'>,
): Promise<string | null> {
  for (const eventId of await findEventIdsNaming(context, { id, createdAt }, maxEvents)) {
    const stored = await findEvent(context, eventId);
    if (!stored) continue;
    const event = await readEvent(context.dialects, stored);
    if (event === null) return eventId;
    const settled = mapSettledIds(event);
    const isConfirmed = event.items.some(
      ({ index, kind, status }) =>
        settled.get(index) === id && status === 'COMPLETED' && kind !== 'held',
    );
    if (isConfirmed) return eventId;
  }
  return null;
}
