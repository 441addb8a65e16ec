/** What the commands about events share: which ones are meant, and how their state looks. */
import type { Clock } from '../src/clock.ts';
import type { WebhookFilter } from '../src/operator/webhook-filter.ts';
import type { EventView } from '../src/operator/webhook-list.ts';
import { timeOf, type Moment } from './moments.ts';
import type { Tone } from './tone.ts';

export interface FilterOptions {
  readonly state?: EventView['state'];
  readonly since?: Moment;
  readonly until?: Moment;
  readonly transaction?: string;
}

/** @returns the filter as the ops take it. */
export function filterOf(options: FilterOptions, clock: Clock): WebhookFilter {
  const { state, since, until, transaction } = options;
  return {
    ...(state !== undefined && { state }),
    ...(since !== undefined && { since: timeOf(since, clock) }),
    ...(until !== undefined && { until: timeOf(until, clock) }),
    ...(transaction !== undefined && { transactionId: transaction }),
  };
}

export const stateTones: Readonly<Record<EventView['state'], Tone | null>> = {
  received: null,
  processed: 'good',
  ignored: 'faint',
  parked: 'doubtful',
  orphaned: 'bad',
  anomaly: 'bad',
};

/** Such as `2 applied, 1 ignored`. */
export function outcomesText(outcomes: Readonly<Record<string, number>>): string {
  return Object.entries(outcomes)
    .map(([result, times]) => `${times} ${result}`)
    .join(', ');
}
