import type { Statement } from '../database.ts';
import { columnsOf, isIdOf, pixColumns } from './pix-row.ts';
import { tellingEnds } from './tell-ends.ts';
import { waking } from './wake-events.ts';

/** The columns of a move that `moving` takes from JSON, with their types. */
export const moveColumns = `
  id uuid, from_phases text, phase text, status text, end_to_end text, outcome text,
  failure_code text, provider_txid text, qr_code text, copy_paste text, claimed_until timestamptz,
  timeline jsonb`;

/**
 * The common table expressions `moved` and `noted`: they move transactions out of the phases that
 * they may be in, and note it in the timeline. A transaction in another phase is not moved. Columns
 * that are null keep their value.
 * A transaction keeps its first end-to-end id; it is not moved under another one.
 * The provider's id keeps its first one: an event may have an id of its own. The timeline has both,
 * and who waits for the new one is woken.
 * Only a transaction with a final status is settled (`pix_transactions_settled_dated`); with this
 * condition the row is found by its id and not among all that are in PROCESSING.
 * @param moves a table expression with `moveColumns`, the place of the call and the time `now`.
 */
export function moving(moves: string): string {
  return `moved as (
      update pix_transactions t
         set phase = move.phase, status = move.status,
             end_to_end = coalesce(move.end_to_end, t.end_to_end),
             outcome = coalesce(move.outcome, t.outcome),
             failure_code = coalesce(move.failure_code, t.failure_code),
             provider_txid = coalesce(t.provider_txid, move.provider_txid),
             qr_code = coalesce(move.qr_code, t.qr_code),
             copy_paste = coalesce(move.copy_paste, t.copy_paste),
             claimed_until = move.claimed_until,
             updated_at = move.now,
             settled_at = case when move.status <> 'PROCESSING' then move.now end
        from ${moves} move
       where ${isIdOf('move')} and t.settled_at is null
         and t.phase = any(move.from_phases::text[])
         and coalesce(t.end_to_end = move.end_to_end, true)
      returning move.place, move.timeline, move.provider_txid as new_txid,
                coalesce(move.provider_txid, t.provider_txid) as provider_txid, t.updated_at,
                ${columnsOf('t', pixColumns)}
    ), noted as (
      insert into pix_timeline
             (transaction_id, phase, at, attempt, provider_status, event_id, note, provider_txid)
      select moved.id, entry.phase, moved.updated_at, entry.attempt, entry.provider_status,
             entry.event_id, entry.note, case when item = 1 then new_txid end
        from moved,
             rows from (jsonb_to_recordset(moved.timeline::jsonb) as
               (phase text, attempt int, provider_status text, event_id uuid, note text))
             with ordinality as entry (phase, attempt, provider_status, event_id, note, item)
       order by moved.place, entry.item
    )`;
}

/** A column that notifies the callers that wait for the final status of what `moving` moves. */
export const notifyingMoved = tellingEnds("moved where status <> 'PROCESSING'");

/**
 * Moves a transaction and answers it; no row when it is in another phase or has another end-to-end
 * id. A final status wakes those who wait for it.
 * Parameters, grouped: id, phases to leave as an array's text, phase, status, end to end, outcome,
 * failure code, provider's id, QR code, copy and paste, claimed until, now, timeline entries as
 * JSON.
 */
export const moveTransaction: Statement = {
  name: 'pix-move',
  grouping: { apartBy: 1 },
  text: `
    with requested as (
      select * from unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[],
                           $7::text[], $8::text[], $9::text[], $10::text[], $11::timestamptz[],
                           $12::timestamptz[], $13::text[])
        with ordinality as requested (id, from_phases, phase, status, end_to_end, outcome,
          failure_code, provider_txid, qr_code, copy_paste, claimed_until, now, timeline, place)
    ), ${moving('requested')}
    select place, ${pixColumns}, ${waking('moved', 'told.updated_at')}, ${notifyingMoved}
      from moved`,
};
