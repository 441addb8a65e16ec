import { phasesOpenToAnswer, phasesBeforePaying, type PixPhase } from '../../domain/pix.ts';
import type { Statement } from '../database.ts';
import { isIdOf } from './pix-row.ts';
import { waking } from './wake-events.ts';

/** The steps that every send takes, and where each may come from. */
const steps = { PAYING: phasesBeforePaying, ACCEPTED: phasesOpenToAnswer } as const;

export type SendStep = keyof typeof steps;

const comingFrom = Object.entries<readonly PixPhase[]>(steps)
  .map(([to, phases]) => `when '${to}' then '{${phases.join(',')}}'::text[]`)
  .join(' ');

/**
 * Takes a send to PAYING with its end-to-end id, or to ACCEPTED with the provider's id; it answers
 * no row when the send is elsewhere by now, when it has another end-to-end id, or when its account
 * is no longer ACTIVE. It is `moveTransaction` for the steps that every send takes, with no more
 * than they need; both are one statement, so that they share batches.
 * RESOLVED, where a send comes from RESERVED, is passed through and noted.
 * A send in PAYING keeps the claim of the process that pays; any other move releases it.
 * Parameters, batched: id, PAYING or ACCEPTED, end to end or null, provider's id or null, whether
 * RESOLVED is noted, now, claimed until or null, number of attempts.
 */
export const stepSend: Statement = {
  name: 'pix-step',
  batching: { conflictKey: 1, lane: 'sends' },
  text: `
    with requested as (
      select * from unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::boolean[],
                           $6::timestamptz[], $7::timestamptz[], $8::int[])
        with ordinality as requested (id, to_phase, end_to_end, provider_txid, notes_resolved, now,
          claimed_until, attempt, ordinal)
    ), moved as (
      update pix_transactions t
         set phase = to_phase, claimed_until = requested.claimed_until, updated_at = requested.now,
             outcome = case to_phase when 'ACCEPTED' then 'accepted' else t.outcome end,
             end_to_end = coalesce(requested.end_to_end, t.end_to_end),
             provider_txid = coalesce(requested.provider_txid, t.provider_txid)
        from requested
       where ${isIdOf('requested')} and t.settled_at is null
         and t.phase = any(case to_phase ${comingFrom} end)
         and coalesce(t.end_to_end = requested.end_to_end, true)
         and (to_phase <> 'PAYING'
              or 'ACTIVE' = (select a.status from accounts a where a.user_id = t.user_id))
      returning requested.ordinal, requested.notes_resolved, requested.attempt,
                requested.provider_txid as told_txid, t.id, t.phase, t.operation,
                t.idempotency_key, t.end_to_end, t.transaction_identification, t.provider_txid,
                t.updated_at
    ), noted as (
      insert into pix_timeline (transaction_id, phase, at, attempt, provider_status, provider_txid)
      select id, entry.phase, updated_at, case when entry.phase <> 'RESOLVED' then attempt end,
             entry.provider_status, told_txid
        from moved join (values (1, 'PAYING', 'RESOLVED', null),
                                (2, 'PAYING', 'PAYING', null),
                                (3, 'ACCEPTED', 'ACCEPTED', '2xx'))
                        as entry (item, of_step, phase, provider_status)
                     on of_step = moved.phase
       where notes_resolved or entry.phase <> 'RESOLVED'
       order by ordinal, entry.item
    )
    select ordinal, ${waking('moved', 'told.updated_at')} from moved`,
};
