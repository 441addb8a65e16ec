import { defineEntity, p } from '@mikro-orm/core';
import { instant } from './columns.ts';

/**
 * The transactions that are PROCESSING, without charges that have a static code: these may wait for
 * ever. Triggers of `pix_transactions` keep it. It is a table and no index, because an index of
 * the status would give every transaction new entries in all indexes when it ends (PostgreSQL,
 * "Heap-Only Tuples"), which is half of what the end of a payment writes to the log.
 */
export const PixOpen = defineEntity({
  name: 'PixOpen',
  tableName: 'pix_open',
  properties: {
    /** No foreign key: its check would lock the transaction's row. No transaction is removed. */
    transactionId: p.uuid().primary(),
    /** Whether it is a charge that has its QR code, and waits for its payer. */
    hasCode: p.boolean(),
    /** When a charge expires; null: never. */
    expiresAt: instant().nullable(),
  },
  indexes: [
    {
      // The charges that the sweep ends, one day after they have expired.
      name: 'pix_open_expiring',
      expression:
        'create index "pix_open_expiring" on "pix_open" ("expires_at") where "expires_at" is not null',
    },
  ],
});
