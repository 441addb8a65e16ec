import { phasesBeforePaying } from '../../domain/pix.ts';
import type { Statement } from '../database.ts';
import { oneOf } from '../entities/columns.ts';
import { waking } from './wake-events.ts';

/**
 * Moves a send to PAYING and stores its end-to-end id; it answers no row when the send stands
 * elsewhere by now. It is `moveTransaction` for the step that every send takes, with no more than
 * that step needs. RESOLVED, where the send comes from RESERVED, is passed through and noted.
 * Parameters, grouped: id, end to end, whether RESOLVED is noted, now.
 */
export const beginPaying: Statement = {
  name: 'pix-begin-paying',
  grouping: { apartBy: 1 },
  text: `
    with asked as materialized (
      select * from unnest($1::uuid[], $2::text[], $3::boolean[], $4::timestamptz[])
        with ordinality as asked (id, end_to_end, notes_resolved, now, place)
    ), moved as (
      update pix_transactions t
         set phase = 'PAYING', end_to_end = asked.end_to_end, claimed_until = null,
             updated_at = asked.now
        from asked
       where t.id = any($1) and t.id = asked.id and t.settled_at is null
         and ${oneOf('t.phase', phasesBeforePaying)}
      returning asked.place, asked.notes_resolved, t.id, t.operation, t.idempotency_key,
                t.end_to_end, t.transaction_identification, t.provider_txid, t.updated_at
    ), noted as (
      insert into pix_timeline (transaction_id, phase, at, attempt)
      select id, entry.phase, updated_at, entry.attempt
        from moved, (values (1, 'RESOLVED', null), (2, 'PAYING', 1)) entry (item, phase, attempt)
       where notes_resolved or entry.phase = 'PAYING'
       order by place, entry.item
    ), ${waking('moved', 'told.updated_at')}
    select place from moved`,
};
