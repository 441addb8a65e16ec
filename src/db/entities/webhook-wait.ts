import { defineEntity, p } from '@mikro-orm/core';
import { WebhookEvent } from './webhook-event.ts';

/** An id that a parked event waits for: the queue looks for transactions that have it. */
export const WebhookWait = defineEntity({
  name: 'WebhookWait',
  tableName: 'webhook_waits',
  properties: {
    idValue: p.text().primary(),
    event: () => p.manyToOne(WebhookEvent).primary().deleteRule('cascade'),
  },
  indexes: [{ name: 'webhook_waits_event', properties: ['event'] }],
});
