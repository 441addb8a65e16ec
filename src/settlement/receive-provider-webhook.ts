/**
 * Receives what the provider posts. An event and its row of the queue are one commit. Where this
 * process has room, it settles the event at once, with the event still in memory: its row is due
 * some seconds later, when another process takes the event up if this one has died.
 */
import type { Context } from '../context/context.ts';
import type { PixStatus } from '../domain/pix.ts';
import type { WebhookOperation } from '../context/operation.ts';
import type { WebhookItem } from '../provider/webhook-events.ts';
import { storeEvent, type StoredEvent } from './event-repository.ts';
import { settleQueued } from './settle-event.ts';

/** Answers once the event is durable in the queue; the same bytes again change nothing. */
export const receiveProviderWebhook: WebhookOperation<'receiveProviderWebhook'> = {
  access: 'secret',
  async run(context, { input, request }) {
    const { rawBody: payload, sentBody: sent } = request;
    const posted = { payload, sent, content: input.body };
    const { id, duplicate } = await receiveEvent(context, posted);
    context.metrics.webhookEvents.inc({ result: duplicate ? 'duplicate' : 'received' });
    const message = (duplicate ? receivedBefore : received)[request.locale];
    return { status: 200, body: { message, event_id: id, duplicate } };
  },
};

const received = { en: 'The event is received.', pt: 'O evento foi recebido.' } as const;

const receivedBefore = {
  en: 'The event was received before.',
  pt: 'O evento já tinha sido recebido.',
} as const;

/** What was posted. */
export interface PostedEvent {
  /** The bytes, in UTF-8: they are stored. */
  readonly payload: Buffer;
  /** The bytes as they were sent, if in another charset: they identify a duplicate. */
  readonly sent?: Buffer | undefined;
  /** The same, parsed; undefined: the attempt parses it. */
  readonly content: unknown;
}

/** Stores an event in the queue, and settles it at once where this process has room for it. */
export async function receiveEvent(
  context: Context,
  { payload, sent, content }: PostedEvent,
): Promise<Pick<StoredEvent, 'id' | 'duplicate'>> {
  const receivedAt = context.clock.now();
  const items = content === undefined ? null : context.dialects.readEvents(content, receivedAt);
  const failedEndToEnd = items && (onlyPayment(items, 'FAILED')?.ids.endToEnd ?? null);
  const place = context.eventPlaces.reserve();
  // The statement that stores the event also reads the candidates of a completed payment. For a
  // failed one that would be too early: until the event is stored, the process that pays may still
  // store another attempt, which the decision has to see.
  const sought = place && items && onlyPayment(items, 'COMPLETED');
  let hasBegun = false;
  try {
    const dueAt = place?.dueAt ?? null;
    const event = { payload, sent, receivedAt, dueAt, failedEndToEnd, sought };
    const { id, duplicate, candidates } = await storeEvent(context, event);
    if (place && !duplicate) {
      hasBegun = true;
      const queued = {
        eventId: id,
        dueAt: place.dueAt,
        waitingSince: receivedAt,
        waits: 0,
        failures: 0,
      };
      const read = items
        ? { items, before: [], receivedAt, attemptedAt: null, candidates }
        : undefined;
      place.begin(id, () => settleQueued(context, queued, read));
    }
    return { id, duplicate };
  } finally {
    if (!hasBegun) place?.release();
  }
}

/** @returns the item of an event that only says that one payment has this status, or null. */
function onlyPayment(items: readonly WebhookItem[], status: PixStatus): WebhookItem | null {
  const [item, ...others] = items;
  const isOnly = item?.kind === 'payment' && item.status === status && others.length === 0;
  return isOnly ? item : null;
}
