/** Statements about stored events that no other statement of the settlement shares. */
import type { LocalContext } from '../context.ts';
import type { Statement } from '../db/database.ts';
import { jobsChannel } from '../db/queries/jobs.ts';

/**
 * Queues a job for each event that waits to be settled and has none: a failover that loses commits
 * may give the id of a lost job to this event's job, which a run of the lost one then ends. An
 * event whose job is dead is left to an operator. Parameters: now, received before.
 */
const queueForgotten: Statement = {
  name: 'webhook-queue-forgotten',
  text: `
    insert into jobs (kind, payload, unique_key, status, run_at, created_at)
    select 'settle-webhook', jsonb_build_object('eventId', event.id), 'webhook:' || event.id,
           'queued', $1, $1
      from webhook_events event
     where event.status in ('received', 'parked') and event.received_at < $2
       and event.payload is not null
       and not exists (select from jobs where jobs.unique_key = 'webhook:' || event.id
                                          and jobs.status in ('queued', 'running'))
       and not exists (select from jobs where jobs.status = 'dead'
                                          and jobs.unique_key = 'webhook:' || event.id)
     order by event.received_at limit 500
        on conflict (unique_key) where unique_key is not null and status in ('queued', 'running')
        do nothing
    returning id, pg_notify('${jobsChannel}', '')`,
};

/** Longer than an event waits for its job's first run, in milliseconds. */
const forgottenAfterMs = 5 * 60_000;

/** Gives every event that waits to be settled a job, if it has none. */
export async function queueForgottenEvents(context: LocalContext): Promise<void> {
  const now = context.clock.now();
  const before = new Date(now.getTime() - forgottenAfterMs);
  const queued = await context.db.query(queueForgotten, [now, before]);
  if (queued.length > 0) context.log.warn({ events: queued.length }, 'events had no job');
}
