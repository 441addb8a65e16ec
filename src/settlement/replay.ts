/** Settling a stored event once more for an operator, or only showing what that would do. */
import type { LocalContext } from '../context/context.ts';
import { rolledBack } from '../db/rolled-back.ts';
import type { PixStatus } from '../domain/pix.ts';
import { uncounted } from '../telemetry/uncounted.ts';
import type { ItemOutcome } from './event-reader.ts';
import { findEvent, type WebhookEventStatus } from './event-repository.ts';
import { settleEvent, type Settlement } from './settle-event.ts';
import { findStatuses } from '../ledger/transaction-repository.ts';

/** There is nothing to settle from: no such event, or its payload was purged with age. */
export type NothingToReplay =
  { readonly kind: 'missing' } | { readonly kind: 'purged'; readonly status: WebhookEventStatus };

export type Replay = NothingToReplay | ({ readonly kind: 'replayed' } & Settlement);

/**
 * Settles an event again from its stored payload, now, whatever its status: every item is settled
 * again, and what was applied is found applied. What still matches nothing is parked for another
 * day, and put into the queue in the same commit.
 */
export async function replayEvent(context: LocalContext, eventId: string): Promise<Replay> {
  const waitingSince = context.clock.now();
  const options = { force: true, waitingSince };
  const settlement = await settleEvent(context, eventId, options);
  return settlement ? { kind: 'replayed', ...settlement } : nothingToReplay(context, eventId);
}

async function nothingToReplay(context: LocalContext, eventId: string): Promise<NothingToReplay> {
  const event = await findEvent(context, eventId);
  return event ? { kind: 'purged', status: event.status } : { kind: 'missing' };
}

/** The result that a replay would have for an item. */
export interface ItemPreview extends ItemOutcome {
  /** Its transaction's status before and after; `from` is null if the replay would store it. */
  readonly from?: PixStatus | null;
  readonly to?: PixStatus;
}

export type Preview =
  | NothingToReplay
  | {
      readonly kind: 'preview';
      readonly status: WebhookEventStatus;
      /** The status of the event after a replay. */
      readonly statusAfter: WebhookEventStatus;
      readonly items: readonly ItemPreview[];
    };

/**
 * Replays an event in a transaction that is rolled back. Nothing is changed, counted or logged.
 * @throws OvertakenError when other processes settle it meanwhile at every attempt.
 */
export async function previewReplay(context: LocalContext, eventId: string): Promise<Preview> {
  const silent = context.log.child({}, { level: 'silent' });
  const event = await findEvent(context, eventId);
  const { replayed, after } = await rolledBack(context.db, async (db) => {
    const inside = { ...context, db, log: silent, metrics: uncounted };
    const replay = await replayEvent(inside, eventId);
    const ids = replay.kind === 'replayed' ? listTransactions(replay) : [];
    return { replayed: replay, after: await findStatuses(inside, ids) };
  });
  if (replayed.kind !== 'replayed') return replayed;
  const before = await findStatuses(context, listTransactions(replayed));
  const items = replayed.items.map((item) => withStatuses(item, before, after));
  const { status: statusAfter } = replayed;
  return { kind: 'preview', status: event?.status ?? statusAfter, statusAfter, items };
}

function listTransactions({ items }: Settlement): string[] {
  return [...new Set(items.flatMap(({ transactionId }) => transactionId ?? []))];
}

type Statuses = ReadonlyMap<string, PixStatus>;

function withStatuses(item: ItemOutcome, before: Statuses, after: Statuses): ItemPreview {
  const { transactionId = '', ...unnamed } = item;
  const to = after.get(transactionId);
  if (to === undefined) return item;
  const stored = before.get(transactionId);
  const changes = item.result === 'applied' || item.reason === 'corrected';
  const from = changes ? (stored ?? null) : to;
  // The id of a transaction that was rolled back identifies nothing.
  if (stored === undefined) return { ...unnamed, from, to };
  const isOfEarlierAttempt = item.result === 'applied' && from === to;
  return { ...item, ...(isOfEarlierAttempt && { result: 'already' }), from, to };
}
