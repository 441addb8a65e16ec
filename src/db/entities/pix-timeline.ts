import { defineEntity, p } from '@mikro-orm/core';
import { instant } from './columns.ts';
import { PixTransaction } from './pix-transaction.ts';

/**
 * What happened to a transaction, in order. Rows are only ever added. The steps that other rows
 * show have none here (`ledger/timeline.ts`).
 */
export const PixTimeline = defineEntity({
  name: 'PixTimeline',
  tableName: 'pix_timeline',
  properties: {
    /**
     * No foreign key: its check would lock the transaction's row for each entry, a tenth of the
     * cost of a send in PostgreSQL. Each statement adds entries only for transactions that it has
     * just stored or locked, and no transaction is ever deleted (`pix_transactions_kept`).
     */
    transaction: () => p.manyToOne(PixTransaction).primary().createForeignKeyConstraint(false),
    /** Orders the entries. As the key's second column it needs no index of its own. */
    id: p.bigint().primary().autoincrement(),
    phase: p.text(),
    at: instant(),
    attempt: p.integer().nullable(),
    /** The class of the provider's response, such as `2xx` or `timeout`. */
    providerStatus: p.text().nullable(),
    /** The status of the provider's response to an attempt at a payment. */
    httpStatus: p.integer().nullable(),
    /** The code of that response in a restricted form, or `unreadable`: never personal data. */
    providerCode: p.text().nullable(),
    eventId: p.uuid().nullable(),
    /**
     * The provider's id of the transaction, if this entry brought it. It is looked up here and not
     * on the transaction, so that accepting a payment changes no index of its row.
     */
    providerTxid: p.text().nullable(),
    /**
     * The reason, where the phase does not say it: a fixed word, or the operator who resolved it
     * with the reason (`operator/pix-resolve.ts`).
     */
    note: p.text().nullable(),
  },
  indexes: [
    {
      name: 'pix_timeline_provider_txid',
      expression:
        'create index "pix_timeline_provider_txid" on "pix_timeline" ("provider_txid") where "provider_txid" is not null',
    },
  ],
  triggers: [
    {
      name: 'pix_timeline_append_only',
      timing: 'before',
      events: ['update', 'delete'],
      body: "raise exception 'the timeline is only added to' using errcode = 'check_violation';",
    },
  ],
});
