/** `webhook show`: one event, what became of it, and its payload. */
import type { ItemOutcome } from '../settlement/event-reader.ts';
import { findJobs } from './job-admin-repository.ts';
import { viewOfJob, type JobView } from './jobs-list.ts';
import { OpError, type Op } from './op.ts';
import { viewOfEvent, type EventView } from './webhook-list.ts';
import { redacted } from './webhook-redaction.ts';
import { findEvent } from './webhook-repository.ts';

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
  async run(context, { id, raw = false }) {
    const event = await findEvent(context, id);
    if (!event) throw new OpError('NOT_FOUND', `there is no event ${id}`);
    const jobs = await findJobs(context, { eventId: event.id, limit: mostJobs });
    const now = context.clock.now();
    const text = event.payload && new TextDecoder().decode(event.payload);
    return {
      event: viewOfEvent(event),
      items: Array.isArray(event.results) ? (event.results as ItemOutcome[]) : [],
      waitsFor: event.waitsFor,
      jobs: jobs.map((job) => viewOfJob(job, now)),
      payload: raw ? text : text && redacted(JSON.parse(text)),
    };
  },
};
