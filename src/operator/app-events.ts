/** `events list` and `events resend`: notifications to the app's own backend. */
import {
  findOutbox,
  queueAgain,
  type DeliveryState,
  type ListedEvent,
} from '../app-events/outbox-repository.ts';
import { type Op, OpError } from './op.ts';
import { recordAction } from './operator-action-repository.ts';

export interface EventsListInput {
  readonly state?: DeliveryState;
  readonly limit: number;
}

/** An event; times are ISO 8601 texts. */
export type EventView = Omit<ListedEvent, 'at' | 'deliveredAt'> & {
  readonly at: string;
  readonly deliveredAt: string | null;
};

/** Lists events, newest first. */
export const listEvents: Op<EventsListInput, { readonly events: readonly EventView[] }> = {
  async run(context, { state, limit }) {
    const events = await findOutbox(context, { state: state ?? null, limit });
    return { events: events.map(toView) };
  },
};

function toView({ at, deliveredAt, ...event }: ListedEvent): EventView {
  return { ...event, at: at.toISOString(), deliveredAt: deliveredAt?.toISOString() ?? null };
}

/** Either `ids` or `allDead`. */
export interface EventsResendInput {
  readonly ids?: readonly string[];
  readonly allDead?: boolean;
}

interface EventsResent {
  readonly resent: readonly string[];
  readonly notFound: readonly string[];
}

/**
 * Delivers events again, at once, also those that were delivered.
 * @throws OpError without ids and `allDead`, and where there is no address to deliver them to.
 */
export const resendEvents: Op<EventsResendInput, EventsResent> = {
  async run(context, { ids = [], allDead = false }, { operator, reason }) {
    if (ids.length === 0 && !allDead) {
      throw new OpError('INVALID', 'name events, or use --all-dead');
    }
    if (context.config.appEvents === null) {
      const refusal = 'no event would be delivered: set APP_EVENTS_URL, as in the service';
      throw new OpError('REFUSED', refusal);
    }
    const action = { operator, reason, command: 'events resend' };
    const resent = await recordAction(context, action, async (transaction) => {
      const queued = await queueAgain(transaction, { ids, allDead });
      return { result: queued, targets: queued.map((id) => `app-event:${id}`), outcome: 'queued' };
    });
    return { resent, notFound: ids.filter((id) => !resent.includes(id)) };
  },
};
