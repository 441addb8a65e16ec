/** Statements about stored events: their receipt, their reading and their end. */
import type { LocalContext } from '../context/context.ts';
import { selectAttention } from '../db/attention.ts';
import { columnsOf, type RowOf } from '../db/rows.ts';
import { batchedStatement, sql } from '../db/statement.ts';
import { isOrder } from '../domain/pix.ts';
import { timedUuid } from '../domain/timed-uuid.ts';
import type { WebhookItem } from '../provider/webhook-events.ts';
import {
  isNoUnsentOrder,
  moveColumns,
  moveRow,
  moveCte,
  notifyingMoved,
} from '../ledger/move-repository.ts';
import { sha256 } from '../security/digests.ts';
import { earlierThan, eventsChannel, orDueEarlier } from './event-queue-repository.ts';
import type { MoveVerdict } from '../ledger/report.ts';
import {
  candidateColumns,
  closeness,
  joinCandidates,
  type CandidateRow,
} from '../ledger/transaction-repository.ts';

/** The status of a stored event; `received`: not processed yet. */
export type WebhookEventStatus =
  'received' | 'processed' | 'ignored' | 'parked' | 'orphaned' | 'anomaly';

/** The statuses of an event that needs its payload no longer. */
export const settledStatuses = ['processed', 'ignored'] as const satisfies WebhookEventStatus[];

/**
 * Stores an event and its row of the queue in one commit. If an event with the same hash exists,
 * that one is returned instead; of equal events in a batch the first is stored. An event that is
 * due at once wakes the queues; one that is due later is settled by the caller, and by others from
 * then on. No row is returned when a concurrent delivery committed the same bytes after the
 * statement's snapshot: the caller runs the statement again.
 *
 * A duplicate of an event that is not settled goes into the queue if it is not there: the provider
 * repeats events that it considers open.
 *
 * An event that reports a failed send waits for that send from this commit on: a process that is
 * still paying it makes no further attempt (`pix-repeat`).
 *
 * The result also contains the candidates of the given ids, which are those of a completed payment,
 * as `pix-candidates` finds them. They were read before the event was stored.
 */
export const storeWebhookEvent = batchedStatement({
  name: 'webhook-store',
  parameters: {
    eventId: 'uuid',
    payloadHash: 'bytea',
    payload: 'bytea',
    now: 'timestamptz',
    dueAt: 'timestamptz',
    failed: 'text null',
    endToEnd: 'text null',
    clientRequestId: 'text null',
    txid: 'text null',
    providerTxid: 'text null',
  },
  batching: { lane: 'webhooks' },
  text: (requested) => sql<StoredWithCandidate>`
    with requested as materialized (
      select * from ${requested}
    ), stored as (
      insert into webhook_events (id, payload_hash, payload, status, received_at)
      select event_id, payload_hash, payload, 'received', now
        from requested order by payload_hash, ordinal
          on conflict (payload_hash) do nothing
      returning id
    ), received as (
      select *, event_id in (select id from stored) as is_new from requested
    ), waiting as (
      insert into webhook_waits (id_value, event_id)
      select failed, event_id from received where is_new and failed is not null
    ), queued as (
      insert into webhook_queue (event_id, due_at, waiting_since)
      select event_id, due_at, now from received where is_new
      returning case when due_at <= waiting_since then pg_notify('${eventsChannel}', '') end
    ), revived as (
      insert into webhook_queue (event_id, due_at, waiting_since)
      select event.id, now, event.received_at
        from requested
        join webhook_events event on event.payload_hash = any(array[requested.payload_hash])
       where event.status in ('received', 'parked', 'orphaned')
          or event.results @> '[{"result": "orphaned"}]'
       order by event.id
          on conflict (event_id) do nothing
      returning pg_notify('${eventsChannel}', '')
    )
    select ordinal, is_new as "isNew",
           case when is_new then event_id else known_id end as "eventId", ${candidateColumns}
      from received requested
      left join lateral (
             select id as known_id from webhook_events
              where payload_hash = requested.payload_hash and not is_new limit 1) known on true
      left join lateral (select found.* from ${joinCandidates}) found on true
     order by ordinal, ${closeness('found')}`,
});

/** An event to be stored. */
export interface NewEvent {
  /** The bytes that were posted, in UTF-8. */
  readonly payload: Buffer;
  /** The bytes as they were sent, if in another charset: their hash identifies a duplicate. */
  readonly sent?: Buffer | undefined;
  readonly receivedAt: Date;
  /** When others attempt it, unless it is settled by then; null: at once. */
  readonly dueAt: Date | null;
  /** The end-to-end id of the send that the event reports as failed, if it does. */
  readonly failedEndToEnd: string | null;
  /** The item whose candidates are read with the event, or null. */
  readonly sought: WebhookItem | null;
}

/** The result of storing an event. */
export interface StoredEvent {
  readonly id: string;
  /** Whether the same bytes were stored before. */
  readonly duplicate: boolean;
  /** The candidates of the item that was sought, as they were before the event was stored. */
  readonly candidates: readonly CandidateRow[];
}

interface StoredRow {
  readonly isNew: boolean;
  /** Null: a concurrent delivery has committed the same bytes. */
  readonly eventId: string | null;
}

/** One for each candidate, or one without. */
type StoredWithCandidate = StoredRow & (CandidateRow | { readonly id: null });

/**
 * Attempts to store an event or to find it by its hash. If a concurrent delivery commits the same
 * bytes during the first attempt, that attempt does neither, and the second finds the event.
 */
const maxStores = 2;

/** Stores an event in the queue, or finds the one with the same bytes. */
export async function storeEvent({ db }: LocalContext, event: NewEvent): Promise<StoredEvent> {
  const { payload, sent = payload, receivedAt, dueAt, failedEndToEnd, sought } = event;
  const hash = sha256(sent);
  const { endToEnd, clientRequestId, transactionIdentification, providerTxid } =
    sought?.ids ?? noIds;
  for (let attempt = 0; attempt < maxStores; attempt += 1) {
    const rows = await db.query(storeWebhookEvent, {
      eventId: timedUuid(receivedAt),
      payloadHash: hash,
      payload,
      now: receivedAt,
      dueAt: dueAt ?? receivedAt,
      failed: failedEndToEnd,
      endToEnd,
      clientRequestId,
      txid: transactionIdentification,
      providerTxid,
    });
    const [stored] = rows;
    if (stored && stored.eventId !== null) {
      const candidates = rows.filter((row) => row.id !== null);
      return { id: stored.eventId, duplicate: !stored.isNew, candidates };
    }
  }
  throw new Error('a webhook event was neither stored nor found');
}

const noIds: WebhookItem['ids'] = {
  endToEnd: null,
  clientRequestId: null,
  transactionIdentification: null,
  providerTxid: null,
};

const ofEvent = columnsOf(
  'webhook_events',
  'id, payload, status, results, receivedAt, processedAt',
);

/** A stored event; it has no payload after that was purged because of its age. */
export interface WebhookEventRow extends RowOf<typeof ofEvent> {
  readonly status: WebhookEventStatus;
}

/** One event. */
export const findWebhookEvent = batchedStatement({
  name: 'webhook-find',
  parameters: { eventId: 'uuid' },
  batching: {},
  text: (requested) => sql<WebhookEventRow>`
    select ordinal, ${ofEvent.select()}
      from ${requested}
      join webhook_events on id = any(array[event_id])`,
});

/** @returns an event as it is stored, or null. */
export async function findEvent(
  { db }: LocalContext,
  eventId: string,
): Promise<WebhookEventRow | null> {
  const [event] = await db.query(findWebhookEvent, { eventId });
  return event ?? null;
}

/** The parameters that the statements about attempts begin with. */
const attemptParameters = {
  id: 'uuid',
  status: 'text',
  results: 'text',
  begunAt: 'timestamptz null',
  attemptedBefore: 'timestamptz null',
  attemptedAt: 'timestamptz',
} as const;

/**
 * The common table expression `finished`: it stores the results of events, unless another attempt
 * has stored results since.
 * @param columns of `requested`, the attempts, that it returns beside the ordinal and the id.
 * @param further conditions on `requested`.
 */
function resultsCte(columns: readonly string[], further = ''): string {
  return `finished as (
      update webhook_events event
         set status = requested.status, attention = ${selectAttention('requested.status')},
             results = requested.results::jsonb, processed_at = requested.attempted_at
        from requested
       where event.id = any(array[requested.id])
         and event.processed_at is not distinct from requested.attempted_before${further}
      returning ${['ordinal', 'id', ...columns].map((name) => `requested.${name}`).join(', ')}
    )`;
}

/**
 * Makes the moves of an event's items, stores the results of all items, and removes the event from
 * the queue, in one commit.
 *
 * In each of these cases it stores nothing except the moves that could be made:
 * - A transaction has changed since and could not be moved: the item is decided again.
 * - Another process has settled the event since: this statement may have been delayed for long and
 *   must not overwrite the results of a later attempt.
 *
 * An event that was woken meanwhile, or at which another attempt has begun, stays in the queue: its
 * time there differs from that of the beginning of the attempt.
 *
 * The condition on moves is true for all of them. Without it the planner would expect a hundred
 * moves for each event, and might read all transactions to find them.
 *
 * The parts, in the order in which they are executed. Each takes the rows of the part above it;
 * PostgreSQL executes a part when the next one first reads it, and what no part reads at the end:
 *
 * ```text
 * requested ─ moves        the moves of all events, sorted by transaction
 *               ├ moved    locks and moves the transactions that still fit
 *               │  └ noted     writes their timeline
 *             finished     locks and ends the events of which no move has failed
 *               ├ forgotten    removes the ids that they have waited for
 *               └ ended        removes them from the queue
 * select                   the results
 * ```
 *
 * So transactions are locked before events, and events before the queue, in every process in the
 * same order.
 */
export const finishWebhookEvent = batchedStatement({
  name: 'webhook-finish',
  parameters: { ...attemptParameters, now: 'timestamptz', moves: 'text' },
  batching: { conflictKey: 'id', after: storeWebhookEvent },
  text: (requested) => sql<FinishedRow>`
    with requested as (
      select * from ${requested}
    ), moves as (
      select move.*, requested.ordinal, requested.now
        from requested, jsonb_to_recordset(requested.moves::jsonb) as move (${moveColumns})
       where move.id = any(array[move.id])
       order by move.id, requested.ordinal
    ), ${moveCte('moves', isNoUnsentOrder)}, ${resultsCte(
      ['begun_at'],
      `
         and requested.ordinal not in (
               select ordinal from moves
                where (id, ordinal) not in (select id, ordinal from moved))`,
    )}, forgotten as (
      delete from webhook_waits wait using finished
       where wait.event_id = any(array[finished.id])
    ), ended as (
      delete from webhook_queue queue
       using (select ordinal, id, begun_at from finished order by id) requested
       where queue.event_id = any(array[requested.id])
         and (requested.begun_at is null or queue.due_at = requested.begun_at)
      returning requested.ordinal
    )
    select ordinal, ordinal in (select ordinal from finished) as "isFinished",
           case when ordinal not in (select ordinal from finished)
                then (select string_agg(moved.id::text, ' ') from moved
                       where moved.ordinal = requested.ordinal) end as "movedIds",
           ordinal not in (select ordinal from ended) as "isQueued",
           ${notifyingMoved}
      from requested`,
});

/**
 * Stores the results of the items of an event that waits, and the ids that it waits for, which are
 * those of its parked items; and puts the event off in the queue, or into it if it was not there.
 * It stores nothing if another process has settled the event since.
 *
 * An event that was woken meanwhile, or at which another attempt has begun, is due earlier. A
 * replay makes a waiting event due earlier, so that an attempt that runs meanwhile sees it.
 */
export const parkWebhookEvent = batchedStatement({
  name: 'webhook-park',
  parameters: {
    ...attemptParameters,
    ids: 'text',
    dueAt: 'timestamptz',
    waitingSince: 'timestamptz',
  },
  batching: { conflictKey: 'id', after: storeWebhookEvent },
  text: (requested) => sql`
    with requested as (
      select * from ${requested}
    ), ${resultsCte(['ids', 'due_at', 'begun_at', 'waiting_since'])}, waits as materialized (
      select id as event_id, id_value
        from finished, jsonb_array_elements_text(ids::jsonb) as id_value
    ), forgotten as (
      delete from webhook_waits wait using finished
       where wait.event_id = any(array[finished.id])
         and (wait.event_id, wait.id_value) not in (select event_id, id_value from waits)
    ), waiting as (
      insert into webhook_waits (id_value, event_id)
      select id_value, event_id from waits
          on conflict do nothing
    ), kept as (
      update webhook_queue queue
         set due_at = case when queue.due_at = requested.begun_at then requested.due_at
                           else ${earlierThan('queue.due_at', 'requested.due_at')} end,
             waiting_since = greatest(queue.waiting_since, requested.waiting_since),
             attempts = 0, failures = 0, last_error = null, seen = coalesce(queue.seen, '')
        from (select id, due_at, begun_at, waiting_since from finished order by id) requested
       where queue.event_id = any(array[requested.id])
      returning queue.event_id
    ), added as (
      insert into webhook_queue (event_id, due_at, waiting_since, seen)
      select id, due_at, waiting_since, '' from finished
       where id not in (select event_id from kept) order by id
          on conflict (event_id)
          ${orDueEarlier}, seen = coalesce(webhook_queue.seen, '')
    )
    select ordinal from finished`,
});

/** What both statements store of an attempt. */
interface AttemptToStore {
  readonly eventId: string;
  readonly status: WebhookEventStatus;
  /** The result of each item, stored as JSON. */
  readonly items: readonly unknown[];
  /** Differs from the time of the attempt before. */
  readonly attemptedAt: Date;
  /** The attempt before this one, or null. */
  readonly attemptedBefore: Date | null;
  /** The time in the queue since this attempt began; null: it does not come from the queue. */
  readonly begunAt: Date | null;
}

/** The results of the attempt that settles an event. */
export interface AttemptToFinish extends AttemptToStore {
  /** The moves of its items, each of another transaction. */
  readonly moves: readonly MoveVerdict[];
}

interface FinishedRow extends Omit<StoredAttempt, 'movedIds'> {
  readonly movedIds: string | null;
}

/** What is stored of an attempt. */
export interface StoredAttempt {
  /** False when only moves are stored: the event, or what it settles, has changed meanwhile. */
  readonly isFinished: boolean;
  /** Of an event that is not finished: the transactions that were moved all the same. */
  readonly movedIds: ReadonlySet<string>;
  /** Whether the event is in the queue still: it was woken, or another attempt has begun. */
  readonly isQueued: boolean;
}

/**
 * Makes the moves of an attempt, and stores what it has found.
 * @throws when a move breaks a constraint (SQLSTATE class 23): then nothing is stored.
 */
export async function finishAttempt(
  { db, clock }: LocalContext,
  attempt: AttemptToFinish,
): Promise<StoredAttempt> {
  const moves = attempt.moves.map(toMoveRow);
  const [row] = await db.query(finishWebhookEvent, {
    ...attemptColumns(attempt),
    now: clock.now(),
    moves: JSON.stringify(moves),
  });
  const { isFinished = false, movedIds, isQueued = true } = row ?? {};
  return { isFinished, movedIds: new Set(movedIds?.split(' ')), isQueued };
}

/**
 * The timeline of an order has the provider's id of it already, if that is the one that the event
 * names. That of a charge says which payment has completed it.
 */
function toMoveRow({ transaction, move }: MoveVerdict) {
  const isKnown = isOrder(transaction.type) && move.providerTxid === transaction.providerTxid;
  return moveRow(transaction.id, isKnown ? { ...move, providerTxid: null } : move);
}

/** The results of an attempt after which the event waits. */
export interface AttemptToPark extends AttemptToStore {
  readonly waitingSince: Date;
  /** The ids that it waits for from now on. */
  readonly waits: ReadonlySet<string>;
  /** When another attempt is due. */
  readonly dueAt: Date;
}

/**
 * Stores what an attempt has found, and that the event waits.
 * @returns false when another process has settled the event meanwhile: nothing is stored.
 */
export async function parkAttempt({ db }: LocalContext, attempt: AttemptToPark): Promise<boolean> {
  const rows = await db.query(parkWebhookEvent, {
    ...attemptColumns(attempt),
    ids: JSON.stringify([...attempt.waits]),
    dueAt: attempt.dueAt,
    waitingSince: attempt.waitingSince,
  });
  return rows.length > 0;
}

function attemptColumns({ eventId, items, ...attempt }: AttemptToStore) {
  const { status, begunAt, attemptedBefore, attemptedAt } = attempt;
  const results = JSON.stringify(items);
  return { id: eventId, status, results, begunAt, attemptedBefore, attemptedAt };
}
