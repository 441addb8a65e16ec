import { defineEntity, p } from '@mikro-orm/core';
import { instant, isOneOf } from './columns.ts';

/** A payload that the provider posted, once per content. */
export const WebhookEvent = defineEntity({
  name: 'WebhookEvent',
  tableName: 'webhook_events',
  properties: {
    id: p.uuid().primary(),
    /** SHA-256 of the raw bytes. */
    payloadHash: p.blob().unique('webhook_events_payload_hash_unique'),
    /** The raw bytes. */
    payload: p.blob().nullable(),
    status: p.text(),
    /** The result of each item of the payload. */
    results: p.json().nullable(),
    receivedAt: instant(),
    processedAt: instant().nullable(),
  },
  indexes: [
    { name: 'webhook_events_received', properties: ['receivedAt'] },
    {
      name: 'webhook_events_kept',
      expression:
        'create index "webhook_events_kept" on "webhook_events" ("received_at") where "payload" is not null',
    },
    {
      // The events that operators search among millions of processed ones.
      name: 'webhook_events_flagged',
      expression:
        'create index "webhook_events_flagged" on "webhook_events" ("received_at") where "status" in (\'orphaned\', \'anomaly\')',
    },
    {
      name: 'webhook_events_waiting',
      expression:
        'create index "webhook_events_waiting" on "webhook_events" ("received_at") where "status" in (\'received\', \'parked\')',
    },
  ],
  checks: [
    {
      name: 'webhook_events_status_known',
      expression: isOneOf('status', [
        'received',
        'processed',
        'ignored',
        'parked',
        'orphaned',
        'anomaly',
      ]),
    },
  ],
});
