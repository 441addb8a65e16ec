import { phasesAfterPaying } from '../../domain/pix.ts';
import type { Statement } from '../database.ts';
import { oneOf } from '../entities/columns.ts';
import { waking } from './wake-events.ts';

/**
 * Moves a send to ACCEPTED and stores the provider's id; it answers no row when the send stands
 * elsewhere by now. It is `moveTransaction` for how nearly every payment is answered.
 * Parameters, grouped: id, provider's id, now.
 */
export const acceptPayment: Statement = {
  name: 'pix-accept-payment',
  grouping: { apartBy: 1 },
  text: `
    with asked as materialized (
      select * from unnest($1::uuid[], $2::text[], $3::timestamptz[])
        with ordinality as asked (id, provider_txid, now, place)
    ), moved as (
      update pix_transactions t
         set phase = 'ACCEPTED', outcome = 'accepted', claimed_until = null,
             provider_txid = coalesce(asked.provider_txid, t.provider_txid),
             updated_at = asked.now
        from asked
       where t.id = any($1) and t.id = asked.id and t.settled_at is null
         and ${oneOf('t.phase', phasesAfterPaying)}
      returning asked.place, t.id, t.operation, t.idempotency_key, t.end_to_end,
                t.transaction_identification, t.provider_txid, t.updated_at
    ), noted as (
      insert into pix_timeline (transaction_id, phase, at, provider_status)
      select id, 'ACCEPTED', updated_at, '2xx' from moved order by place
    ), ${waking('moved', 'told.updated_at')}
    select place from moved`,
};
