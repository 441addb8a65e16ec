/**
 * The counts of refused webhooks. The statement is SQL: it adds to rows that other processes add
 * to.
 */
import type { Clock } from '../clock.ts';
import type { Database } from '../db/database.ts';
import { sql, statement } from '../db/statement.ts';
import type { WebhookRefusal } from '../domain/webhook-refusal.ts';

const minuteMs = 60_000;

/** Adds to the rows in one order, so that concurrent statements cannot deadlock. */
const add = statement({
  name: 'webhook-refusals-add',
  parameters: { counts: 'jsonb', minute: 'timestamptz', now: 'timestamptz' },
  text: ({ counts, minute, now }) => sql`
    insert into webhook_refusals as stored (minute, reason, refusals, last_at)
    select ${minute}, reason, refusals, ${now}
      from jsonb_to_recordset(${counts}) as counted (reason text, refusals int)
     order by reason
        on conflict (minute, reason) do update
       set refusals = stored.refusals + excluded.refusals,
           last_at = greatest(stored.last_at, excluded.last_at)`,
});

/** Adds counts to those of the current minute. */
export async function addRefusals(
  { db, clock }: { readonly db: Database; readonly clock: Clock },
  counts: ReadonlyMap<WebhookRefusal, number>,
): Promise<void> {
  const now = clock.now();
  const minute = new Date(Math.floor(now.getTime() / minuteMs) * minuteMs);
  const rows = [...counts].map(([reason, refusals]) => ({ reason, refusals }));
  await db.query(add, { counts: JSON.stringify(rows), minute, now });
}
