import { defineEntity, p } from '@mikro-orm/core';
import { instant } from './columns.ts';
import { PixPause } from './pix-pause.ts';
import { User } from './user.ts';

/** The last loss of commits for which a user's statement was read whole. */
export const PixStatementRead = defineEntity({
  name: 'PixStatementRead',
  tableName: 'pix_statement_reads',
  properties: {
    user: () => p.manyToOne(User).primary().deleteRule('cascade'),
    pause: () => p.manyToOne(PixPause).deleteRule('restrict'),
    /** The statement was read from the day of this time on. */
    readSince: instant(),
    readAt: instant(),
  },
});
