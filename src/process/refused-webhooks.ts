/**
 * Counts the webhooks that are refused, so that a wrong secret shows: nothing else of them is
 * stored. A process stores its counts at most once a second, because anyone can post such webhooks.
 */
import type { Clock } from '../clock.ts';
import type { Database } from '../db/database.ts';
import { webhookRefusals, type WebhookRefusal } from '../domain/webhook-refusal.ts';
import type { Log } from '../telemetry/log.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import { addRefusals } from './refusal-repository.ts';

const storeAfterMs = 1_000;

/** The counts of one process. */
export class RefusedWebhooks {
  readonly #parts: Parts;
  #counts = new Map<WebhookRefusal, number>();
  #isScheduled = false;

  constructor(parts: Parts) {
    this.#parts = parts;
    // A counter that is absent at first shows no increase.
    for (const reason of webhookRefusals) parts.metrics.webhookRefusals.inc({ reason }, 0);
  }

  /** Counts one. */
  count(reason: WebhookRefusal): void {
    const { clock, metrics } = this.#parts;
    metrics.webhookRefusals.inc({ reason });
    this.#add(reason, 1);
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    clock.after(storeAfterMs, () => void this.store());
  }

  /** Stores the counts; after a failure, the next ones are stored together with them. */
  async store(): Promise<void> {
    this.#isScheduled = false;
    const counts = this.#counts;
    if (counts.size === 0) return;
    this.#counts = new Map();
    const { log } = this.#parts;
    log.warn({ refusals: Object.fromEntries(counts) }, 'webhooks were refused');
    try {
      await addRefusals(this.#parts, counts);
    } catch (error) {
      for (const [reason, refusals] of counts) this.#add(reason, refusals);
      log.warn({ error }, 'the refused webhooks could not be counted in the database');
    }
  }

  #add(reason: WebhookRefusal, refusals: number): void {
    this.#counts.set(reason, (this.#counts.get(reason) ?? 0) + refusals);
  }
}

interface Parts {
  readonly db: Database;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Pick<Metrics, 'webhookRefusals'>;
}
