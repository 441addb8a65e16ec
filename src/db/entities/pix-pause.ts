import { defineEntity, p } from '@mikro-orm/core';
import { instant } from './columns.ts';

/**
 * A time in which no send is paid. One that names since when commits may be lost is, once it has
 * ended, the record of that loss: a user sends again only when their statement was read since then.
 */
export const PixPause = defineEntity({
  name: 'PixPause',
  tableName: 'pix_pauses',
  properties: {
    id: p.integer().primary(),
    beganAt: instant(),
    /** An operator, or `ponte` when a process has set it. */
    beganBy: p.text(),
    reason: p.text(),
    /** Since when commits may be lost; null: none are. */
    lostSince: instant().nullable(),
    endedAt: instant().nullable(),
    endedBy: p.text().nullable(),
  },
  indexes: [
    {
      name: 'pix_pauses_one_open',
      expression:
        'create unique index "pix_pauses_one_open" on "pix_pauses" (("ended_at" is null)) where "ended_at" is null',
    },
    {
      name: 'pix_pauses_losses',
      expression:
        'create index "pix_pauses_losses" on "pix_pauses" ("lost_since") where "lost_since" is not null',
    },
  ],
  checks: [
    {
      name: 'pix_pauses_end_named',
      expression: '(ended_at is null) = (ended_by is null)',
    },
  ],
});
