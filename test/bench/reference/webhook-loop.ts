/** Stores the provider's events and settles them in the background. */
import { createHash, randomUUID } from 'node:crypto';
import type { Query, Statement } from './database.ts';

/** Parameters: id, hash, payload. */
const store: Statement = {
  name: 'webhook-store',
  text: `
    insert into webhook_events (id, payload_hash, payload, status, received_at)
    values ($1, $2, $3, 'received', now())
        on conflict (payload_hash) do nothing
    returning id`,
};

/** Parameters: hash. */
const findByHash: Statement = {
  name: 'webhook-by-hash',
  text: 'select id from webhook_events where payload_hash = $1',
};

/** Parameters: limit. */
const waiting: Statement = {
  name: 'webhook-waiting',
  text: `
    select id, payload from webhook_events where status = 'received'
     order by received_at limit $1`,
};

/** One event in one statement. Parameters: event id, end to end, status, amount. */
const settle: Statement = {
  name: 'webhook-settle',
  text: `
    with moved as (
      update pix_transactions
         set status = $3, phase = 'SETTLED', updated_at = now(), settled_at = now()
       where end_to_end = $2 and operation = 'SEND' and settled_at is null and amount = $4
      returning id
    ), noted as (
      insert into pix_timeline (transaction_id, phase, at, event_id, note)
      select id, 'SETTLED', now(), $1::uuid, $3 from moved
    )
    update webhook_events
       set processed_at = now(),
           status = case when exists (select from moved) then 'processed' else 'parked' end
     where id = $1::uuid`,
};

const batch = 200;
/** As many at once as the pool can serve beside the requests. */
const atOnce = 8;

interface EventRow {
  readonly id: string;
  readonly payload: Buffer;
}

interface Told {
  readonly endToEnd: string;
  readonly status: string;
  readonly amount: number;
}

const statuses: Readonly<Record<string, string>> = { CONFIRMED: 'COMPLETED', FAILED: 'FAILED' };

export function createWebhookLoop(query: Query, onError: (error: unknown) => void) {
  let running: Promise<void> | null = null;

  async function settleOne({ id, payload }: EventRow): Promise<void> {
    const { endToEnd, status, amount } = JSON.parse(payload.toString()) as Told;
    await query(settle, [id, endToEnd, statuses[status] ?? 'FAILED', amount.toFixed(2)]);
  }

  async function drain(): Promise<void> {
    for (;;) {
      const events = await query<EventRow>(waiting, [batch]);
      if (events.length === 0) return;
      const queue = events.values();
      const lane = async (): Promise<void> => {
        for (const event of queue) await settleOne(event);
      };
      await Promise.all(Array.from({ length: atOnce }, lane));
    }
  }

  function wake(): void {
    running ??= drain()
      .catch(onError)
      .finally(() => (running = null));
  }

  // What came while the last look was ending, and what a dead process has left.
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
