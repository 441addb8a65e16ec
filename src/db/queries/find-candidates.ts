import { mostCandidates } from '../../domain/settlement.ts';
import type { Statement } from '../database.ts';
import { columnsOf, isRepeated, pixColumns } from './pix-row.ts';

/**
 * The transactions that an event's ids may mean, those first that an id of their own names: many
 * users may have the same client request id. A transaction may have been told several ids of the
 * provider; where the event names one of them, the transaction comes with that one.
 * Parameters, grouped: end to end, client request id, transactionIdentification, provider's id.
 */
export const findCandidates: Statement = {
  name: 'pix-candidates',
  grouping: {},
  text: `
    select place, found.*
      from unnest($1::text[], $2::text[], $3::text[], $4::text[])
           with ordinality as asked (end_to_end, client_request_id, txid, provider_txid, place),
           lateral (
             select array(select transaction_id from pix_timeline
                           where provider_txid = asked.provider_txid) as ids) told,
           lateral (
             select ${columnsOf('t', pixColumns)}, t.pix_key,
                    case when t.id = any(told.ids) then asked.provider_txid
                         else t.provider_txid end as provider_txid,
                    t.status = 'PROCESSING' and ${isRepeated('t')} as repeated
               from pix_transactions t
              where (t.end_to_end = asked.end_to_end
                     and t.operation in ('SEND', 'CHARGE', 'RECEIVED'))
                 or (t.idempotency_key = asked.client_request_id and t.operation = 'SEND')
                 or left(t.transaction_identification, 25) = left(asked.txid, 25)
                 or t.id = any(told.ids)
              order by ${closeness('t')} limit ${mostCandidates}) found
     order by place, ${closeness('found')}`,
};

/** The order of candidates: a transaction that an id of its own names before all others. */
function closeness(table: string): string {
  return `(${table}.end_to_end = asked.end_to_end) is true desc,
          (left(${table}.transaction_identification, 25) = left(asked.txid, 25)) is true desc,
          (${table}.provider_txid = asked.provider_txid) is true desc`;
}
