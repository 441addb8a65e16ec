import { defineEntity, p } from '@mikro-orm/core';
import { instant } from './columns.ts';

/**
 * An event for the app's own backend: the end of a transaction, the decision of an onboarding, the
 * status of a dispute, or a change of limits. The triggers of the first three tables write it and
 * queue its job, in the commit of the change.
 */
export const AppEvent = defineEntity({
  name: 'AppEvent',
  tableName: 'app_events',
  properties: {
    /** The subject of the event. A transaction ends once, so it has one event. */
    id: p.text().primary(),
    /** Such as `pix.completed`, `onboarding.rejected`, `dispute.open` or `limits.changed`. */
    type: p.text(),
    /** No foreign key: the event is written in the commit of a payment, and outlives its user. */
    userId: p.integer(),
    /** Null for an onboarding, and for limits. */
    transactionId: p.uuid().nullable(),
    /** The type of the transaction, such as `SEND`. */
    operation: p.text().nullable(),
    status: p.text(),
    at: instant(),
    deliveredAt: instant().nullable(),
  },
  indexes: [
    { name: 'app_events_at', properties: ['at', 'id'] },
    {
      name: 'app_events_delivered',
      expression:
        'create index "app_events_delivered" on "app_events" ("delivered_at") where "delivered_at" is not null',
    },
  ],
});

/** An SQL condition: the session writes app events. Set when it connects. */
export const writesAppEvents = "current_setting('ponte.app_events', true) = 'on'";

interface Announced {
  /** SQL expressions on the new row. */
  readonly id: string;
  readonly type: string;
  readonly transactionId: string;
  readonly operation: string;
  readonly at: string;
}

/** The statements of a trigger that write an event and queue its job. */
export function announcing({ id, type, transactionId, operation, at }: Announced): string {
  const values = [id, type, 'new.user_id', transactionId, operation, 'new.status', at].join(', ');
  return [
    'insert into app_events (id, type, user_id, transaction_id, operation, status, at)',
    `values (${values}) on conflict (id) do nothing;`,
    'insert into jobs (kind, payload, unique_key, status, run_at, created_at)',
    `values ('deliver-app-event', jsonb_build_object('id', ${id}), 'app-event:' || ${id},`,
    `'queued', ${at}, ${at}) on conflict do nothing;`,
    "perform pg_notify('ponte_jobs', '');",
  ].join(' ');
}
