import type { Statement } from '../database.ts';
import { activeSessions } from './active-sessions.ts';
import type { PixTransactionRow } from './pix-row.ts';

/** What the app is shown of a transaction. */
export type PixViewRow = Pick<PixTransactionRow, 'id' | 'status' | 'qr_code' | 'copy_paste'>;

/**
 * One transaction of the user of an active banking session, in the read that checks the session. No
 * row: the session is not active. A row without an id: the user has no such transaction. It is
 * found by its id alone, whatever the planner thinks of the user's others, and then held to its
 * owner.
 * Parameters, batched: session id, user id, now, transaction id.
 */
export const viewTransaction: Statement = {
  name: 'pix-view',
  batching: { lane: 'views' },
  text: `
    select requested.ordinal, t.id, t.status, t.qr_code, t.copy_paste
      from unnest($1::uuid[], $2::int[], $3::timestamptz[], $4::uuid[])
           with ordinality as requested (session_id, user_id, now, id, ordinal)
      join ${activeSessions}
      left join lateral (
             select id, status, qr_code, copy_paste, user_id
               from pix_transactions where id = requested.id limit 1) t on t.user_id = u.id`,
};
