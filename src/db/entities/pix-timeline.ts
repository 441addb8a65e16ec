import { defineEntity, p } from '@mikro-orm/core';
import { instant } from './columns.ts';
import { PixTransaction } from './pix-transaction.ts';

/** What happened to a transaction, in order. Rows are only ever added. */
export const PixTimeline = defineEntity({
  name: 'PixTimeline',
  tableName: 'pix_timeline',
  properties: {
    transaction: () => p.manyToOne(PixTransaction).primary().deleteRule('restrict'),
    /** Tells the order. It comes second, so that the key's index is the only one. */
    id: p.bigint().primary().autoincrement(),
    phase: p.text(),
    at: instant(),
    attempt: p.integer().nullable(),
    /** How the provider's answer looked, such as `2xx` or `timeout`. */
    providerStatus: p.text().nullable(),
    eventId: p.uuid().nullable(),
    /**
     * The provider's id of the transaction, where it came with this entry. It is looked up here and
     * not on the transaction: accepting a payment can so leave the indexes of its row alone.
     */
    providerTxid: p.text().nullable(),
    /**
     * Why, where the phase alone does not say: a word of the code, or who has resolved it by hand,
     * with the reason that was typed (`ops/pix-resolve.ts`).
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
