/**
 * The app event of a change of a customer's own limits. The statement is SQL: no trigger writes it,
 * because each send changes the row of the limits, too, and the row has no time.
 */
import { randomUUIDv7 } from 'node:crypto';
import type { LocalContext } from '../context/context.ts';
import { sql, statement } from '../db/statement.ts';
import { jobsChannel } from '../jobs/job-repository.ts';

const announce = statement({
  name: 'pix-limits-changed',
  parameters: { id: 'text', userId: 'int', now: 'timestamptz' },
  text: ({ id, userId, now }) => sql`
    with event as (
      insert into app_events (id, type, user_id, status, at)
      values (${id}, 'limits.changed', ${userId}, 'CHANGED', ${now})
      returning id
    ), queued as (
      insert into jobs (kind, payload, unique_key, status, run_at, created_at)
      select 'deliver-app-event', jsonb_build_object('id', id), 'app-event:' || id, 'queued',
             ${now}, ${now} from event
    )
    select pg_notify('${jobsChannel}', '') from event`,
});

/**
 * Writes the event that the own limits of a customer have changed, where app events are on.
 * Call it in the transaction that changes them.
 */
export async function announceLimits(
  { db, clock, config }: Pick<LocalContext, 'db' | 'clock' | 'config'>,
  userId: number,
): Promise<void> {
  if (config.appEvents === null) return;
  await db.query(announce, { id: `limits_${randomUUIDv7()}`, userId, now: clock.now() });
}
