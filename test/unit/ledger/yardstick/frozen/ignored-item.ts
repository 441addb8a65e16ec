/** The decision about an item that moves nothing. */
import { isSameId } from '../../../../../src/domain/pix.ts';
import {
  unreadReasons,
  type IgnoredBecause,
  type WebhookItem,
} from '../../../../../src/provider/webhook-events.ts';
import type { Decision } from './decision.ts';
import { chargeNamed, isOfOtherPayment, openNamed } from './match.ts';
import type { CandidateRow } from '../../../../../src/ledger/transaction-repository.ts';

/**
 * Whether the decision about an item depends on stored rows: for most ignored items it does not.
 */
export function needsFacts({ kind, status, ids, ignoredBecause }: WebhookItem): boolean {
  const isIgnored = kind === 'ignored' || status === null || status === 'PROCESSING';
  if (!isIgnored || kind === 'held') return true;
  const reason = ignoredBecause ?? 'processing';
  const mayContradict =
    reason === 'not_received' || reason === 'contradictory_member' || notUnderstood.has(reason);
  return mayContradict && Object.values(ids).some((id) => id !== null);
}

/** Reasons for which an item is not understood although it may end an open transaction. */
const notUnderstood: ReadonlySet<IgnoredBecause> = new Set([
  ...unreadReasons,
  'reversal',
] satisfies IgnoredBecause[]);

/**
 * An item that moves nothing may still contradict a received PIX or concern an open transaction.
 */
export function decideIgnored(item: WebhookItem, candidates: readonly CandidateRow[]): Decision {
  const reason = item.ignoredBecause ?? 'processing';
  const ignored: Decision = { kind: 'skip', result: 'ignored', reason };
  if (reason === 'contradictory_member') {
    return { kind: 'suspect', reason, transaction: openNamed(item, candidates) };
  }
  if (!needsFacts(item)) return ignored;
  const received = reason === 'not_received' ? receivedAlready(item, candidates) : undefined;
  if (received) return { kind: 'flag', transaction: received, reason: 'contradicts_final_status' };
  // A failed receipt may be the end of a send; for an open charge it has no meaning.
  const sends = candidates.filter(({ operation }) => operation === 'SEND');
  const transaction =
    openNamed(item, reason === 'not_received' ? sends : candidates) ??
    (mayBeRefund.has(reason) ? completedBy(item, candidates) : undefined);
  const isSend = transaction?.operation === 'SEND';
  if (isSend && item.status === 'FAILED' && isOfOtherPayment(item, transaction)) {
    return { kind: 'flag', transaction, reason: 'other_provider_id' };
  }
  return transaction ? { kind: 'unread', transaction, reason } : ignored;
}

/** Reasons for which an item about a completed transaction may be a refund that is lost. */
const mayBeRefund: ReadonlySet<string> = new Set([
  'reversal',
  'unreadable_amount',
] satisfies IgnoredBecause[]);

/** @returns the completed transaction with the end-to-end id of an item. */
function completedBy(
  { ids: { endToEnd } }: WebhookItem,
  candidates: readonly CandidateRow[],
): CandidateRow | undefined {
  return candidates.find((one) => one.status === 'COMPLETED' && isSameId(one.endToEnd, endToEnd));
}

/** @returns the transaction that the now failed PIX had completed; without an id, its charge. */
function receivedAlready(
  item: WebhookItem,
  candidates: readonly CandidateRow[],
): CandidateRow | undefined {
  const { endToEnd } = item.ids;
  const received = candidates.filter(
    ({ operation, status }) => operation !== 'SEND' && status === 'COMPLETED',
  );
  return endToEnd === null
    ? chargeNamed(item, received)
    : received.find(({ endToEnd: stored }) => isSameId(stored, endToEnd));
}
