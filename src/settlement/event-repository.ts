/** Statements about stored events: their receipt, their reading and their end. */
import type { LocalContext } from '../context/context.ts';
import { selectAttention } from '../db/attention.ts';
import { columnsOf, type RowOf } from '../db/rows.ts';
import { batchedStatement, sql, statement } from '../db/statement.ts';
import { timedUuid } from '../domain/timed-uuid.ts';
import { jobsChannel, onOpenJob, orRequestAgain } from '../jobs/job-repository.ts';
import { wakingEvents } from '../ledger/waiting-events-repository.ts';
import type { JobSlot, LeasedJob } from '../process/job-dispatch.ts';
import type { WebhookItem } from '../provider/webhook-events.ts';
import { moveColumns, moveRow, moveCte, notifyingMoved } from '../ledger/move-repository.ts';
import { sha256 } from '../security/digests.ts';
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

/** The kind of the job that several events share. */
export const batchKind = 'settle-webhook-batch';

/** The statuses of an event that needs its payload no longer. */
export const settledStatuses = ['processed', 'ignored'] as const satisfies WebhookEventStatus[];

/**
 * Stores an event in one commit with the job that settles it. If an event with the same hash
 * exists, that one is returned instead; of equal events in a batch the first is stored. With a
 * lease the job is stored as running, and the holder of the lease runs it; otherwise it is queued,
 * which wakes the job loops. No row is returned when a concurrent delivery committed the same bytes
 * after the statement's snapshot: the caller runs the statement again.
 *
 * Several events of a batch that are stored under leases share one job: a job for each would be a
 * quarter of what an event writes.
 *
 * A duplicate of an event that is not settled queues a job if the event has no open job: the
 * provider repeats events that it considers open, and the first job may be dead.
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
    worker: 'text null',
    leasedUntil: 'timestamptz null',
    failed: 'text null',
    endToEnd: 'text null',
    clientRequestId: 'text null',
    txid: 'text null',
    providerTxid: 'text null',
  },
  batching: { lane: 'webhooks' },
  text: (requested) => sql<StoredWithCandidate>`
    with requested as materialized (
      select *, nextval('jobs_id_seq') as job_id
        from ${requested}
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
    ), shared as (
      select min(job_id) as shared_id, min(worker) as shared_by, min(leased_until) as leased_until,
             min(now) as now, jsonb_agg(event_id) as event_ids
        from received where is_new and worker is not null
      having count(*) > 1
    ), queued as (
      insert into jobs (id, kind, payload, unique_key, status, attempts, leased_by, leased_until,
                        run_at, created_at)
      select job_id, 'settle-webhook', jsonb_build_object('eventId', event_id),
             'webhook:' || event_id, case when worker is null then 'queued' else 'running' end,
             case when worker is null then 0 else 1 end, worker, leased_until, now, now
        from received
       where is_new and (worker is null or not exists (select from shared))
       union all
      select shared_id, '${batchKind}', jsonb_build_object('eventIds', event_ids), null, 'running',
             1, shared_by, leased_until, now, now
        from shared
      returning case when status = 'queued' then pg_notify('${jobsChannel}', '') end
    ), revived as (
      insert into jobs (kind, payload, unique_key, status, run_at, created_at)
      select 'settle-webhook', jsonb_build_object('eventId', event.id), 'webhook:' || event.id,
             'queued', now, now
        from requested
        join webhook_events event on event.payload_hash = any(array[requested.payload_hash])
       where event.status in ('received', 'parked', 'orphaned')
          ${onOpenJob} do nothing
      returning pg_notify('${jobsChannel}', '')
    )
    select ordinal, is_new as "isNew",
           case when is_new then event_id else known_id end as "eventId", job_id as "jobId",
           shared_id as "sharedId", shared_by as "sharedBy", ${candidateColumns}
      from received requested
      left join shared on is_new and worker is not null
      left join lateral (
             select id as known_id from webhook_events
              where payload_hash = requested.payload_hash and not is_new limit 1) known on true
      left join lateral (select found.* from ${joinCandidates}) found on true
     order by ordinal, ${closeness('found')}`,
});

/** An event to be stored. */
export interface NewEvent {
  /** The bytes that were posted: their hash identifies a duplicate. */
  readonly payload: Buffer;
  readonly receivedAt: Date;
  /** The lease to store the job under; null: the job is queued. */
  readonly place: Pick<JobSlot, 'worker' | 'leasedUntil'> | null;
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
  /** Null for a duplicate. */
  readonly job: StoredJob | null;
  /** The candidates of the item that was sought, as they were before the event was stored. */
  readonly candidates: readonly CandidateRow[];
}

/** The job that is stored with an event. */
export interface StoredJob {
  readonly id: string;
  /** The holder of its lease if it is the job of other events, too; null: it has one event. */
  readonly sharedBy: string | null;
}

interface StoredRow {
  readonly isNew: boolean;
  /** Null: a concurrent delivery has committed the same bytes. */
  readonly eventId: string | null;
  readonly jobId: string;
  readonly sharedId: string | null;
  readonly sharedBy: string | null;
}

/** One for each candidate, or one without. */
type StoredWithCandidate = StoredRow & (CandidateRow | { readonly id: null });

/**
 * Attempts to store an event or to find it by its hash. If a concurrent delivery commits the same
 * bytes during the first attempt, that attempt does neither, and the second finds the event.
 */
const maxStores = 2;

/** Stores an event with its job, or finds the one with the same bytes. */
export async function storeEvent({ db }: LocalContext, event: NewEvent): Promise<StoredEvent> {
  const { payload, receivedAt, place, failedEndToEnd, sought } = event;
  const hash = sha256(payload);
  const { endToEnd, clientRequestId, transactionIdentification, providerTxid } =
    sought?.ids ?? noIds;
  for (let attempt = 0; attempt < maxStores; attempt += 1) {
    const rows = await db.query(storeWebhookEvent, {
      eventId: timedUuid(receivedAt),
      payloadHash: hash,
      payload,
      now: receivedAt,
      worker: place?.worker ?? null,
      leasedUntil: place?.leasedUntil ?? null,
      failed: failedEndToEnd,
      endToEnd,
      clientRequestId,
      txid: transactionIdentification,
      providerTxid,
    });
    const [stored] = rows;
    if (stored && stored.eventId !== null) {
      const { eventId: id, isNew, jobId, sharedId, sharedBy } = stored;
      const job = { id: sharedId ?? jobId, sharedBy };
      const candidates = rows.filter((row) => row.id !== null);
      return { id, duplicate: !isNew, job: isNew ? job : null, candidates };
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

/** Queues a job for each of some events that no attempt has settled or parked yet. */
export const queueReceivedEvents = statement({
  name: 'webhook-queue-received',
  parameters: { ids: 'uuid[]', now: 'timestamptz' },
  text: ({ ids, now }) => sql`
    insert into jobs (kind, payload, unique_key, status, run_at, created_at)
    select 'settle-webhook', jsonb_build_object('eventId', id), 'webhook:' || id, 'queued', ${now},
           ${now}
      from webhook_events where id = any(${ids}) and status = 'received' order by id
    ${onOpenJob} do nothing
    returning pg_notify('${jobsChannel}', '')`,
});

/** Queues a job for each event that no attempt has settled yet and that has none of its own. */
export async function queueReceived(
  { db, clock }: Pick<LocalContext, 'db' | 'clock'>,
  ids: readonly string[],
): Promise<void> {
  await db.query(queueReceivedEvents, { ids, now: clock.now() });
}

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

/**
 * Makes the moves of an event's items, and stores in the same commit the results of all items and
 * the ids that the event waits for from now on, which are those of the parked items.
 *
 * In each of these cases it stores nothing except the moves that could be made:
 * - A transaction has changed since and could not be moved: the item is decided again.
 * - Another process has settled the event since: this statement may have been delayed for long and
 *   must not overwrite the results of a later attempt.
 *
 * If no job of the event makes this attempt, the same commit queues one, so that every waiting
 * event has a job. An open job becomes due at the earlier of the two times; a running one is run
 * once more. If the event's job is finished, it is removed in the same commit: a finished job would
 * cost a second row with two index entries and says no more than its event. A job that was
 * requested again while it ran is queued instead, as if it had been requested a moment later.
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
 *               ├ waits        the ids that they wait for from now on
 *               │  ├ forgotten     removes the other ids
 *               │  └ waiting       adds those that are new
 *               ├ queued       queues a job, or has the open one run again
 *               └ ended        removes the job that made this attempt
 *                  └ again         unless it was requested again: then it is queued
 * woken                    wakes the events that wait for what moved
 * select                   the results
 * ```
 *
 * So transactions are locked before events, and events before jobs, in every process in the same
 * order. `woken` comes after `queued`, `ended` and `again`, which it reads first, because
 * PostgreSQL refuses to change a row that a function of the statement has changed.
 */
export const finishWebhookEvent = batchedStatement({
  name: 'webhook-finish',
  parameters: {
    id: 'uuid',
    status: 'text',
    results: 'text',
    now: 'timestamptz',
    ids: 'text',
    jobAt: 'timestamptz null',
    waitingSince: 'text',
    jobId: 'bigint null',
    worker: 'text null',
    attemptedBefore: 'timestamptz null',
    moves: 'text',
    attemptedAt: 'timestamptz',
  },
  batching: { conflictKey: 'id', after: storeWebhookEvent },
  text: (requested) => sql<FinishedRow>`
    with requested as (
      select * from ${requested}
    ), moves as (
      select move.*, requested.ordinal, requested.now
        from requested, jsonb_to_recordset(requested.moves::jsonb) as move (${moveColumns})
       where move.id = any(array[move.id])
       order by move.id, requested.ordinal
    ), ${moveCte('moves')}, finished as (
      update webhook_events event
         set status = requested.status, attention = ${selectAttention('requested.status')},
             results = requested.results::jsonb, processed_at = requested.attempted_at
        from requested
       where event.id = any(array[requested.id])
         and event.processed_at is not distinct from requested.attempted_before
         and requested.ordinal not in (
               select ordinal from moves where (id, ordinal) not in (select id, ordinal from moved))
      returning requested.ordinal, requested.id, requested.now, requested.ids, requested.job_at,
                requested.waiting_since, requested.job_id, requested.worker
    ), waits as materialized (
      select id as event_id, id_value
        from finished, jsonb_array_elements_text(ids::jsonb) as id_value
    ), forgotten as (
      delete from webhook_waits wait using finished
       where wait.event_id = finished.id
         and (wait.event_id, wait.id_value) not in (select event_id, id_value from waits)
    ), waiting as (
      insert into webhook_waits (id_value, event_id)
      select id_value, event_id from waits
          on conflict do nothing
      returning event_id
    ), queued as (
      insert into jobs (kind, payload, unique_key, status, run_at, created_at)
      select 'settle-webhook', jsonb_build_object('eventId', id, 'waitingSince', waiting_since),
             'webhook:' || id, 'queued', job_at, now
        from finished where job_at is not null
      ${orRequestAgain}
    ), ended as (
      delete from jobs
       using (select ordinal, job_id, worker from finished order by job_id) requested
       where jobs.id = any(array[requested.job_id]) and jobs.leased_by = requested.worker
         and not jobs.wanted
      returning requested.ordinal
    ), again as (
      update jobs set status = 'queued', run_at = requested.now, attempts = 0,
                      last_error = null, leased_by = null, leased_until = null
        from (select ordinal, job_id, worker, now from finished
               where ordinal not in (select ordinal from ended) order by job_id) requested
       where jobs.id = any(array[requested.job_id]) and jobs.leased_by = requested.worker
      returning requested.ordinal
    ), ${wakingEvents('moved', 'updated_at', ['queued', 'ended', 'again'])}
    select ordinal, ordinal in (select ordinal from finished) as "isFinished",
           case when ordinal not in (select ordinal from finished)
                then (select string_agg(moved.id::text, ' ') from moved
                       where moved.ordinal = requested.ordinal) end as "movedIds",
           id in (select event_id from waiting) as "waitsForMore",
           case when ordinal in (select ordinal from again) then 'queued'
                when ordinal in (select ordinal from ended) then 'done' end as "jobStatus",
           ${notifyingMoved}
      from requested, woken`,
});

/** The results of one attempt to settle an event. */
export interface AttemptToFinish {
  readonly eventId: string;
  readonly status: WebhookEventStatus;
  /** The result of each item, stored as JSON. */
  readonly items: readonly unknown[];
  /** Another time than that of the attempt before. */
  readonly attemptedAt: Date;
  /** The attempt before this one, or null. */
  readonly attemptedBefore: Date | null;
  readonly waitingSince: Date;
  /** The ids that it waits for from now on. */
  readonly waits: ReadonlySet<string>;
  /** When a job has to try again that is queued for it; null for no such job. */
  readonly queueAt: Date | null;
  /** The job that ends with this attempt, or null. */
  readonly endedJob: LeasedJob | null;
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
  /** The event waits for an id that it did not wait for before. */
  readonly waitsForMore: boolean;
  /** Of the job that was to end; null when another worker has its lease, or there is none. */
  readonly jobStatus: 'done' | 'queued' | null;
}

/**
 * Makes the moves of an attempt, and stores what it has found.
 * @throws when a move breaks a constraint (SQLSTATE class 23): then nothing is stored.
 */
export async function finishAttempt(
  { db, clock }: LocalContext,
  attempt: AttemptToFinish,
): Promise<StoredAttempt> {
  const { eventId, endedJob, moves } = attempt;
  const [row] = await db.query(finishWebhookEvent, {
    id: eventId,
    status: attempt.status,
    results: JSON.stringify(attempt.items),
    now: clock.now(),
    ids: JSON.stringify([...attempt.waits]),
    jobAt: attempt.queueAt,
    waitingSince: attempt.waitingSince.toISOString(),
    jobId: endedJob?.id ?? null,
    worker: endedJob?.worker ?? null,
    attemptedBefore: attempt.attemptedBefore,
    moves: JSON.stringify(moves.map(({ transaction, move }) => moveRow(transaction.id, move))),
    attemptedAt: attempt.attemptedAt,
  });
  const { isFinished = false, movedIds, waitsForMore = false, jobStatus = null } = row ?? {};
  return { isFinished, movedIds: new Set(movedIds?.split(' ')), waitsForMore, jobStatus };
}
