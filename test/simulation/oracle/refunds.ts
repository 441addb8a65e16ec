/**
 * Checks the stored refunds against the ledger: each refund of the bank is recorded once, for the
 * user and with the transaction that it refunds, as soon as an event reports it; their sum never
 * exceeds that transaction; and no other refund is recorded.
 */
import { centsFromDecimal } from '../../../src/domain/money.ts';
import type { RefundNotice } from '../bank/later-notices.ts';
import type { Ledger, Refund } from '../bank/ledger.ts';
import type { Delivery } from '../delivery.ts';
import type { Names } from '../names.ts';
import type { Scheduler } from '../scheduler.ts';
import { isSameReturn } from '../../../src/domain/pix.ts';
import type { LostCommits } from './lost-commits.ts';
import { isReturn, type Returns } from './returns.ts';
import type { EventRow, FinalRow } from './stored-rows.ts';

interface Tracked {
  readonly notice: RefundNotice;
  readonly hash: string;
  readonly delivery: Delivery;
}

export interface RefundsOptions {
  readonly ledger: Ledger;
  readonly lost: LostCommits;
  readonly returns: Returns;
  readonly names: Names;
  readonly scheduler: Scheduler;
  readonly violated: (text: string) => void;
}

/** The statuses in which operators see that an event was not applied. */
const visible: readonly string[] = ['parked', 'orphaned', 'anomaly'];

export class Refunds {
  readonly #options: RefundsOptions;
  readonly #tracked: Tracked[] = [];

  constructor(options: RefundsOptions) {
    this.#options = options;
  }

  /** @returns the delivery of the notice, to be updated. */
  posted(notice: RefundNotice, hash: string): Delivery {
    const delivery: Delivery = { state: 'under_way' };
    this.#tracked.push({ notice, hash, delivery });
    this.#options.returns.refundPosted(notice, hash);
    return delivery;
  }

  /** The end-to-end id of the payment whose refund an event reports, or null. */
  findEndToEnd(hash: string): string | null {
    return this.#tracked.find((one) => one.hash === hash)?.notice.refund.endToEnd ?? null;
  }

  /** Whether a true event may be an anomaly: the payment failed, or the sum exceeds it. */
  mayContradict(hash: string, rows: readonly FinalRow[]): boolean {
    const refund = this.#tracked.find((one) => one.hash === hash)?.notice.refund;
    if (!refund) return false;
    return this.#exceedsPayment(refund) || findOriginals(refund, rows).some(wasFailed);
  }

  /** Checks the stored rows of each refund, at rest. */
  check(rows: readonly FinalRow[], events: readonly EventRow[]): void {
    const refunds = rows.filter(({ operation }) => operation.startsWith('REFUND_'));
    for (const row of refunds) if (!isReturn(row)) this.#checkRow(row, rows);
    for (const refund of this.#options.ledger.refunds) this.#checkRefund(refund, { rows, events });
    for (const row of rows) this.#checkSum(row, refunds);
  }

  #checkRow(row: FinalRow, rows: readonly FinalRow[]): void {
    const { ledger, names, violated } = this.#options;
    const name = names.of('refund', row.id);
    const refund = ledger.refunds.find((one) => matchesRefund(row, one));
    if (!refund) return violated(`${name} is stored and was not made`);
    const original = rows.find(({ id }) => id === row.original_id);
    // If a failover has lost a charge, its payment may be shown to the wrong customer.
    if (row.user_id !== refund.customer.id && this.#options.lost.failedOverAt === null) {
      violated(`${name} is shown to the wrong customer`);
    }
    if (centsFromDecimal(row.amount) !== refund.amountCents) violated(`${name} has another amount`);
    if (original?.end_to_end !== refund.endToEnd || original.user_id !== row.user_id) {
      violated(`${name} refunds another transaction`);
    }
    if (original?.status !== 'COMPLETED')
      violated(`${name} refunds a transaction that is not COMPLETED`);
    if (row.status !== 'COMPLETED') violated(`${name} is ${row.status}`);
  }

  #checkRefund(
    refund: Refund,
    { rows, events }: { readonly rows: readonly FinalRow[]; readonly events: readonly EventRow[] },
  ): void {
    const { scheduler, violated, names } = this.#options;
    const stored = rows.filter((row) => matchesRefund(row, refund));
    const name = names.of('D', refund.returnId);
    if (stored.length > 1) violated(`${name} is stored more than once`);
    scheduler.count(`refund ${refund.direction} ${stored.length > 0 ? 'stored' : 'not stored'}`);
    if (stored.length > 0) return;
    const reported = this.#tracked.filter(
      (one) => one.notice.refund === refund && one.notice.isReadable && this.#isTaken(one, events),
    );
    if (reported.length === 0) return;
    // A process that held the event has finished it after a failover, which had lost the refund:
    // reconciliation records it again.
    const isFinished = events.some(
      ({ hash, status }) => status === 'processed' && reported.some((one) => one.hash === hash),
    );
    if (this.#options.lost.failedOverAt !== null && isFinished) return;
    // A refund of a payment that was FAILED until it was corrected may be left to an operator.
    const isCompleted = findOriginals(refund, rows).some(
      ({ status, is_corrected: isCorrected }) => status === 'COMPLETED' && !isCorrected,
    );
    const mayWait = this.#options.returns.isOpen(refund.endToEnd, rows);
    if (isCompleted && !mayWait && !this.#exceedsPayment(refund)) {
      return violated(`${name} was made, an event reports it, and it is not stored`);
    }
    for (const { hash } of reported) {
      const event = events.find((one) => one.hash === hash);
      const isSeen = event && visible.includes(event.status) && event.has_payload;
      if (!isSeen) violated(`${name} is not stored, and its event is ${event?.status}`);
    }
  }

  #checkSum(row: FinalRow, refunds: readonly FinalRow[]): void {
    const own = refunds.filter((one) => one.original_id === row.id && one.status !== 'FAILED');
    const sum = own.reduce((cents, { amount }) => cents + (centsFromDecimal(amount) ?? 0), 0);
    if (sum <= (centsFromDecimal(row.amount) ?? 0)) return;
    this.#options.violated(`${this.#options.names.of('tx', row.id)} is refunded beyond its amount`);
  }

  /** Whether the bank has returned more than was paid: the service refuses the last refund. */
  #exceedsPayment({ endToEnd, direction, originalCents }: Refund): boolean {
    const sum = this.#options.ledger.refunds
      .filter((one) => one.endToEnd === endToEnd && one.direction === direction)
      .reduce((cents, { amountCents }) => cents + amountCents, 0);
    return sum > originalCents;
  }

  #isTaken({ delivery, hash }: Tracked, events: readonly EventRow[]): boolean {
    const isAcknowledged =
      delivery.state === 'acknowledged' && this.#options.lost.failedOverAt === null;
    return isAcknowledged || events.some((one) => one.hash === hash);
  }
}

function matchesRefund(row: FinalRow, { returnId, direction }: Refund): boolean {
  const operation = direction === 'in' ? 'REFUND_IN' : 'REFUND_OUT';
  if (row.operation !== operation) return false;
  return row.end_to_end === returnId || (isReturn(row) && isSameReturn(row.end_to_end, returnId));
}

/** The stored transactions of the refunded payment, on the side of the refund. */
function findOriginals({ endToEnd, direction }: Refund, rows: readonly FinalRow[]): FinalRow[] {
  return rows.filter(
    (row) => row.end_to_end === endToEnd && (row.operation === 'SEND') === (direction === 'in'),
  );
}

function wasFailed({ status, is_corrected: isCorrected }: FinalRow): boolean {
  return status === 'FAILED' || isCorrected;
}
