/**
 * Events that wait to be settled and have no job. Every statement that stores such an event stores
 * its job, so that there is none, except after a loss of commits: a lost job's id is given again to
 * the job of another event, which a run of the lost one then ends. The provider has an answer to
 * the event and does not post it again, so that the end of a pause is the time to find it. It is
 * SQL, because the simulation runs it.
 */
import type { LocalContext } from '../context/context.ts';
import { jobsChannel, onOpenJob } from '../jobs/job-repository.ts';
import { sql, statement } from '../db/statement.ts';

/** An event whose job is dead is for an operator. */
const queueForgotten = statement({
  name: 'webhook-queue-forgotten',
  parameters: { now: 'timestamptz' },
  text: ({ now }) => sql`
    insert into jobs (kind, payload, unique_key, status, run_at, created_at)
    select 'settle-webhook', jsonb_build_object('eventId', event.id), 'webhook:' || event.id,
           'queued', ${now}, ${now}
      from webhook_events event
     where event.status in ('received', 'parked') and event.payload is not null
       and not exists (select from jobs where jobs.unique_key = 'webhook:' || event.id
                                          and jobs.status in ('queued', 'running', 'dead'))
     order by event.received_at
        ${onOpenJob} do nothing
    returning id, pg_notify('${jobsChannel}', '')`,
});

/** Gives every event that waits to be settled a job, if it has none. */
export async function queueForgottenEvents({
  db,
  clock,
  log,
}: Pick<LocalContext, 'db' | 'clock' | 'log'>): Promise<void> {
  const queued = await db.query(queueForgotten, { now: clock.now() });
  if (queued.length > 0) log.warn({ events: queued.length }, 'events had no job');
}
