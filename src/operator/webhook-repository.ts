/**
 * Webhook events as operators see them. The statements are SQL: they count items inside JSON, look
 * up a transaction's events by three indexes, and page in the order of a composite key for
 * `webhook replay`, which the simulation runs.
 */
import type { LocalContext } from '../context/context.ts';
import type { Statement } from '../db/database.ts';
import type { WebhookEventStatus } from '../settlement/event-repository.ts';
import { isUuid } from '../domain/text.ts';

export interface InspectedEvent {
  readonly id: string;
  readonly status: WebhookEventStatus;
  readonly receivedAt: Date;
  /** When it was last processed. */
  readonly processedAt: Date | null;
  /** Null when the payload was purged with age. */
  readonly payloadBytes: number | null;
  /** How many items had each result. */
  readonly outcomes: Readonly<Record<string, number>> | null;
}

const columns = `e.id, e.status, e.received_at as "receivedAt", e.processed_at as "processedAt",
  octet_length(e.payload) as "payloadBytes",
  (select jsonb_object_agg(counted.result, counted.times)
     from (select item->>'result' as result, count(*) as times
             from jsonb_array_elements(e.results) as item group by 1) as counted) as outcomes`;

const filter = `
  ($1::text is null or e.status = $1) and ($2::timestamptz is null or e.received_at >= $2)
  and ($3::timestamptz is null or e.received_at <= $3)
  and ($4::uuid[] is null or e.id = any($4))`;

/** @public For the tests of the simulation, which find it by its shape. */
export const eventStatements = {
  list: {
    name: 'inspect-events',
    text: `
      select ${columns} from webhook_events e where ${filter}
       order by e.received_at desc, e.id desc limit $5`,
  },
  page: {
    name: 'inspect-events-page',
    text: `
      select e.id, e.status, e.received_at as "receivedAt" from webhook_events e
       where ${filter} and (e.received_at, e.id) > ($5::timestamptz, $6::uuid)
       order by e.received_at, e.id limit $7`,
  },
  count: {
    name: 'inspect-events-count',
    text: `
      select count(*)::int as events
        from (select from webhook_events e
               where ${filter} and (e.received_at, e.id) > ($5::timestamptz, $6::uuid)
               limit $7) as counted`,
  },
  /**
   * The events that a transaction's timeline names, those that wait for one of its ids, and those
   * that named it while it was open and were ignored.
   */
  ofTransaction: {
    name: 'inspect-events-of-transaction',
    text: `
      select event_id as id from pix_timeline where transaction_id = $1 and event_id is not null
       union
      select wait.event_id from pix_transactions t
        join webhook_waits wait
          on wait.id_value in
             (t.end_to_end, t.provider_txid, left(t.transaction_identification, 25),
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
  },
  /** The events that wait for an id, which no transaction may have. */
  waiting: {
    name: 'inspect-events-waiting',
    text: `select event_id as id from webhook_waits where id_value = $1 limit $2`,
  },
  find: {
    name: 'inspect-event',
    text: `
      select ${columns}, e.payload, e.results,
             array(select id_value from webhook_waits where event_id = e.id order by id_value)
               as "waitsFor"
        from webhook_events e where e.id = $1`,
  },
  known: {
    name: 'inspect-events-known',
    text: `select id from webhook_events where id = any($1::uuid[])`,
  },
} satisfies Record<string, Statement>;

type Store = Pick<LocalContext, 'db'>;

/** Which events to read; null matches every event. */
export interface EventFilter {
  readonly status: WebhookEventStatus | null;
  readonly since: Date | null;
  readonly until: Date | null;
  readonly ids: readonly string[] | null;
}

function filterParameters({ status, since, until, ids }: EventFilter): unknown[] {
  return [status, since, until, ids];
}

/** Newest first. */
export function findEvents(
  { db }: Store,
  which: EventFilter,
  limit: number,
): Promise<InspectedEvent[]> {
  return db.query<InspectedEvent>(eventStatements.list, [...filterParameters(which), limit]);
}

/** An event of a page, with its position in the order of the pages. */
export type PagedEvent = Pick<InspectedEvent, 'id' | 'status' | 'receivedAt'>;

export interface EventPage {
  readonly which: EventFilter;
  /** The last event before the page. */
  readonly after: Pick<PagedEvent, 'receivedAt' | 'id'>;
  readonly limit: number;
}

function pageParameters({ which, after, limit }: EventPage): unknown[] {
  return [...filterParameters(which), after.receivedAt, after.id, limit];
}

/** Oldest first. */
export function findEventPage({ db }: Store, page: EventPage): Promise<PagedEvent[]> {
  return db.query<PagedEvent>(eventStatements.page, pageParameters(page));
}

/** Counts the events of a page, up to its limit. */
export async function countEventPage({ db }: Store, page: EventPage): Promise<number> {
  const parameters = pageParameters(page);
  const [counted] = await db.query<{ events: number }>(eventStatements.count, parameters);
  return counted?.events ?? 0;
}

/** Finds the events of a transaction. */
export async function findEventIdsOfTransaction(
  { db }: Store,
  transactionId: string,
  limit: number,
): Promise<string[]> {
  const parameters = [transactionId, limit];
  const rows = await db.query<{ id: string }>(eventStatements.ofTransaction, parameters);
  return rows.map(({ id }) => id);
}

/** Finds the events that wait for an id. */
export async function findEventIdsWaitingFor(
  { db }: Store,
  id: string,
  limit: number,
): Promise<string[]> {
  const rows = await db.query<{ id: string }>(eventStatements.waiting, [id, limit]);
  return rows.map(({ id: eventId }) => eventId);
}

export interface ShownEvent extends InspectedEvent {
  readonly payload: Buffer | null;
  readonly results: unknown;
  /** The ids that it waits for. */
  readonly waitsFor: readonly string[];
}

/** Finds an event. */
export async function findEvent({ db }: Store, id: string): Promise<ShownEvent | null> {
  if (!isUuid(id)) return null;
  const [event] = await db.query<ShownEvent>(eventStatements.find, [id]);
  return event ?? null;
}

/** Filters ids for those of stored events. */
export async function knownEventIds(
  { db }: Store,
  ids: readonly string[],
): Promise<ReadonlySet<string>> {
  const rows = await db.query<{ id: string }>(eventStatements.known, [ids]);
  return new Set(rows.map(({ id }) => id));
}
