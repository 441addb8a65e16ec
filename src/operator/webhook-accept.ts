/** `webhook accept`: closes events that an operator has explained. */
import { isUuid } from '../domain/text.ts';
import { decisionError, type OperatorDecision } from './decision.ts';
import { OpError, type Op } from './op.ts';
import { recordAction } from './operator-action-repository.ts';
import { acceptEvents } from './webhook-repository.ts';

export interface AcceptEventsInput extends OperatorDecision {
  readonly ids: readonly string[];
}

export interface AcceptedEvents {
  readonly accepted: readonly string[];
  readonly notOpen: readonly string[];
}

/**
 * Closes anomalies and orphaned events. No payment changes; the payload goes with the retention of
 * settled events. A replay, or the same event from the provider, opens an event again.
 * @throws OpError when the reason or the operator is missing, or an id is invalid.
 */
export const acceptWebhooks: Op<AcceptEventsInput, AcceptedEvents> = {
  async run(context, { ids, reason }, { operator }) {
    const mistake = decisionError({ reason }, operator);
    if (mistake !== null) throw new OpError('REFUSED', mistake);
    const wrong = ids.find((id) => !isUuid(id));
    if (wrong !== undefined) throw new OpError('REFUSED', `${wrong} is not the id of an event`);
    const named = ids.map((id) => id.toLowerCase());
    const action = { operator, reason: reason.trim(), command: 'webhook accept' };
    const accepted = await recordAction(context, action, async (transaction) => {
      const closed = await acceptEvents(transaction, named);
      const targets = closed.map((id) => `event:${id}`);
      return { result: closed, targets, outcome: 'accepted' };
    });
    return { accepted, notOpen: named.filter((id) => !accepted.includes(id)) };
  },
};
