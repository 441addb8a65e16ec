import { randomUUIDv7 } from 'node:crypto';
import { storeWebhookEvent } from '../../db/queries/store-webhook-event.ts';
import { sha256 } from '../../security/digests.ts';
import type { PublicOperation } from '../operation.ts';

interface StoredEvent {
  readonly id: string;
  readonly duplicate: boolean;
}

/**
 * Takes in an event of the provider. It is answered once the event and the job that settles it are
 * durable, in one commit; the same bytes again are acknowledged and change nothing.
 */
export const receiveProviderWebhook: PublicOperation<'receiveProviderWebhook'> = {
  access: 'public',
  async run(context, { request }) {
    const event = await store();
    context.metrics.webhookEvents.inc({ result: event.duplicate ? 'duplicate' : 'received' });
    const message = event.duplicate ? 'The event was received before.' : 'The event is received.';
    return { status: 200, body: { message, event_id: event.id, duplicate: event.duplicate } };

    async function store(): Promise<StoredEvent> {
      const hash = sha256(request.rawBody);
      // A second look finds the event that a concurrent delivery committed meanwhile.
      for (let look = 0; look < 2; look += 1) {
        const [stored] = await context.db.query<StoredEvent>(storeWebhookEvent, [
          randomUUIDv7(),
          hash,
          request.rawBody,
          context.clock.now(),
        ]);
        if (stored) return stored;
      }
      throw new Error('a webhook event was neither stored nor found');
    }
  },
};
