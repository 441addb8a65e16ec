/** `webhook show`: one event, what became of it, and its payload. */
import { jobsOfEvent, type InspectedJobRow } from '../db/queries/inspect-jobs.ts';
import { inspectEvent, type ShownEventRow } from '../db/queries/inspect-webhooks.ts';
import { isUuid } from '../domain/uuid.ts';
import type { ItemOutcome } from '../settlement/event-reader.ts';
import { viewOfJob, type JobView } from './jobs-list.ts';
import { OpError, type Op } from './op.ts';
import { viewOfEvent, type EventView } from './webhook-list.ts';
import { redacted } from './webhook-redaction.ts';

export interface WebhookShowInput {
  readonly id: string;
  /** Shows the payload as it came, with whatever it says of people. */
  readonly raw?: boolean;
}

export interface WebhookShown {
  readonly event: EventView;
  /** What became of each item at the last look. */
  readonly items: readonly ItemOutcome[];
  /** The ids of transactions that it waits for. */
  readonly waitsFor: readonly string[];
  /** Its jobs that are kept, newest first. */
  readonly jobs: readonly JobView[];
  /** Parsed, with personal values masked; raw: the text itself; null when it was purged. */
  readonly payload: unknown;
}

const mostJobs = 10;

/**
 * Shows an event.
 * @throws OpError when there is none.
 */
export const showWebhook: Op<WebhookShowInput, WebhookShown> = {
  async run({ db, clock }, { id, raw = false }) {
    const [row] = isUuid(id) ? await db.query<ShownEventRow>(inspectEvent, [id]) : [];
    if (!row) throw new OpError('NOT_FOUND', `there is no event ${id}`);
    const jobs = await db.query<InspectedJobRow>(jobsOfEvent, [id, mostJobs]);
    const now = clock.now();
    const text = row.payload && new TextDecoder().decode(row.payload);
    return {
      event: viewOfEvent(row),
      items: Array.isArray(row.results) ? (row.results as ItemOutcome[]) : [],
      waitsFor: row.waits,
      jobs: jobs.map((job) => viewOfJob(job, now)),
      payload: raw ? text : text && redacted(JSON.parse(text)),
    };
  },
};
