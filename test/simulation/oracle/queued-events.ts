/** The queue of events at rest: what still waits for a transaction, and nothing else. */
import type { Store } from '../store.ts';

/** An event of the queue that waits for nothing. */
interface QueuedInVain {
  readonly due_at: Date;
  /** Null: there is no such event. */
  readonly status: string | null;
}

/** @returns the events of the queue of which no item waits: the next attempt removes them. */
export function findQueuedInVain(store: Pick<Store, 'rows'>): Promise<QueuedInVain[]> {
  return store.rows<QueuedInVain>(
    `select due_at, status from webhook_queue left join webhook_events on id = event_id
      where results is null or not results @> '[{"result": "parked"}]'
      order by due_at, event_id`,
  );
}

/** An event whose attempt has not ended: its process has died, and another one attempts it then. */
interface BegunEvent {
  readonly due_at: Date;
}

/** @returns the events of the queue at which an attempt has begun. */
export function findBegun(store: Pick<Store, 'rows'>): Promise<BegunEvent[]> {
  return store.rows<BegunEvent>('select due_at from webhook_queue where attempts > 0');
}
