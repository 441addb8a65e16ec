/** Reads stored events: their items, and the results of earlier attempts. */
import { nextTurn } from '../clock.ts';
import type { Dialects } from '../provider/dialect/dialects.ts';
import type { WebhookItem } from '../provider/webhook-events.ts';
import type { Settled } from './apply.ts';
import type { WebhookEventRow } from './event-repository.ts';
import type { CandidateRow } from '../ledger/transaction-repository.ts';

/** The result of one item of an event. */
export interface ItemOutcome extends Settled {
  /** Its place in the payload, from 0. */
  readonly index: number;
}

/** The parts of a stored event that its settlement needs. */
export interface ReadEvent {
  readonly items: readonly WebhookItem[];
  /** The results of the items at the last attempt. */
  readonly before: readonly ItemOutcome[];
  readonly receivedAt: Date;
  /** The time of the last attempt, if there was one. */
  readonly attemptedAt: Date | null;
  /**
   * The candidates of the event's only item, read before the event was stored. Only a move may use
   * them, because it is conditional on the stored state.
   */
  readonly candidates?: readonly CandidateRow[];
}

/** @returns the settled transactions that earlier attempts found, by the index of the item. */
export function mapSettledIds({ before }: Pick<ReadEvent, 'before'>): ReadonlyMap<number, string> {
  return new Map(
    before.flatMap(({ index, result, transactionId }) => {
      const isSettled = result === 'applied' || result === 'already';
      return isSettled && transactionId !== undefined ? [[index, transactionId] as const] : [];
    }),
  );
}

/** @returns null for an event whose payload was purged. */
export async function readEvent(
  dialects: Dialects,
  event: WebhookEventRow,
): Promise<ReadEvent | null> {
  const { payload, results, receivedAt, processedAt: attemptedAt } = event;
  if (!payload) return null;
  const before = Array.isArray(results) ? (results as ItemOutcome[]) : [];
  return { items: await readItems(dialects, payload, receivedAt), before, receivedAt, attemptedAt };
}

/** The items to read before the event loop gets a turn. */
const itemsAtATime = 256;

async function readItems(
  dialects: Dialects,
  payload: Buffer,
  receivedAt: Date,
): Promise<WebhookItem[]> {
  const items: WebhookItem[] = [];
  for (const item of dialects.eachStoredEvent(payload, receivedAt)) {
    if (items.push(item) % itemsAtATime === 0) await nextTurn();
  }
  return items;
}
