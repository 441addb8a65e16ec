/**
 * Taking in what the provider posts. An event and its job are one commit. An event that is nothing
 * but the end of one send is settled in that commit, too. Of any other the job follows: where the
 * loop of this process has room, it is stored as running under the loop's lease and begins at once,
 * with the event still at hand. If the process dies, the lease runs out and the job is taken up
 * like any other.
 */
import { randomUUIDv7 } from 'node:crypto';
import type { Context } from '../context.ts';
import { storeWebhookEvent, type StoredEventRow } from '../db/queries/store-webhook-event.ts';
import { readWebhookEvents, type ProviderEvent } from '../provider/webhook-events.ts';
import { sha256 } from '../security/digests.ts';
import type { JobPlace } from '../jobs/queue.ts';
import { endOfSend } from './settle-at-once.ts';
import { settleForJob } from './settlement.ts';

/** What was posted. */
export interface PostedEvent {
  /** The bytes: they are what is stored, and what tells a duplicate. */
  readonly payload: Buffer;
  /** The same, parsed; undefined when its job is to parse it. */
  readonly content: unknown;
}

export interface ReceivedEvent {
  readonly id: string;
  /** The same bytes were received before. */
  readonly duplicate: boolean;
}

/** Stores an event; where it is not settled at once, it is settled without the caller. */
export async function receiveEvent(context: Context, posted: PostedEvent): Promise<ReceivedEvent> {
  const isReadHere = posted.content !== undefined && posted.payload.length <= mostReadBytes;
  const items = isReadHere ? readWebhookEvents(posted.content) : null;
  const place = context.jobs.reserve();
  const receivedAt = context.clock.now();
  let isBegun = false;
  try {
    const stored = await store(context, { payload: posted.payload, items, receivedAt, place });
    const { id, duplicate, settled, job_id: jobId } = stored;
    if (settled) context.metrics.webhookEvents.inc({ result: 'processed' });
    if (place && jobId !== null) {
      isBegun = true;
      const event = items && { items, before: [], receivedAt, lookedAt: null };
      place.begin({ id: jobId, kind: 'settle-webhook', payload: { eventId: id } }, (job) =>
        settleForJob(context, job, { eventId: id, ...(event && { event }) }),
      );
    }
    return { id, duplicate };
  } finally {
    if (!isBegun) place?.leave();
  }
}

/** A longer payload may hold hundreds of items: its job reads it, a piece at a time. */
const mostReadBytes = 4_096;

interface Intake {
  readonly payload: Buffer;
  /** Null where they were not read. */
  readonly items: readonly ProviderEvent[] | null;
  readonly receivedAt: Date;
  readonly place: JobPlace | null;
}

async function store(context: Context, intake: Intake): Promise<StoredEventRow> {
  const { payload, items, receivedAt, place } = intake;
  const hash = sha256(payload);
  const end = items && endOfSend(items);
  // A second look finds the event that a concurrent delivery committed meanwhile.
  for (let look = 0; look < 2; look += 1) {
    const [stored] = await context.db.query<StoredEventRow>(storeWebhookEvent, [
      randomUUIDv7(),
      hash,
      payload,
      receivedAt,
      place?.worker ?? null,
      place?.leasedUntil ?? null,
      end?.endToEnd ?? null,
      end?.clientRequestId ?? null,
      end?.providerTxid ?? null,
      end?.amount ?? null,
      end?.status ?? null,
      end?.failureCode ?? null,
    ]);
    if (stored) return stored;
  }
  throw new Error('a webhook event was neither stored nor found');
}
