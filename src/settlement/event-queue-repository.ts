/**
 * The queue of events: each event that is not settled has its row, which is its job.
 * `webhook-store` stores it with the event, and `webhook-finish` removes it in the commit that
 * settles the event.
 *
 * No process owns a row. An attempt that begins sets the time of the next attempt, and other
 * processes do not attempt the event before that time; two attempts at the same time change nothing
 * twice. Each change of a row compares its time with the one that was read: if they differ, the
 * event was woken, or another attempt has begun.
 */
import type { LocalContext } from '../context/context.ts';
import { columnsOf, type RowOf } from '../db/rows.ts';
import { batchedStatement, sql, statement } from '../db/statement.ts';
import { shortTxid } from '../ledger/pix-transaction-repository.ts';
import { sha256 } from '../security/digests.ts';

/** The channel that is notified when an event becomes due at once; each queue listens. */
export const eventsChannel = 'ponte_webhooks';

/** The kind under which the events of the queue are counted among the jobs. */
export const eventsKind = 'settle-webhook';

/** A time that is always earlier than the queued one: an attempt sees that it has changed. */
export function earlierThan(queued: string, other: string): string {
  return `least(${queued} - interval '1 millisecond', ${other})`;
}

/**
 * The end of an INSERT of events: one that is in the queue is due earlier, and has waited since the
 * later of the two times.
 */
export const orDueEarlier = `
          do update set due_at = ${earlierThan('webhook_queue.due_at', 'excluded.due_at')},
                        waiting_since = greatest(webhook_queue.waiting_since,
                                                 excluded.waiting_since)`;

const queued = columnsOf('webhook_queue', 'eventId, waitingSince, waits, failures');

/** An event at which an attempt begins. */
export interface QueuedEvent extends RowOf<typeof queued> {
  /** The time of its row from now on: another attempt is due then. */
  readonly dueAt: Date;
}

/**
 * After so many attempts in a row of which none has ended, the event may be what kills the
 * processes: the next attempts are rare.
 */
const manyAttempts = 8;

/**
 * Takes due events from the queue, and moves them on to `nextAt`. It skips events that another
 * process is taking. A row is returned for each event, or one without an event; every row has the
 * time of the next event that is not due yet, and whether an event waits.
 */
const take = statement({
  name: 'webhook-queue-take',
  parameters: {
    now: 'timestamptz',
    nextAt: 'timestamptz',
    rareAt: 'timestamptz',
    underWay: 'uuid[]',
    room: 'int',
  },
  indexed: true,
  text: ({ now, nextAt, rareAt, underWay, room }) => sql<TakenRow>`
    with taken as (
      update webhook_queue
         set due_at = case when attempts < ${manyAttempts} then ${nextAt} else ${rareAt} end,
             attempts = attempts + 1, waits = waits + 1
       where event_id = any(array(
         select event_id from webhook_queue
          where due_at <= ${now} and event_id <> all(${underWay})
          order by due_at, event_id limit ${room} for update skip locked))
      returning ${queued.select()}, due_at as "dueAt"
    )
    select taken.*, next_due_at as "nextDueAt",
           exists (select from webhook_queue where seen is not null) as "someWait"
      from (select min(due_at) as next_due_at from webhook_queue where due_at > ${now}) as next
      left join taken on true`,
});

type TakenRow = (QueuedEvent | { readonly eventId: null }) & {
  readonly nextDueAt: Date | null;
  readonly someWait: boolean;
};

/** Which events are taken. */
export interface TakeRequest {
  /** When another attempt at them is due. */
  readonly nextAt: Date;
  /** The same for an event at which many attempts have begun and none has ended. */
  readonly rareAt: Date;
  /** The events that the caller is settling already. */
  readonly underWay: readonly string[];
  /** How many, at most. */
  readonly room: number;
}

/** What was taken from the queue, and what is left in it. */
export interface TakenEvents {
  readonly events: readonly QueuedEvent[];
  /** When the next of those that are not due yet is due; null: none. */
  readonly nextDueAt: Date | null;
  /** Whether an event waits for a transaction. */
  readonly someWait: boolean;
}

/** Takes due events from the queue. */
export async function takeEvents(
  { db, clock }: Pick<LocalContext, 'db' | 'clock'>,
  { nextAt, rareAt, underWay, room }: TakeRequest,
): Promise<TakenEvents> {
  const now = clock.now();
  const rows = await db.query(take, { now, nextAt, rareAt, underWay, room });
  const events = rows.flatMap((row) => (row.eventId === null ? [] : [row]));
  const { nextDueAt = null, someWait = false } = rows[0] ?? {};
  return { events, nextDueAt, someWait };
}

/** How many transactions with one key, or with one id of the provider, an event may wait for. */
const maxSharing = 20;

/**
 * A condition: the transaction `t` has an id that events may wait for. Many users may have the same
 * key, and a transaction may have several ids of the provider, which its timeline has.
 */
function hasWaitedId(id: string): string {
  return `(t.end_to_end = ${id}
                     or ${shortTxid('t.transaction_identification')} = ${id}
                     or t.id = any(array(select id from pix_transactions
                                          where idempotency_key = ${id} and operation = 'SEND'
                                          order by user_id limit ${maxSharing}))
                     or t.id = any(array(select transaction_id from pix_timeline
                                          where provider_txid = ${id} limit ${maxSharing})))`;
}

const waitedFor = columnsOf('pix_transactions', 'id, phase, updatedAt');

/** The next events that wait, each with the transactions that have one of its ids. */
const findWaiting = statement({
  name: 'webhook-queue-waiting',
  parameters: { after: 'uuid', limit: 'int' },
  indexed: true,
  text: ({ after, limit }) => sql<WaitingRow>`
    select waiting.event_id as "eventId", waiting.seen, waiting.waiting_since as "waitingSince",
           ${waitedFor.select('stored')}
      from (select event_id, seen, waiting_since from webhook_queue
             where seen is not null and event_id > ${after}
             order by event_id limit ${limit}) waiting
      left join lateral (
             select ${waitedFor.list('t')}
               from webhook_waits wait join pix_transactions t on ${hasWaitedId('wait.id_value')}
              where wait.event_id = waiting.event_id) stored on true
     order by waiting.event_id, stored.id`,
});

type WaitingRow = {
  readonly eventId: string;
  readonly seen: string;
  readonly waitingSince: Date;
} & (RowOf<typeof waitedFor> | { readonly id: null });

/**
 * An event whose attempt has begun, or whose row is locked, is left alone: it may be woken when it
 * waits again.
 */
const wake = statement({
  name: 'webhook-queue-wake',
  parameters: { now: 'timestamptz', eventIds: 'uuid[]', seen: 'text[]' },
  indexed: true,
  text: ({ now, eventIds, seen }) => sql`
    update webhook_queue queue set due_at = ${now}, waits = 0, seen = woken.seen
      from unnest(${eventIds}, ${seen}) as woken (event_id, seen)
     where queue.event_id = woken.event_id
       and queue.event_id = any(array(
             select event_id from webhook_queue
              where event_id = any(${eventIds}) and attempts = 0
              order by event_id for update skip locked))
    returning queue.event_id`,
});

/** How many waiting events are read at a time. */
const waitingAtATime = 256;

/** What a look at waiting events has found. */
export interface WokenEvents {
  /** The event up to which it has read; null: it has read the rest. */
  readonly last: string | null;
  readonly woken: number;
  /** Since when the newest event that it has read has waited: ids are in the order of arrival. */
  readonly newestAt: Date;
}

/**
 * Makes events due whose transactions have changed since they were last woken: one has got an id
 * that the event waits for, or has moved. Nothing else wakes an event that waits, so that no
 * statement that moves a transaction has to know of events.
 * @param after the event up to which the call before has read.
 */
export async function wakeWaitingEvents(
  { db, clock }: Pick<LocalContext, 'db' | 'clock'>,
  after: string,
): Promise<WokenEvents> {
  const rows = await db.query(findWaiting, { after, limit: waitingAtATime });
  const events = Map.groupBy(rows, ({ eventId }) => eventId);
  const changed = [...events].flatMap(([eventId, stored]) => {
    const seen = describeStored(stored);
    return seen === stored[0]?.seen ? [] : [{ eventId, seen }];
  });
  const last = events.size < waitingAtATime ? null : (rows.at(-1)?.eventId ?? null);
  const newestAt = rows.at(-1)?.waitingSince ?? clock.now();
  if (changed.length === 0) return { last, newestAt, woken: 0 };
  const eventIds = changed.map(({ eventId }) => eventId);
  const seen = changed.map((one) => one.seen);
  const woken = await db.query(wake, { now: clock.now(), eventIds, seen });
  return { last, newestAt, woken: woken.length };
}

/** @returns a digest of the transactions of an event as they are stored; empty without one. */
function describeStored(rows: readonly WaitingRow[]): string {
  const found = rows.flatMap((row) =>
    row.id === null ? [] : [`${row.id} ${row.phase} ${row.updatedAt.toISOString()}`],
  );
  return found.length === 0 ? '' : sha256(found.join(' ')).toString('base64url');
}

const postpone = batchedStatement({
  name: 'webhook-queue-postpone',
  parameters: {
    eventId: 'uuid',
    begunAt: 'timestamptz',
    nextAt: 'timestamptz',
    error: 'text null',
  },
  batching: { conflictKey: 'eventId' },
  text: (requested) => sql`
    update webhook_queue queue
       set due_at = requested.next_at, attempts = 0, waits = 0,
           failures = case when requested.error is null then failures else failures + 1 end,
           last_error = requested.error
      from ${requested}
     where queue.event_id = any(array[requested.event_id]) and queue.due_at = requested.begun_at
    returning requested.ordinal`,
});

/**
 * Puts off an event whose attempt ended without a result, unless it was woken meanwhile, or another
 * attempt has begun.
 * @param error the name of the error of the attempt, or null.
 */
export async function postponeEvent(
  { db }: Pick<LocalContext, 'db'>,
  { eventId, dueAt: begunAt }: Pick<QueuedEvent, 'eventId' | 'dueAt'>,
  { nextAt, error }: { readonly nextAt: Date; readonly error: string | null },
): Promise<void> {
  await db.query(postpone, { eventId, begunAt, nextAt, error });
}

const enqueue = statement({
  name: 'webhook-queue-add',
  parameters: { eventId: 'uuid', now: 'timestamptz', waitingSince: 'timestamptz null' },
  text: ({ eventId, now, waitingSince }) => sql`
    insert into webhook_queue (event_id, due_at, waiting_since)
    select id, ${now}, coalesce(${waitingSince}, received_at) from webhook_events
     where id = ${eventId} and payload is not null
        on conflict (event_id)
        ${orDueEarlier}
    returning pg_notify('${eventsChannel}', '')`,
});

/**
 * Puts an event that is stored into the queue, due at once.
 * @param waitingSince since when it has waited; null: since its receipt.
 */
export async function enqueueEvent(
  { db, clock }: Pick<LocalContext, 'db' | 'clock'>,
  eventId: string,
  waitingSince: Date | null,
): Promise<void> {
  await db.query(enqueue, { eventId, now: clock.now(), waitingSince });
}

const remove = batchedStatement({
  name: 'webhook-queue-remove',
  parameters: { eventId: 'uuid' },
  batching: { conflictKey: 'eventId' },
  text: (requested) => sql`
    delete from webhook_queue queue using ${requested}
     where queue.event_id = any(array[requested.event_id])
    returning requested.ordinal`,
});

/** Removes an event that has nothing to settle: it has no payload any more. */
export async function removeQueuedEvent(
  { db }: Pick<LocalContext, 'db'>,
  eventId: string,
): Promise<void> {
  await db.query(remove, { eventId });
}

const adopt = statement({
  name: 'webhook-queue-adopt',
  parameters: { now: 'timestamptz' },
  text: ({ now }) => sql`
    insert into webhook_queue (event_id, due_at, waiting_since)
    select id, ${now}, received_at from webhook_events
     where id in (select event_id from webhook_waits wait
                   where not exists (select from webhook_queue queue
                                      where queue.event_id = wait.event_id))
     order by id
        on conflict (event_id) do nothing`,
});

/** Puts the events into the queue that release 1.2.0 has parked: it has a job for each. */
export async function adoptEvents({
  db,
  clock,
}: Pick<LocalContext, 'db' | 'clock'>): Promise<void> {
  await db.query(adopt, { now: clock.now() });
}

/** @public For the tests of plans and of the simulation. */
export const queueStatements = { take, findWaiting, wake, adopt, postpone, enqueue, remove };
