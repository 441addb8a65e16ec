/**
 * The outbox of app events in the database. Triggers write it (`db/entities/app-event.ts`), so that
 * no statement that ends a transaction can forget it; limits alone announce their change by a
 * statement (`pix/limit-event-repository.ts`). The statements are SQL: a delivery is read
 * and noted in one each, and a list names the state of the job that delivers.
 */
import type { LocalContext } from '../context/context.ts';
import { columnsOf, type RowOf } from '../db/rows.ts';
import { sql, statement } from '../db/statement.ts';
import { orRequestAgain } from '../jobs/job-repository.ts';

type Store = Pick<LocalContext, 'db'>;

const content = columnsOf('app_events', 'id, type, userId, transactionId, operation, status, at');

/** The content of an event: ids, words and a time, no personal data. */
export type OutboxEvent = RowOf<typeof content>;

/** An event to deliver. */
export interface UndeliveredEvent extends OutboxEvent {
  /** Whether the transaction had been reported as failed and was paid. */
  readonly isCorrection: boolean;
  /** Of a corrected send: a later send of the same user, key and amount that has not failed. */
  readonly paidAgainBy: string | null;
  /** Whether the transaction had been reported as completed and was not paid. */
  readonly isOverrule: boolean;
  /** As stored, so perhaps in the provider's words; null: the transaction is not FAILED. */
  readonly failureCode: string | null;
}

const find = statement({
  name: 'app-event-find',
  parameters: { id: 'text' },
  text: ({ id }) => sql<UndeliveredEvent>`
    select event.*, coalesce(is_correction, false) as "isCorrection",
           case when is_correction then t.paid_again_by end as "paidAgainBy",
           event.id like '%\\_overruled' as "isOverrule",
           case when event.type = 'pix.failed' then t.failure_code end as "failureCode"
      from (select ${content.select()} from app_events
             where id = ${id} and delivered_at is null) event
      left join lateral (
             select paid_again_by, failure_code,
                    corrected_at is not null and event.type = 'pix.completed' as is_correction
               from pix_transactions where id = event."transactionId") t on true`,
});

/** @returns an event that is not delivered yet, or null. */
export async function findUndelivered({ db }: Store, id: string): Promise<UndeliveredEvent | null> {
  const [event] = await db.query(find, { id });
  return event ?? null;
}

const deliver = statement({
  name: 'app-event-delivered',
  parameters: { id: 'text', now: 'timestamptz' },
  text: ({ id, now }) => sql`update app_events set delivered_at = ${now} where id = ${id}`,
});

/** Notes that an event was delivered. */
export async function markDelivered(
  { db, clock }: Pick<LocalContext, 'db' | 'clock'>,
  id: string,
): Promise<void> {
  await db.query(deliver, { id, now: clock.now() });
}

/** `pending`: its job is queued or runs; `dead`: the deliveries of a day have failed. */
export type DeliveryState = 'pending' | 'delivered' | 'dead';

export interface ListedEvent extends OutboxEvent {
  readonly state: DeliveryState;
  /** How often its job has run since it was queued. */
  readonly attempts: number;
  /** The name of the last error of its job. */
  readonly lastError: string | null;
  readonly deliveredAt: Date | null;
}

const listed = `
  select event.*, coalesce(job.attempts, 0) as attempts, job.last_error as "lastError",
         case when "deliveredAt" is not null then 'delivered'
              when job.status = 'dead' then 'dead' else 'pending' end as state
    from (select ${content.select()}, delivered_at as "deliveredAt" from app_events) event
    left join lateral (
           select status, attempts, last_error from jobs
            where unique_key = 'app-event:' || event.id order by jobs.id desc limit 1) job on true`;

const list = statement({
  name: 'ops-app-events-list',
  parameters: { state: 'text null', limit: 'int' },
  text: ({ state, limit }) => sql<ListedEvent>`
    select * from (${listed}) event where ${state} is null or state = ${state}
     order by at desc, id desc limit ${limit}`,
});

/** Lists events, newest first; null: in every state. */
export function findOutbox(
  { db }: Store,
  { state, limit }: { readonly state: DeliveryState | null; readonly limit: number },
): Promise<ListedEvent[]> {
  return db.query(list, { state, limit });
}

/** Removes a dead job: the new one replaces it. */
const resend = statement({
  name: 'ops-app-events-resend',
  parameters: { ids: 'text[]', allDead: 'boolean', now: 'timestamptz' },
  text: ({ ids, allDead, now }) => sql<{ id: string }>`
    with chosen as (
      update app_events set delivered_at = null
       where id = any(${ids})
          or (${allDead} and id in (select substr(unique_key, 11) from jobs
                             where kind = 'deliver-app-event' and status = 'dead'))
      returning id
    ), buried as (
      delete from jobs
       where status = 'dead' and unique_key in (select 'app-event:' || id from chosen)
    ), queued as (
      insert into jobs (kind, payload, unique_key, status, run_at, created_at)
      select 'deliver-app-event', jsonb_build_object('id', id), 'app-event:' || id, 'queued',
             ${now}, ${now} from chosen
      ${orRequestAgain}
    )
    select id from chosen order by id`,
});

/**
 * Queues events to be delivered again, at once.
 * @param which ids, or all that are dead.
 * @returns the ids of those that exist.
 */
export async function queueAgain(
  { db, clock }: Pick<LocalContext, 'db' | 'clock'>,
  which: { readonly ids: readonly string[]; readonly allDead: boolean },
): Promise<string[]> {
  return (await db.query(resend, { ids: which.ids, allDead: which.allDead, now: clock.now() })).map(
    ({ id }) => id,
  );
}
