/**
 * Webhook events as operators see them. The statements are SQL: they count items inside JSON and
 * page for `webhook replay`, which the simulation runs.
 */
import type { LocalContext } from '../context/context.ts';
import { columnsOf, type RowOf } from '../db/rows.ts';
import { sql, statement } from '../db/statement.ts';
import { attentionStatuses } from '../db/attention.ts';
import { shortTxid } from '../ledger/pix-transaction-repository.ts';
import type { WebhookEventStatus } from '../settlement/event-repository.ts';
import { isUuid, nilUuid } from '../domain/text.ts';
import { firstUuidAt, maxUuid } from '../domain/timed-uuid.ts';

const inspected = columnsOf('webhook_events', 'id, status, receivedAt, processedAt');

export interface InspectedEvent extends RowOf<typeof inspected> {
  readonly status: WebhookEventStatus;
  /** Null when the payload was purged with age. */
  readonly payloadBytes: number | null;
  /** How many items had each result. */
  readonly outcomes: Readonly<Record<string, number>> | null;
  /** When the next attempt is due; null: it is not in the queue. */
  readonly dueAt: Date | null;
  /** How many attempts in a row have failed; null as above. */
  readonly failures: number | null;
  /** The name of the error of the last attempt, if that failed. */
  readonly lastError: string | null;
}

const columns = `${inspected.select('e')}, queue.due_at as "dueAt", queue.failures,
  queue.last_error as "lastError",
  octet_length(e.payload) as "payloadBytes",
  (select jsonb_object_agg(counted.result, counted.times)
     from (select item->>'result' as result, count(*) as times
             from jsonb_array_elements(e.results) as item group by 1) as counted) as outcomes`;

const queuedEvents = 'webhook_events e left join webhook_queue queue on queue.event_id = e.id';

const filterParameters = {
  status: 'text null',
  attention: 'text null',
  from: 'uuid',
  to: 'uuid',
  since: 'timestamptz null',
  until: 'timestamptz null',
  ids: 'uuid[] null',
} as const;

/** The ids bound the times, because no index has these. */
function filter(by: Readonly<Record<keyof typeof filterParameters, string>>): string {
  return `
  (${by.status} is null or e.status = ${by.status})
  and (${by.attention} is null or e.attention = ${by.attention})
  and e.id between ${by.from} and ${by.to}
  and (${by.since} is null or e.received_at >= ${by.since})
  and (${by.until} is null or e.received_at <= ${by.until})
  and (${by.ids} is null or e.id = any(${by.ids}))`;
}

/** How far the clocks of processes and the provider may be apart. */
const hourMs = 60 * 60_000;

function bindFilter({ status, since, until, ids }: EventFilter) {
  return {
    status,
    attention: attentionStatuses.find((one) => one === status) ?? null,
    from: since ? firstUuidAt(since) : nilUuid,
    to: until ? firstUuidAt(new Date(until.getTime() + 1)) : maxUuid,
    since,
    until,
    ids,
  };
}

/** The ids of a transaction that events may wait for; a null is none. */
function waitedIds(table: string): string {
  return `${table}.end_to_end, ${table}.provider_txid,
                       ${shortTxid(`${table}.transaction_identification`)},
                       case when ${table}.operation = 'SEND' then ${table}.idempotency_key end`;
}

const pageParameters = {
  ...filterParameters,
  after: 'uuid',
  limit: 'int',
} as const;

/** @public For the tests of the simulation, which find it by its shape. */
export const eventStatements = {
  list: statement({
    name: 'inspect-events',
    parameters: { ...filterParameters, limit: 'int' },
    text: ({ limit, ...by }) => sql<InspectedEvent>`
      select ${columns} from ${queuedEvents} where ${filter(by)}
       order by e.id desc limit ${limit}`,
  }),
  page: statement({
    name: 'inspect-events-page',
    parameters: pageParameters,
    text: ({ after, limit, ...by }) => sql<PagedEvent>`
      select e.id, e.status, e.results from webhook_events e
       where ${filter(by)} and e.id > ${after} order by e.id limit ${limit}`,
  }),
  count: statement({
    name: 'inspect-events-count',
    parameters: pageParameters,
    text: ({ after, limit, ...by }) => sql<{ events: number }>`
      select count(*)::int as events
        from (select from webhook_events e
               where ${filter(by)} and e.id > ${after} limit ${limit}) as counted`,
  }),
  /** The events that a transaction's timeline names, and those that wait for one of its ids. */
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
       limit ${limit}`,
  }),
  /** When a transaction was open. */
  whenOpen: statement({
    name: 'inspect-events-when-open',
    parameters: { transactionId: 'uuid' },
    text: ({ transactionId }) => sql<{ createdAt: Date; settledAt: Date | null }>`
      select created_at as "createdAt", settled_at as "settledAt" from pix_transactions
       where id = ${transactionId}`,
  }),
  /** The events of a time that named a transaction, whatever came of them. */
  naming: statement({
    name: 'inspect-events-naming',
    parameters: { transactionId: 'uuid', from: 'uuid', to: 'uuid', limit: 'int' },
    text: ({ transactionId, from, to, limit }) => sql<{ id: string }>`
      select id from webhook_events
       where id between ${from} and ${to}
         and results @> jsonb_build_array(jsonb_build_object('transactionId', ${transactionId}))
       limit ${limit}`,
  }),
  /** The events that may name a transaction with some ids, and that nothing came of yet. */
  unsettled: statement({
    name: 'inspect-events-unsettled',
    parameters: { ids: 'text[]', from: 'uuid', limit: 'int' },
    text: ({ ids, from, limit }) => sql<{ id: string }>`
      select queue.event_id as id from webhook_queue queue
        join webhook_events e on e.id = queue.event_id
       where e.status = 'received'
          or exists (select from webhook_waits wait
                      where wait.event_id = e.id and wait.id_value = any(${ids}))
       union
      select id from webhook_events where attention = 'orphaned' and id >= ${from}
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
        from ${queuedEvents} where e.id = ${id}`,
  }),
  /** An event that is in the queue may still settle. */
  accept: statement({
    name: 'ops-events-accept',
    parameters: { ids: 'uuid[]' },
    text: ({ ids }) => sql<{ id: string }>`
      update webhook_events e
         set status = case when exists (select from jsonb_array_elements(e.results) as item
                                         where item->>'result' in ('applied', 'already'))
                           then 'processed' else 'ignored' end,
             attention = null
       where id = any(${ids}) and attention in ('orphaned', 'anomaly')
         and not exists (select from webhook_queue queue where queue.event_id = e.id)
      returning id`,
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
  return db.query(eventStatements.list, { ...bindFilter(which), limit });
}

/** An event of a page. The ids are the order of the pages, which is that of the receipts. */
export type PagedEvent = Pick<ShownEvent, 'id' | 'status' | 'results'>;

export interface EventPage {
  readonly which: EventFilter;
  /** The id of the last event before the page. */
  readonly after: string;
  readonly limit: number;
}

function bindPage({ which, after, limit }: EventPage) {
  return { ...bindFilter(which), after, limit };
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

/**
 * Finds the events of a transaction: those of its timeline, those that wait for it, and those that
 * named it while it was open, with an hour on both sides, and were ignored.
 */
export async function findEventIdsOfTransaction(
  { db }: Store,
  transactionId: string,
  limit: number,
): Promise<string[]> {
  const [open] = await db.query(eventStatements.whenOpen, { transactionId });
  if (!open) return [];
  const { createdAt, settledAt } = open;
  const from = firstUuidAt(new Date(createdAt.getTime() - hourMs));
  const to = settledAt ? firstUuidAt(new Date(settledAt.getTime() + hourMs)) : maxUuid;
  const rows = [
    ...(await db.query(eventStatements.ofTransaction, { transactionId, limit })),
    ...(await db.query(eventStatements.naming, { transactionId, from, to, limit })),
  ];
  return [...new Set(rows.map(({ id }) => id))].slice(0, limit);
}

/** Finds the events that have named a transaction since it was made, whatever came of them. */
export async function findEventIdsNaming(
  { db }: Store,
  { id: transactionId, createdAt }: { readonly id: string; readonly createdAt: Date },
  limit: number,
): Promise<string[]> {
  const from = firstUuidAt(new Date(createdAt.getTime() - hourMs));
  const rows = await db.query(eventStatements.naming, { transactionId, from, to: maxUuid, limit });
  return rows.map(({ id }) => id);
}

/** @returns events that are not settled, or orphaned, and that may have one of some ids. */
export async function findUnsettledEventIds(
  { db }: Store,
  { ids, since }: { readonly ids: readonly string[]; readonly since: Date },
  limit: number,
): Promise<string[]> {
  const from = firstUuidAt(new Date(since.getTime() - hourMs));
  const rows = await db.query(eventStatements.unsettled, { ids, from, limit });
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
  /** What the last attempt has made of each item. */
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

/**
 * Closes events that need an operator: they count as settled, with the results that they have.
 * @returns the ids of those that were open.
 */
export async function acceptEvents({ db }: Store, ids: readonly string[]): Promise<string[]> {
  const rows = await db.query(eventStatements.accept, { ids });
  return rows.map(({ id }) => id);
}
