import { defineEntity, p } from '@mikro-orm/core';
import { selectAttention } from '../attention.ts';
import { isOneOf } from '../statement.ts';
import { instant } from './columns.ts';

/**
 * A payload that the provider posted, once per content.
 *
 * No index has the status, nor another column that changes when an ordinary event is settled: that
 * update changes no index (PostgreSQL, "Heap-Only Tuples"). The pages keep room for it (the
 * migration `new_columns`). A `received` event is found by its job.
 */
export const WebhookEvent = defineEntity({
  name: 'WebhookEvent',
  tableName: 'webhook_events',
  properties: {
    /** Of version 7, with the time of receipt: see `domain/timed-uuid.ts`. */
    id: p.uuid().primary(),
    /** SHA-256 of the raw bytes. */
    payloadHash: p.blob().unique('webhook_events_payload_hash_unique'),
    /** The raw bytes; null: purged because of their age. */
    payload: p.blob().nullable(),
    status: p.text(),
    /** The status, while the event waits or needs an operator; otherwise null. */
    attention: p.text().nullable(),
    /** The result of each item of the payload at the last attempt. */
    results: p.json().nullable(),
    receivedAt: instant(),
    /** The time of the last attempt. */
    processedAt: instant().nullable(),
  },
  indexes: [
    {
      name: 'webhook_events_kept',
      expression:
        'create index "webhook_events_kept" on "webhook_events" ("received_at") where "payload" is not null',
    },
    {
      // The events that wait, and those that operators search among millions of processed ones.
      name: 'webhook_events_attention',
      expression:
        'create index "webhook_events_attention" on "webhook_events" ("attention", "id") where "attention" is not null',
    },
  ],
  triggers: [
    {
      // For a writer that does not set it. A trigger before each update would lock each row in
      // the log.
      name: 'webhook_events_attention',
      timing: 'after',
      events: ['insert', 'update'],
      when: `new.attention is distinct from ${selectAttention('new.status')}`,
      body: `update webhook_events set attention = ${selectAttention('new.status')} where id = new.id; return null;`,
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
