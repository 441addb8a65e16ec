/**
 * Receives what the provider posts. An event and its job are one commit. Where the job loop of this
 * process has room, the job is stored as running under the loop's lease, and is dispatched to it at
 * once, with the event still in memory. If the process dies, the lease runs out and the job is
 * taken up like any other. Events that are stored in one commit share a job.
 */
import type { Context } from '../context/context.ts';
import type { PixStatus } from '../domain/pix.ts';
import type { WebhookOperation } from '../context/operation.ts';
import type { WebhookItem } from '../provider/webhook-events.ts';
import { batchKind, storeEvent, type StoredEvent } from './event-repository.ts';
import { settleForJob } from './settle-event.ts';

/** Answers once the event is durable with its job; the same bytes again change nothing. */
export const receiveProviderWebhook: WebhookOperation<'receiveProviderWebhook'> = {
  access: 'secret',
  async run(context, { input, request }) {
    const posted = { payload: request.rawBody, content: input.body };
    const { id, duplicate } = await receiveEvent(context, posted);
    context.metrics.webhookEvents.inc({ result: duplicate ? 'duplicate' : 'received' });
    const message = duplicate ? 'The event was received before.' : 'The event is received.';
    return { status: 200, body: { message, event_id: id, duplicate } };
  },
};

/** What was posted. */
export interface PostedEvent {
  /** The bytes: they are stored, and identify a duplicate. */
  readonly payload: Buffer;
  /** The same, parsed; undefined when its job is to parse it. */
  readonly content: unknown;
}

/** Stores an event with its job, and dispatches the job where this process has room for it. */
export async function receiveEvent(
  context: Context,
  { payload, content }: PostedEvent,
): Promise<Pick<StoredEvent, 'id' | 'duplicate'>> {
  const receivedAt = context.clock.now();
  const items = content === undefined ? null : context.dialects.readEvents(content, receivedAt);
  const failedEndToEnd = items && (onlyPayment(items, 'FAILED')?.ids.endToEnd ?? null);
  const place = context.jobs.reserve();
  // The statement that stores the event also reads the candidates of a completed payment. For a
  // failed one that would be too early: until the event is stored, the process that pays may still
  // store another attempt, which the decision has to see.
  const sought = place && items && onlyPayment(items, 'COMPLETED');
  let isDispatched = false;
  try {
    const event = { payload, receivedAt, place, failedEndToEnd, sought };
    const { id, duplicate, job, candidates } = await storeEvent(context, event);
    if (place && job) {
      isDispatched = true;
      const read = items && { items, before: [], receivedAt, attemptedAt: null, candidates };
      const isShared = job.sharedBy !== null;
      const kind = isShared ? batchKind : 'settle-webhook';
      place.begin({ ...job, kind, payload: { eventId: id } }, (leased) =>
        settleForJob(context, leased, { eventId: id, isShared, ...(read && { event: read }) }),
      );
    }
    return { id, duplicate };
  } finally {
    if (!isDispatched) place?.release();
  }
}

/** @returns the item of an event that only says that one payment has this status, or null. */
function onlyPayment(items: readonly WebhookItem[], status: PixStatus): WebhookItem | null {
  const [item, ...others] = items;
  const isOnly = item?.kind === 'payment' && item.status === status && others.length === 0;
  return isOnly ? item : null;
}
