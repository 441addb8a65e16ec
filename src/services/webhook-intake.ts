/**
 * Taking in what the provider posts. An event and its job are one commit; where the loop of this
 * process has room, the job is stored as running under its lease and begins at once, with the event
 * still at hand. If the process dies, the lease runs out and the job is taken up like any other.
 */
import { randomUUIDv7 } from 'node:crypto';
import type { Context } from '../context.ts';
import { storeWebhookEvent, type StoredEventRow } from '../db/queries/store-webhook-event.ts';
import { sha256 } from '../security/digests.ts';
import type { JobPlace } from './job-queue.ts';
import { settleForJob } from './settlement.ts';

export interface ReceivedEvent {
  readonly id: string;
  /** The same bytes were received before. */
  readonly duplicate: boolean;
}

/**
 * Stores an event; it is settled without the caller.
 * @param payload the raw bytes: they are what is stored, and what tells a duplicate.
 */
export async function receiveEvent(context: Context, payload: Buffer): Promise<ReceivedEvent> {
  const place = context.jobs.reserve();
  const receivedAt = context.clock.now();
  let isBegun = false;
  try {
    const { id, duplicate, job_id: jobId } = await store(context, { payload, receivedAt, place });
    if (place && jobId !== null) {
      isBegun = true;
      const event = { id, payload, results: null, received_at: receivedAt };
      place.begin({ id: jobId, kind: 'settle-webhook', payload: { eventId: id } }, (job) =>
        settleForJob(context, job, { eventId: id, event }),
      );
    }
    return { id, duplicate };
  } finally {
    if (!isBegun) place?.leave();
  }
}

interface Intake {
  readonly payload: Buffer;
  readonly receivedAt: Date;
  readonly place: JobPlace | null;
}

async function store(context: Context, intake: Intake): Promise<StoredEventRow> {
  const { payload, receivedAt, place } = intake;
  const hash = sha256(payload);
  // A second look finds the event that a concurrent delivery committed meanwhile.
  for (let look = 0; look < 2; look += 1) {
    const [stored] = await context.db.query<StoredEventRow>(storeWebhookEvent, [
      randomUUIDv7(),
      hash,
      payload,
      receivedAt,
      place?.worker ?? null,
      place?.leasedUntil ?? null,
    ]);
    if (stored) return stored;
  }
  throw new Error('a webhook event was neither stored nor found');
}
