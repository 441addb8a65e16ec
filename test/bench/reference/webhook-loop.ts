/** Stores the provider's events and settles them in the background. */
import { createHash, randomUUID } from 'node:crypto';
import type { Pool, Statement } from './database.ts';

/** Stores an event with its job. Parameters: id, hash, payload. */
const store: Statement = {
  name: 'webhook-store',
  text: `
    with stored as (
      insert into webhook_events (id, payload_hash, payload, status, received_at)
      values ($1, $2, $3, 'received', now())
          on conflict (payload_hash) do nothing
      returning id
    ), queued as (
      insert into jobs (kind, payload, unique_key, status, run_at, created_at)
      select 'settle-webhook', jsonb_build_object('eventId', id), 'webhook:' || id, 'queued',
             now(), now()
        from stored
    )
    select id from stored`,
};

/** Parameters: hash. */
export const findByHash: Statement = {
  name: 'webhook-by-hash',
  text: 'select id from webhook_events where payload_hash = $1',
};

/** Locks jobs that no other process has locked, with their events. Parameters: limit. */
const claim: Statement = {
  name: 'webhook-claim',
  text: `
    with due as materialized (
      select id, (payload ->> 'eventId')::uuid as event_id from jobs
       where status = 'queued' and run_at <= now() and kind = 'settle-webhook'
       order by run_at, id limit $1 for update skip locked
    )
    select due.id as job_id, event.id, event.payload
      from due cross join lateral (select * from webhook_events where id = due.event_id) event`,
};

/**
 * Settles a set of events in one statement. Parameters: ids of the events, ids of their jobs, end
 * to end, status, amount.
 */
const settle: Statement = {
  name: 'webhook-settle',
  text: `
    with reported as materialized (
      select * from unnest($1::uuid[], $2::bigint[], $3::text[], $4::text[], $5::numeric[])
             as reported (event_id, job_id, end_to_end, status, amount)
    ), moved as (
      update pix_transactions t
         set status = reported.status, phase = 'SETTLED', updated_at = now(), settled_at = now()
        from reported
       where t.end_to_end = reported.end_to_end and t.operation = 'SEND' and t.settled_at is null
         and t.amount = reported.amount
      returning t.id, reported.event_id, reported.status
    ), noted as (
      insert into pix_timeline (transaction_id, phase, at, event_id, note)
      select id, 'SETTLED', now(), event_id, status from moved
    ), done as (
      update jobs set status = 'done', attempts = 1, finished_at = now()
        from reported where jobs.id = reported.job_id
    )
    update webhook_events e
       set processed_at = now(),
           status = case when e.id in (select event_id from moved)
                         then 'processed' else 'parked' end
      from reported
     where e.id = reported.event_id`,
};

const batch = 200;

interface EventRow {
  readonly job_id: string;
  readonly id: string;
  readonly payload: Buffer;
}

export interface ReportedEvent {
  readonly endToEnd: string;
  readonly status: string;
  readonly amount: number;
}

export const statuses: Readonly<Record<string, string>> = {
  CONFIRMED: 'COMPLETED',
  FAILED: 'FAILED',
};

export function createWebhookLoop(pool: Pool, onError: (error: unknown) => void) {
  const { query } = pool;
  let running: Promise<void> | null = null;

  /** @returns how many were settled. */
  function settleSome(): Promise<number> {
    return pool.transaction(async (run) => {
      const events = await run<EventRow>(claim, [batch]);
      if (events.length === 0) return 0;
      const reported = events.map(({ payload }) => JSON.parse(payload.toString()) as ReportedEvent);
      await run(settle, [
        events.map(({ id }) => id),
        events.map((event) => event.job_id),
        reported.map(({ endToEnd }) => endToEnd),
        reported.map(({ status }) => statuses[status] ?? 'FAILED'),
        reported.map(({ amount }) => amount.toFixed(2)),
      ]);
      return events.length;
    });
  }

  async function drain(): Promise<void> {
    while ((await settleSome()) > 0);
  }

  function wake(): void {
    running ??= drain()
      .catch(onError)
      .finally(() => (running = null));
  }

  // Settles events received at the end of the last drain, and those left by a dead process.
  const poll = setInterval(wake, 100);
  return {
    async receive(payload: Buffer): Promise<{ id: string; duplicate: boolean }> {
      const hash = createHash('sha256').update(payload).digest();
      const [stored] = await query<{ id: string }>(store, [randomUUID(), hash, payload]);
      wake();
      if (stored) return { id: stored.id, duplicate: false };
      const [known] = await query<{ id: string }>(findByHash, [hash]);
      if (!known) throw new Error('an event was neither stored nor found');
      return { id: known.id, duplicate: true };
    },
    async close(): Promise<void> {
      clearInterval(poll);
      await running;
    },
  };
}
