import { defineEntity, p } from '@mikro-orm/core';
import { instant } from './columns.ts';
import { WebhookEvent } from './webhook-event.ts';

/**
 * The job of each event that is not settled. The row is stored in the commit that stores the event,
 * and removed in the commit that settles it.
 */
export const WebhookQueue = defineEntity({
  name: 'WebhookQueue',
  tableName: 'webhook_queue',
  properties: {
    /** No foreign key: its check would lock the event's row at each insert. */
    event: () => p.oneToOne(WebhookEvent).primary().createForeignKeyConstraint(false),
    /**
     * When an attempt at the event is due. An attempt that begins moves this time on: another one
     * is due if it has not ended by then.
     */
    dueAt: instant(),
    /** Since when the event has waited for a transaction: since its receipt, or a replay. */
    waitingSince: instant(),
    /** How many attempts have begun here since one last ended: it may kill the processes. */
    attempts: p.integer().default(0),
    /** How often it was taken from the queue since it was woken, or an attempt has failed. */
    waits: p.integer().default(0),
    /** How many attempts in a row have failed. */
    failures: p.integer().default(0),
    /** The name of the error of the last attempt, if it failed; never its values. */
    lastError: p.text().nullable(),
    /**
     * Of an event that waits: a digest of the transactions that have one of its ids, as they were
     * when it was last woken; empty: none yet. Null: it does not wait.
     */
    seen: p.text().nullable(),
  },
  indexes: [
    { name: 'webhook_queue_due', properties: ['dueAt', 'event'] },
    {
      name: 'webhook_queue_waiting',
      expression:
        'create index "webhook_queue_waiting" on "webhook_queue" ("event_id") where "seen" is not null',
    },
  ],
});
