/**
 * Executed payments whose record a failover has lost: the service cannot settle them, but operators
 * must see them. An event of such a payment is an anomaly, or waits for its transaction, if an open
 * send has the same key and amount.
 */
import { centsFromDecimal } from '../../../src/domain/money.ts';
import type { Notice } from '../bank/notices.ts';
import { hasUnlistedCode } from './evidence.ts';
import type { Names } from '../names.ts';
import type { Scheduler } from '../scheduler.ts';
import type { Webhooks } from '../webhooks.ts';
import type { LostCommits } from './lost-commits.ts';
import type { Oracle } from './oracle.ts';

interface Rest {
  readonly oracle: Oracle;
  readonly lost: LostCommits;
  readonly webhooks: Pick<Webhooks, 'posted'>;
  readonly names: Names;
  readonly scheduler: Scheduler;
}

interface Row {
  readonly status: string;
  readonly end_to_end: string | null;
  readonly idempotency_key: string | null;
  readonly amount: string;
}

interface Event {
  readonly hash: string;
  readonly status: string;
}

/** The statuses in which operators see that an event was not applied. */
const visible: readonly string[] = ['anomaly', 'parked', 'orphaned'];

/** Counts the lost payments, and checks their events against the rows. */
export function checkLostPayments(
  { oracle, lost, webhooks, names, scheduler }: Rest,
  rows: readonly Row[],
  events: readonly Event[],
): void {
  // If only the note of a repeat is lost, the send still exists and its event settles it.
  const isStored = new Set(rows.map((row) => row.end_to_end));
  const lostPayments = oracle.ledger.payments.filter(
    (payment) => lost.hasLostRecord(payment) && !isStored.has(payment.endToEnd),
  );
  for (const { endToEnd } of lostPayments) {
    scheduler.count('payments whose record a failover has lost');
    for (const { hash, status } of events) {
      const notice = webhooks.posted.get(hash);
      if (notice?.endToEnd !== endToEnd || !isComplete(notice)) continue;
      const hasOpenSend = rows.some((row) => isOpenSend(row, notice));
      if (
        hasOpenSend &&
        !visible.includes(status) &&
        !rows.some((row) => fitsUnsent(row, notice))
      ) {
        oracle.violated(`an event of ${names.of('E', endToEnd)}, which is lost, is ${status}`);
      }
      if (hasOpenSend) scheduler.count('lost payments with an open send');
    }
  }
}

/** Whether a readable notice names the key and the amount of the payment. */
function isComplete(notice: Notice): boolean {
  const { isReadable, clientRequestId, amountCents } = notice;
  return isReadable && !hasUnlistedCode(notice) && clientRequestId !== null && amountCents !== null;
}

/**
 * Whether a `failed` notice matches a stored send that was never sent and has no end-to-end id. If
 * two users have the same key, the owner is unknown, but no money has moved.
 */
function fitsUnsent(row: Row, { status, clientRequestId, amountCents }: Notice): boolean {
  return (
    status === 'failed' &&
    row.status === 'FAILED' &&
    row.end_to_end === null &&
    row.idempotency_key === clientRequestId &&
    centsFromDecimal(row.amount) === amountCents
  );
}

function isOpenSend(row: Row, { clientRequestId, amountCents }: Notice): boolean {
  return (
    row.status === 'PROCESSING' &&
    row.end_to_end !== null &&
    row.idempotency_key === clientRequestId &&
    centsFromDecimal(row.amount) === amountCents
  );
}
