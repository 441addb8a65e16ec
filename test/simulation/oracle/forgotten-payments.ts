/**
 * Payments that were made and whose record a failover has lost: they cannot be settled, but they
 * must be seen. What the provider tells of them stands beside an open send with the same key and
 * amount as an anomaly.
 */
import { centsFromDecimal } from '../../../src/domain/money.ts';
import type { Notice } from '../bank/notices.ts';
import { isDuplicate } from './evidence.ts';
import type { EventRow, FinalRow, Rest } from './invariants.ts';

export function checkForgotten(
  { truth, lost, webhooks, names, scheduler }: Rest,
  rows: readonly FinalRow[],
  events: readonly EventRow[],
): void {
  const forgotten = truth.ledger.payments.filter((payment) => lost.hasForgotten(payment));
  for (const { endToEnd } of forgotten) {
    scheduler.count('payments whose record a failover has lost');
    for (const { hash, status } of events) {
      const notice = webhooks.posted.get(hash);
      if (notice?.endToEnd !== endToEnd || !tellsAll(notice)) continue;
      const isBeside = rows.some((row) => standsBeside(row, notice));
      if (isBeside && status !== 'anomaly') {
        truth.violated(`an event of ${names.of('E', endToEnd)}, which is lost, is ${status}`);
      }
      if (isBeside) scheduler.count('lost payments that are seen beside an open send');
    }
  }
}

/** Whether it says whose key the payment has, and how much it was, in words that are read. */
function tellsAll(notice: Notice): boolean {
  const { isReadable, clientRequestId, amountCents } = notice;
  return isReadable && !isDuplicate(notice) && clientRequestId !== null && amountCents !== null;
}

function standsBeside(row: FinalRow, { clientRequestId, amountCents }: Notice): boolean {
  return (
    row.status === 'PROCESSING' &&
    row.end_to_end !== null &&
    row.idempotency_key === clientRequestId &&
    centsFromDecimal(row.amount) === amountCents
  );
}
