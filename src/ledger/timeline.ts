/** The timeline of a transaction, as SQL. */

const nothingElse = `null::int as attempt, null::text as provider_status, null::int as http_status,
           null::text as provider_code, null::uuid as event_id, null::text as note,
           null::text as provider_txid`;

/**
 * The steps of the transaction `t`, as `step`: a part of a FROM clause. They are ordered by
 * `step.id, step.place`.
 *
 * Two steps have no row of their own, because other rows show them: RESERVED is the order's own
 * row, and RESOLVED is one commit with the first PAYING of a send. Releases up to 1.2.0 have stored
 * a row for each.
 */
export const joinSteps = `
      lateral (
        select 0 as id, 0 as place, 'RESERVED' as phase, t.created_at as at, ${nothingElse}
         where t.idempotency_key is not null and not ${hasStored('RESERVED')}
         union all
        select id, 0, 'RESOLVED', at, ${nothingElse}
          from pix_timeline
         where transaction_id = t.id and phase = 'PAYING' and attempt = 1 and note is null
           and t.operation = 'SEND' and not ${hasStored('RESOLVED')}
         union all
        select id, 1, phase, at, attempt, provider_status, http_status, provider_code, event_id,
               note, provider_txid
          from pix_timeline
         where transaction_id = t.id) as step`;

/** A row with a response records a failed call, not a step. */
function hasStored(phase: string): string {
  return `exists (select from pix_timeline stored
                     where stored.transaction_id = t.id and stored.phase = '${phase}'
                       and stored.provider_status is null)`;
}
