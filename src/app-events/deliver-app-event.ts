import { postEvent } from '../app-events/deliver.ts';
import { findUndelivered, markDelivered } from '../app-events/outbox-repository.ts';
import { dayMs } from '../clock.ts';
import type { JobHandler } from '../jobs/job.ts';
import { maxRetryMs } from '../jobs/runner.ts';
import { span } from '../telemetry/tracing.ts';

/**
 * Delivers an event to the app's backend. A backend that fails is tried for a day at least; then
 * the job is dead, and `ponte events resend` queues it again. A process that dies after a delivery
 * leaves it to be repeated.
 */
export const deliverAppEvent: JobHandler = {
  // From the tenth run on, a pause is at least half of the longest one.
  maxAttempts: 10 + dayMs / (maxRetryMs / 2),
  // A slow backend holds up no other events than these.
  concurrency: 8,
  async run(context, { payload: { id }, trace }) {
    if (typeof id !== 'string') throw new TypeError('the job names no event');
    const { appEvents } = context.config;
    const event = await findUndelivered(context, id);
    // Without an address the event stays pending, until it is resent.
    if (!event || appEvents === null) return undefined;
    const { tracing } = context;
    const { id: eventId, type, transactionId } = event;
    const facts = {
      name: `deliver ${type}`,
      kind: 'client',
      parent: transactionId === null ? trace : tracing?.ofTransaction(transactionId),
      attributes: { 'ponte.event.id': eventId },
    } as const;
    await span(tracing, facts, (own) => postEvent(appEvents, event, { ...context, trace: own }));
    await markDelivered(context, id);
    return undefined;
  },
};
