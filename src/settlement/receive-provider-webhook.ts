import { receiveEvent } from './webhook-intake.ts';
import type { PublicOperation } from '../http/operation.ts';

/**
 * Takes in an event of the provider. It is answered once the event is durable, in one commit with
 * its job or with what it settles; the same bytes again are acknowledged and change nothing.
 */
export const receiveProviderWebhook: PublicOperation<'receiveProviderWebhook'> = {
  access: 'public',
  async run(context, { input, request }) {
    const posted = { payload: request.rawBody, content: input.body };
    const { id, duplicate } = await receiveEvent(context, posted);
    context.metrics.webhookEvents.inc({ result: duplicate ? 'duplicate' : 'received' });
    const message = duplicate ? 'The event was received before.' : 'The event is received.';
    return { status: 200, body: { message, event_id: id, duplicate } };
  },
};
