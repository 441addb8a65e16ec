import { receiveEvent } from '../../services/webhook-intake.ts';
import type { PublicOperation } from '../operation.ts';

/**
 * Takes in an event of the provider. It is answered once the event and the job that settles it are
 * durable, in one commit; the same bytes again are acknowledged and change nothing.
 */
export const receiveProviderWebhook: PublicOperation<'receiveProviderWebhook'> = {
  access: 'public',
  async run(context, { request }) {
    const { id, duplicate } = await receiveEvent(context, request.rawBody);
    context.metrics.webhookEvents.inc({ result: duplicate ? 'duplicate' : 'received' });
    const message = duplicate ? 'The event was received before.' : 'The event is received.';
    return { status: 200, body: { message, event_id: id, duplicate } };
  },
};
