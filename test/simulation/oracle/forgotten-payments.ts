/**
 * Payments that were made and whose record a failover has lost: they cannot be settled, but they
 * must be seen. What the provider tells of them stands beside an open send with the same key and
 * amount as an anomaly.
 */
import { centsFromDecimal } from '../../../src/domain/money.ts';
import type { Notice } from '../bank/notices.ts';
import { isDuplicate } from './evidence.ts';
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

/** Counts the payments that were lost, and holds what was told of them against the rows. */
export function checkForgotten(
  { oracle, lost, webhooks, names, scheduler }: Rest,
  rows: readonly Row[],
  events: readonly Event[],
): void {
  // Where no more than the note of a repeat is lost, the send is there, and its event settles it.
  const isStored = new Set(rows.map((row) => row.end_to_end));
  const forgotten = oracle.ledger.payments.filter(
    (payment) => lost.hasForgotten(payment) && !isStored.has(payment.endToEnd),
  );
  for (const { endToEnd } of forgotten) {
    scheduler.count('payments whose record a failover has lost');
    for (const { hash, status } of events) {
      const notice = webhooks.posted.get(hash);
      if (notice?.endToEnd !== endToEnd || !tellsAll(notice)) continue;
      const isBeside = rows.some((row) => standsBeside(row, notice));
      if (isBeside && status !== 'anomaly' && !rows.some((row) => fitsUnsent(row, notice))) {
        oracle.violated(`an event of ${names.of('E', endToEnd)}, which is lost, is ${status}`);
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

/**
 * Whether a failure says of a send that never left, and so has no end-to-end id, what is stored.
 * Two users may have one key: whose failure it is cannot be known then, and no money has moved.
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

function standsBeside(row: Row, { clientRequestId, amountCents }: Notice): boolean {
  return (
    row.status === 'PROCESSING' &&
    row.end_to_end !== null &&
    row.idempotency_key === clientRequestId &&
    centsFromDecimal(row.amount) === amountCents
  );
}
