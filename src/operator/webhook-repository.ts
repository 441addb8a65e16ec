/**
 * Webhook events as operators see them. The statements are SQL: they count items inside JSON, look
 * up a transaction's events by three indexes, and page in the order of a composite key for
 * `webhook replay`, which the simulation runs.
 */
import type { LocalContext } from '../context/context.ts';
import { sql, statement } from '../db/statement.ts';
import { waitedIds } from '../pix/waiting-events-repository.ts';
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

const filterParameters = {
  status: 'text null',
  since: 'timestamptz null',
  until: 'timestamptz null',
  ids: 'uuid[] null',
} as const;

function filter(by: Readonly<Record<keyof typeof filterParameters, string>>): string {
  return `
  (${by.status} is null or e.status = ${by.status})
  and (${by.since} is null or e.received_at >= ${by.since})
  and (${by.until} is null or e.received_at <= ${by.until})
  and (${by.ids} is null or e.id = any(${by.ids}))`;
}

const pageParameters = {
  ...filterParameters,
  afterTime: 'timestamptz',
  after: 'uuid',
  limit: 'int',
} as const;

/** @public For the tests of the simulation, which find it by its shape. */
export const eventStatements = {
  list: statement({
    name: 'inspect-events',
    parameters: { ...filterParameters, limit: 'int' },
    text: ({ limit, ...by }) => sql<InspectedEvent>`
      select ${columns} from webhook_events e where ${filter(by)}
       order by e.received_at desc, e.id desc limit ${limit}`,
  }),
  page: statement({
    name: 'inspect-events-page',
    parameters: pageParameters,
    text: ({ afterTime, after, limit, ...by }) => sql<PagedEvent>`
      select e.id, e.status, e.received_at as "receivedAt" from webhook_events e
       where ${filter(by)} and (e.received_at, e.id) > (${afterTime}, ${after})
       order by e.received_at, e.id limit ${limit}`,
  }),
  count: statement({
    name: 'inspect-events-count',
    parameters: pageParameters,
    text: ({ afterTime, after, limit, ...by }) => sql<{ events: number }>`
      select count(*)::int as events
        from (select from webhook_events e
               where ${filter(by)} and (e.received_at, e.id) > (${afterTime}, ${after})
               limit ${limit}) as counted`,
  }),
  /**
   * The events that a transaction's timeline names, those that wait for one of its ids, and those
   * that named it while it was open and were ignored.
   */
  ofTransaction: statement({
    name: 'inspect-events-of-transaction',
    parameters: { transactionId: 'uuid', limit: 'int' },
    text: ({ transactionId, limit }) => sql<{ id: string }>`
      select event_id as id from pix_timeline where transaction_id = ${transactionId}
        and event_id is not null
       union
      select wait.event_id from pix_transactions t
        join webhook_waits wait on wait.id_value in (${waitedIds('t')})
       where t.id = ${transactionId}
       union
      select event.id from pix_transactions t
        join webhook_events event
          on event.received_at between t.created_at - interval '1 hour'
                                   and coalesce(t.settled_at, 'infinity') + interval '1 hour'
         and event.results @> jsonb_build_array(jsonb_build_object('transactionId', t.id))
       where t.id = ${transactionId}
       limit ${limit}`,
  }),
  /** The events that wait for an id, which no transaction may have. */
  waiting: statement({
    name: 'inspect-events-waiting',
    parameters: { id: 'text', limit: 'int' },
    text: ({ id, limit }) => sql<{ id: string }>`
    select event_id as id from webhook_waits where id_value = ${id} limit ${limit}`,
  }),
  find: statement({
    name: 'inspect-event',
    parameters: { id: 'uuid' },
    text: ({ id }) => sql<ShownEvent>`
      select ${columns}, e.payload, e.results,
             array(select id_value from webhook_waits where event_id = e.id order by id_value)
               as "waitsFor"
        from webhook_events e where e.id = ${id}`,
  }),
  known: statement({
    name: 'inspect-events-known',
    parameters: { ids: 'uuid[]' },
    text: ({ ids }) => sql<{ id: string }>`select id from webhook_events where id = any(${ids})`,
  }),
};

type Store = Pick<LocalContext, 'db'>;

/** Which events to read; null matches every event. */
export interface EventFilter {
  readonly status: WebhookEventStatus | null;
  readonly since: Date | null;
  readonly until: Date | null;
  readonly ids: readonly string[] | null;
}

/** Newest first. */
export function findEvents(
  { db }: Store,
  which: EventFilter,
  limit: number,
): Promise<InspectedEvent[]> {
  return db.query(eventStatements.list, { ...which, limit });
}

/** An event of a page, with its position in the order of the pages. */
export type PagedEvent = Pick<InspectedEvent, 'id' | 'status' | 'receivedAt'>;

export interface EventPage {
  readonly which: EventFilter;
  /** The last event before the page. */
  readonly after: Pick<PagedEvent, 'receivedAt' | 'id'>;
  readonly limit: number;
}

function bindPage({ which, after, limit }: EventPage) {
  return { ...which, afterTime: after.receivedAt, after: after.id, limit };
}

/** Oldest first. */
export function findEventPage({ db }: Store, page: EventPage): Promise<PagedEvent[]> {
  return db.query(eventStatements.page, bindPage(page));
}

/** Counts the events of a page, up to its limit. */
export async function countEventPage({ db }: Store, page: EventPage): Promise<number> {
  const [counted] = await db.query(eventStatements.count, bindPage(page));
  return counted?.events ?? 0;
}

/** Finds the events of a transaction. */
export async function findEventIdsOfTransaction(
  { db }: Store,
  transactionId: string,
  limit: number,
): Promise<string[]> {
  const rows = await db.query(eventStatements.ofTransaction, { transactionId, limit });
  return rows.map(({ id }) => id);
}

/** Finds the events that wait for an id. */
export async function findEventIdsWaitingFor(
  { db }: Store,
  id: string,
  limit: number,
): Promise<string[]> {
  const rows = await db.query(eventStatements.waiting, { id, limit });
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
  const [event] = await db.query(eventStatements.find, { id });
  return event ?? null;
}

/** Filters ids for those of stored events. */
export async function knownEventIds(
  { db }: Store,
  ids: readonly string[],
): Promise<ReadonlySet<string>> {
  const rows = await db.query(eventStatements.known, { ids });
  return new Set(rows.map(({ id }) => id));
}
