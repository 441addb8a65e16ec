/**
 * What the provider tells of a payment or a charge, applied to the transaction that it means. All
 * of it may be done again: an item that was applied is found applied.
 */
import { randomUUIDv7 } from 'node:crypto';
import type { Context } from '../context.ts';
import { findPayees, type PayeeRow } from '../db/queries/find-payees.ts';
import * as pixQueries from '../db/queries/pix-transactions.ts';
import type { PixTransactionRow } from '../db/queries/pix-transactions.ts';
import * as queries from '../db/queries/webhook-events.ts';
import type { WebhookEventRow } from '../db/queries/webhook-events.ts';
import { isConstraintViolation } from '../db/unavailable.ts';
import { decimalFromCents } from '../domain/money.ts';
import { chargeNamed, findMeant } from '../domain/settlement.ts';
import { phasesOpenToSettlement, type PixStatus } from '../domain/pix.ts';
import { readWebhookEvents, type ProviderEvent } from '../provider/webhook-events.ts';
import { moveTransaction, rereadTransaction, type Move } from './pix-transactions.ts';

/** How long an event waits for a transaction that it matches. */
const parkedForMs = 24 * 60 * 60_000;

const firstLookAgainMs = 1_000;
const longestLookAgainMs = 30 * 60_000;

export type ItemResult = 'applied' | 'already' | 'ignored' | 'parked' | 'orphaned' | 'anomaly';

/** What became of one item; ids and words only, no personal data. */
export interface ItemOutcome {
  readonly index: number;
  readonly result: ItemResult;
  readonly reason?: string;
  readonly transactionId?: string;
}

/** An event's status is that of its item that most needs somebody's eye. */
const eventStatusOf: readonly (readonly [ItemResult, string])[] = [
  ['anomaly', 'anomaly'],
  ['parked', 'parked'],
  ['orphaned', 'orphaned'],
  ['applied', 'processed'],
  ['already', 'processed'],
  ['ignored', 'ignored'],
];

/**
 * Applies a stored event, item by item: one bad item never loses the others.
 * @returns when to look again for what matched no transaction yet.
 */
export async function settleEvent(
  context: Context,
  eventId: string,
): Promise<{ readonly parkedUntil: Date | null }> {
  const [event] = await context.db.query<WebhookEventRow>(queries.findWebhookEvent, [eventId]);
  if (!event?.payload) return { parkedUntil: null };
  const lookAgain = nextLook(event.received_at, context.clock.now());
  const settledBefore = finalOutcomes(event.results);
  const outcomes: ItemOutcome[] = [];
  for (const item of readWebhookEvents(parsePayload(event.payload))) {
    const outcome =
      settledBefore.get(item.index) ?? (await settleItemAlone(context, eventId, item));
    outcomes.push(
      outcome.result === 'parked' && !lookAgain ? { ...outcome, result: 'orphaned' } : outcome,
    );
  }
  const status = statusOf(outcomes);
  await context.db.query(queries.finishWebhookEvent, [
    eventId,
    status,
    JSON.stringify(outcomes),
    context.clock.now(),
  ]);
  context.metrics.webhookEvents.inc({ result: status });
  const parked = outcomes.some(({ result }) => result === 'parked');
  return { parkedUntil: parked ? lookAgain : null };
}

/** Reads the bytes as the intake did: a byte order mark is not part of the JSON. */
function parsePayload(payload: Buffer): unknown {
  return JSON.parse(new TextDecoder().decode(payload));
}

/** What an earlier look has settled, so that no item is told or counted twice. */
function finalOutcomes(results: unknown): Map<number, ItemOutcome> {
  const outcomes = Array.isArray(results) ? (results as ItemOutcome[]) : [];
  const final = outcomes.filter(({ result }) => result !== 'parked' && result !== 'orphaned');
  return new Map(final.map((outcome) => [outcome.index, outcome]));
}

/** A row that a constraint refuses is this item's affair; a database that is away is everyone's. */
async function settleItemAlone(
  context: Context,
  eventId: string,
  item: ProviderEvent,
): Promise<ItemOutcome> {
  try {
    return await settleItem(context, eventId, item);
  } catch (error) {
    if (!isConstraintViolation(error)) throw error;
    context.metrics.pixAnomalies.inc();
    context.log.error({ error, eventId, item: item.index }, 'an event breaks a constraint');
    return { index: item.index, result: 'anomaly', reason: 'breaks_a_constraint' };
  }
}

/** @returns the next look, ever further apart, or null once the event has waited long enough. */
function nextLook(receivedAt: Date, now: Date): Date | null {
  const waitedMs = now.getTime() - receivedAt.getTime();
  if (waitedMs >= parkedForMs) return null;
  const delayMs = Math.min(longestLookAgainMs, Math.max(firstLookAgainMs, waitedMs));
  return new Date(now.getTime() + delayMs);
}

function statusOf(outcomes: readonly ItemOutcome[]): string {
  const results = new Set(outcomes.map(({ result }) => result));
  return eventStatusOf.find(([result]) => results.has(result))?.[1] ?? 'ignored';
}

async function settleItem(
  context: Context,
  eventId: string,
  item: ProviderEvent,
): Promise<ItemOutcome> {
  const { index } = item;
  if (item.kind === 'ignored' || item.status === null || item.status === 'PROCESSING') {
    return { index, result: 'ignored', reason: item.ignoredBecause ?? 'processing' };
  }
  const candidates = await context.db.query<PixTransactionRow>(pixQueries.findCandidates, [
    item.ids.endToEnd,
    item.ids.clientRequestId,
    item.ids.transactionIdentification,
    item.ids.providerTxid,
  ]);
  const match = findMeant(item, candidates);
  const told: Told = { eventId, item, status: item.status };
  switch (match.kind) {
    case 'transaction':
      return { index, ...(await settleTransaction(context, told, match.transaction)) };
    case 'contradiction':
      return { index, ...anomaly(context, match.transaction.id, match.reason) };
    case 'paid_before':
      return { index, result: 'already', transactionId: match.transaction.id };
    case 'none':
      return {
        index,
        ...(await settleUnmatched(context, told, chargeNamed(item, candidates)?.user_id)),
      };
  }
}

interface Told {
  readonly eventId: string;
  readonly item: ProviderEvent;
  readonly status: Exclude<PixStatus, 'PROCESSING'>;
}

type Settled = Omit<ItemOutcome, 'index'>;

async function settleTransaction(
  context: Context,
  told: Told,
  transaction: PixTransactionRow,
): Promise<Settled> {
  const { id } = transaction;
  const move = settlementOf(told, transaction);
  // What was read before a payment could leave may have matched without its end-to-end id, which
  // it may have by now: another one's event must not move it.
  const isOpen = move.from.includes(transaction.phase);
  const moved = isOpen && (await moveTransaction(context, id, move));
  if (moved) return { result: 'applied', transactionId: id };
  const stored = await rereadTransaction(context, transaction);
  if (wasPaidByAnother(stored, told)) {
    return settleUnmatched(context, told, stored.user_id);
  }
  if (stored.status === told.status) return { result: 'already', transactionId: id };
  if (stored.status !== 'PROCESSING') return anomaly(context, id, 'contradicts_final_status');
  // No payment of ours can have left yet: the transaction may still come to where this fits.
  return { result: 'parked', reason: 'not_paying_yet', transactionId: id };
}

/** Of two payments of one charge that are told at once, the second one is received on its own. */
function wasPaidByAnother(stored: PixTransactionRow, { item }: Told): boolean {
  const { endToEnd } = item.ids;
  const { operation, end_to_end: paidBy } = stored;
  return operation === 'CHARGE' && endToEnd !== null && paidBy !== null && paidBy !== endToEnd;
}

function settlementOf(told: Told, transaction: PixTransactionRow): Move {
  const { status, item, eventId } = told;
  const charge = transaction.operation === 'CHARGE';
  const unsure = transaction.outcome === null || transaction.outcome === 'unknown';
  return {
    // A charge can be paid as soon as the provider has made it, whether or not we heard of it.
    from: charge ? ['RESERVED', ...phasesOpenToSettlement] : phasesOpenToSettlement,
    to: 'SETTLED',
    status,
    ...(unsure && { outcome: status === 'COMPLETED' ? 'accepted' : 'rejected' }),
    ...(status === 'FAILED' && { failureCode: item.reason ?? 'PROVIDER_REJECTED' }),
    endToEnd: charge ? item.ids.endToEnd : null,
    providerTxid: item.ids.providerTxid,
    timeline: [{ phase: 'SETTLED', eventId, note: status }],
  };
}

/**
 * A PIX that came in and completes no charge is recorded: for the owner of the charge that it pays
 * once more, or for the account that it names.
 */
async function settleUnmatched(
  context: Context,
  told: Told,
  chargeOwner: number | undefined,
): Promise<Settled> {
  const { item, eventId, status } = told;
  const unmatched: Settled = { result: 'parked', reason: 'no_match' };
  if (item.kind !== 'received' || status !== 'COMPLETED') return unmatched;
  const { endToEnd, providerTxid } = item.ids;
  if (endToEnd === null || item.amountCents === null || item.amountCents <= 0) return unmatched;
  const userId = chargeOwner ?? (await payeeOf(context, item));
  if (userId === null) return unmatched;
  const [received] = await context.db.query<{ id: string }>(pixQueries.recordReceived, [
    randomUUIDv7(),
    userId,
    decimalFromCents(item.amountCents),
    item.payee.key,
    endToEnd,
    providerTxid,
    context.clock.now(),
    eventId,
  ]);
  return received ? { result: 'applied', transactionId: received.id } : { result: 'already' };
}

/** @returns the one user whose account an item names, or null: two would be a guess. */
async function payeeOf(context: Context, { payee }: ProviderEvent): Promise<number | null> {
  const { document, accountNumber, key } = payee;
  const payees = await context.db.query<PayeeRow>(findPayees, [document, accountNumber, key]);
  return payees.length === 1 ? (payees[0]?.user_id ?? null) : null;
}

function anomaly(context: Context, transactionId: string, reason: string): Settled {
  context.metrics.pixAnomalies.inc();
  context.log.error({ transactionId, reason }, 'an event contradicts a stored transaction');
  return { result: 'anomaly', reason, transactionId };
}
