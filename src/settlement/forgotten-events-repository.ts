/**
 * Events that wait to be settled and have no job. Every statement that stores such an event stores
 * its job, so that there is none, except after a loss of commits: a lost job's id is given again to
 * the job of another event, which a run of the lost one then ends. The provider has an answer to
 * the event and does not post it again, so that the end of a pause is the time to find it. It is
 * SQL, because the simulation runs it.
 */
import type { LocalContext } from '../context/context.ts';
import { firstUuidAt } from '../domain/timed-uuid.ts';
import { jobsChannel } from '../jobs/job-repository.ts';
import { sql, statement } from '../db/statement.ts';

/**
 * An event whose job is dead is for an operator. The job of a `received` event can be lost only
 * with commits that were lost after its receipt; a `parked` one has had several jobs.
 */
const queueForgotten = statement({
  name: 'webhook-queue-forgotten',
  parameters: { now: 'timestamptz', from: 'uuid' },
  text: ({ now, from }) => sql`
    insert into jobs (kind, payload, unique_key, status, run_at, created_at)
    select 'settle-webhook', jsonb_build_object('eventId', event.id), 'webhook:' || event.id,
           'queued', ${now}, ${now}
      from (select id, received_at from webhook_events
             where id >= ${from} and status = 'received' and payload is not null
             union all
            select id, received_at from webhook_events
             where attention = 'parked' and payload is not null) event
     where not exists (select from jobs where jobs.unique_key = 'webhook:' || event.id
                                          and jobs.status in ('queued', 'running', 'dead'))
     order by event.received_at
        on conflict (unique_key) where unique_key is not null and status in ('queued', 'running')
        do nothing
    returning id, pg_notify('${jobsChannel}', '')`,
});

/** The clock of each process may be wrong by five minutes. */
const clocksDifferMs = 10 * 60_000;

/**
 * Gives every event that waits to be settled a job, if it has none.
 * @param lostSince when the first commit may have been lost.
 */
export async function queueForgottenEvents(
  { db, clock, log }: Pick<LocalContext, 'db' | 'clock' | 'log'>,
  lostSince: Date,
): Promise<void> {
  const from = firstUuidAt(new Date(lostSince.getTime() - clocksDifferMs));
  const queued = await db.query(queueForgotten, { now: clock.now(), from });
  if (queued.length > 0) log.warn({ events: queued.length }, 'events had no job');
}
