import type { Statement } from '../database.ts';
import { columnsOf, isIdOf, pixColumns } from './pix-row.ts';
import { tellingEnds } from './tell-ends.ts';
import { waking } from './wake-events.ts';

/**
 * Moves a transaction out of the phases that it may stand in, and notes it in the timeline; it
 * answers no row when the transaction stands elsewhere. Columns given as null keep their value.
 * A transaction keeps its first end-to-end id; it is not moved under another one.
 * The provider's id keeps its first one: an event may have an id of its own. The timeline has both,
 * and who waits for the new one is woken.
 * A final status wakes those who wait for it. Only a transaction with a final status is settled
 * (`pix_transactions_settled_dated`); asked for in these words, the row is found by its id and not
 * among all that stand in PROCESSING.
 * Parameters, batched: id, phases to leave as an array's text, phase, status, end to end, outcome,
 * failure code, provider's id, QR code, copy and paste, claimed until, now, timeline entries as
 * JSON.
 */
export const moveTransaction: Statement = {
  name: 'pix-move',
  batching: { conflictKey: 1 },
  text: `
    with requested as (
      select * from unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[],
                           $7::text[], $8::text[], $9::text[], $10::text[], $11::timestamptz[],
                           $12::timestamptz[], $13::text[])
        with ordinality as requested (id, from_phases, phase, status, end_to_end, outcome,
          failure_code, provider_txid, qr_code, copy_paste, claimed_until, now, timeline, ordinal)
    ), moved as (
      update pix_transactions t
         set phase = requested.phase, status = requested.status,
             end_to_end = coalesce(requested.end_to_end, t.end_to_end),
             outcome = coalesce(requested.outcome, t.outcome),
             failure_code = coalesce(requested.failure_code, t.failure_code),
             provider_txid = coalesce(t.provider_txid, requested.provider_txid),
             qr_code = coalesce(requested.qr_code, t.qr_code),
             copy_paste = coalesce(requested.copy_paste, t.copy_paste),
             claimed_until = requested.claimed_until,
             updated_at = requested.now,
             settled_at = case when requested.status <> 'PROCESSING' then requested.now end
        from requested
       where ${isIdOf('requested')} and t.settled_at is null
         and t.phase = any(requested.from_phases::text[])
         and coalesce(t.end_to_end = requested.end_to_end, true)
      returning requested.ordinal, requested.timeline, requested.provider_txid as told_txid,
                coalesce(requested.provider_txid, t.provider_txid) as provider_txid, t.updated_at,
                ${columnsOf('t', pixColumns)}
    ), noted as (
      insert into pix_timeline
             (transaction_id, phase, at, attempt, provider_status, event_id, note, provider_txid)
      select moved.id, entry.phase, moved.updated_at, entry.attempt, entry.provider_status,
             entry.event_id, entry.note, case when item = 1 then told_txid end
        from moved,
             rows from (jsonb_to_recordset(moved.timeline::jsonb) as
               (phase text, attempt int, provider_status text, event_id uuid, note text))
             with ordinality as entry (phase, attempt, provider_status, event_id, note, item)
       order by moved.ordinal, entry.item
    )
    select ordinal, ${pixColumns}, ${waking('moved', 'told.updated_at')},
           ${tellingEnds("moved where status <> 'PROCESSING'")}
      from moved`,
};
