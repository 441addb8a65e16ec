/** `webhook accept`: closes events that an operator has explained. */
import { accept, type Accepted, type AcceptInput } from './accept.ts';
import { requireEventIds, type Op } from './op.ts';
import { acceptEvents } from './webhook-repository.ts';

/**
 * Closes anomalies and orphaned events. No payment changes; the payload goes with the retention of
 * settled events. A replay, or the same event from the provider, opens an event again.
 * @throws OpError when the reason or the operator is missing, or an id is invalid.
 */
export const acceptWebhooks: Op<AcceptInput, Accepted> = {
  run(context, { ids, reason }, { operator }) {
    const named = { ids: ids.map((id) => id.toLowerCase()), reason };
    return accept(context, named, {
      operator,
      command: 'webhook accept',
      target: 'event',
      checkIds: requireEventIds,
      close: acceptEvents,
    });
  },
};
