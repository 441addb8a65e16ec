/** Statements of the operators' view of events. */
import type { Statement } from '../database.ts';
import type { WebhookEventStatus } from '../../domain/settlement.ts';

export interface InspectedEventRow {
  readonly id: string;
  readonly status: WebhookEventStatus;
  readonly received_at: Date;
  readonly processed_at: Date | null;
  readonly payload_bytes: number | null;
  /** How many items came to what. */
  readonly outcomes: Readonly<Record<string, number>> | null;
}

const columns = `e.id, e.status, e.received_at, e.processed_at,
  octet_length(e.payload) as payload_bytes,
  (select jsonb_object_agg(counted.result, counted.times)
     from (select item->>'result' as result, count(*) as times
             from jsonb_array_elements(e.results) as item group by 1) as counted) as outcomes`;

/** Parameters 1 to 4: status, received since, received until, ids; each may be null. */
const filter = `
  ($1::text is null or e.status = $1) and ($2::timestamptz is null or e.received_at >= $2)
  and ($3::timestamptz is null or e.received_at <= $3)
  and ($4::uuid[] is null or e.id = any($4))`;

/** Events, newest first. Parameters: the filter's, limit. */
export const listEvents: Statement = {
  name: 'inspect-events',
  text: `
    select ${columns} from webhook_events e where ${filter}
     order by e.received_at desc, e.id desc limit $5`,
};

/**
 * Events from the oldest on, page by page. Parameters: the filter's, when the last one was
 * received, its id, limit.
 */
export const pageEvents: Statement = {
  name: 'inspect-events-page',
  text: `
    select e.id, e.status, e.received_at from webhook_events e
     where ${filter} and (e.received_at, e.id) > ($5::timestamptz, $6::uuid)
     order by e.received_at, e.id limit $7`,
};

/**
 * How many events such pages hold, counted as far as the limit. Parameters: the filter's, when the
 * last one was received, its id, limit.
 */
export const countEvents: Statement = {
  name: 'inspect-events-count',
  text: `
    select count(*)::int as events
      from (select from webhook_events e
             where ${filter} and (e.received_at, e.id) > ($5::timestamptz, $6::uuid)
             limit $7) as counted`,
};

/**
 * The events that a transaction's timeline names, those that wait for one of its ids, and those
 * that spoke of it while it was open and were ignored. Parameters: transaction id, limit.
 */
export const eventsOfTransaction: Statement = {
  name: 'inspect-events-of-transaction',
  text: `
    select event_id as id from pix_timeline where transaction_id = $1 and event_id is not null
     union
    select wait.event_id from pix_transactions t
      join webhook_waits wait
        on wait.id_value in (t.end_to_end, t.provider_txid, left(t.transaction_identification, 25),
                             case when t.operation = 'SEND' then t.idempotency_key end)
     where t.id = $1
     union
    select event.id from pix_transactions t
      join webhook_events event
        on event.received_at between t.created_at - interval '1 hour'
                                 and coalesce(t.settled_at, 'infinity') + interval '1 hour'
       and event.results @> jsonb_build_array(jsonb_build_object('transactionId', t.id))
     where t.id = $1
     limit $2`,
};

export interface ShownEventRow extends InspectedEventRow {
  readonly payload: Buffer | null;
  readonly results: unknown;
  /** The ids that it waits for. */
  readonly waits: readonly string[];
}

/** One event. Parameters: id. */
export const inspectEvent: Statement = {
  name: 'inspect-event',
  text: `
    select ${columns}, e.payload, e.results,
           array(select id_value from webhook_waits where event_id = e.id order by id_value)
             as waits
      from webhook_events e where e.id = $1`,
};

/** Which of some events are stored. Parameters: ids. */
export const knownEvents: Statement = {
  name: 'inspect-events-known',
  text: `select id from webhook_events where id = any($1::uuid[])`,
};
