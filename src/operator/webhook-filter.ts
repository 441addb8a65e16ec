/** Which events a command is about. */
import type { LocalContext } from '../context.ts';
import type { WebhookEventStatus } from '../domain/settlement.ts';
import { isUuid } from '../domain/uuid.ts';
import { OpError } from './op.ts';
import { findEventIdsOfTransaction, type EventFilter } from './webhook-repository.ts';

/** What is left out does not matter; times are ISO 8601 texts. */
export interface WebhookFilter {
  readonly state?: WebhookEventStatus;
  readonly since?: string;
  readonly until?: string;
  readonly eventIds?: readonly string[];
  /** Events of its timeline, and those that wait for one of its ids. */
  readonly transactionId?: string;
}

/** More than a transaction has, unless its provider goes on contradicting itself. */
const mostOfTransaction = 1_000;

/**
 * @returns the filter with its texts read, and with the events of the transaction.
 * @throws OpError when an id or a time is none.
 */
export async function readFilter(
  context: LocalContext,
  { state, since, until, eventIds, transactionId }: WebhookFilter,
): Promise<EventFilter> {
  const wrong = [...(eventIds ?? []), ...(transactionId === undefined ? [] : [transactionId])].find(
    (id) => !isUuid(id),
  );
  if (wrong !== undefined) throw new OpError('REFUSED', `${wrong} is no id`);
  // As the database writes them.
  const named = eventIds?.map((id) => id.toLowerCase()) ?? null;
  const ids = transactionId === undefined ? named : await idsOf(context, transactionId, named);
  return { status: state ?? null, since: timeOf(since), until: timeOf(until), ids };
}

function timeOf(text: string | undefined): Date | null {
  if (text === undefined) return null;
  const time = new Date(text);
  if (Number.isNaN(time.getTime())) throw new OpError('REFUSED', `${text} is no time`);
  return time;
}

async function idsOf(
  context: LocalContext,
  transactionId: string,
  among: readonly string[] | null,
): Promise<readonly string[]> {
  const ids = await findEventIdsOfTransaction(context, transactionId, mostOfTransaction);
  return among === null ? ids : ids.filter((id) => among.includes(id));
}
