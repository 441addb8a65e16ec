/**
 * Checks the stored receipts against the ledger. A PIX is recorded once, for the customer whom
 * every identifier of an event names; an event that identifies no customer is kept and visible.
 */
import { centsFromDecimal } from '../../../src/domain/money.ts';
import { agree, identify } from '../bank/identifiers.ts';
import type { Charge, Ledger, Receipt } from '../bank/ledger.ts';
import type { ReceivedNotice } from '../bank/received-notices.ts';
import type { Names } from '../names.ts';
import type { Scheduler } from '../scheduler.ts';
import type { Delivery } from '../delivery.ts';
import type { EventRow, FinalRow } from './stored-rows.ts';
import type { LostCommits } from './lost-commits.ts';

interface Tracked {
  readonly notice: ReceivedNotice;
  readonly hash: string;
  readonly delivery: Delivery;
}

export interface ReceiptsOptions {
  readonly ledger: Ledger;
  readonly names: Names;
  readonly lost: LostCommits;
  readonly scheduler: Scheduler;
  readonly violated: (text: string) => void;
}

/** The statuses in which operators see that an event was not applied. */
const visible: readonly string[] = ['parked', 'orphaned', 'anomaly'];

export class Receipts {
  readonly #options: ReceiptsOptions;
  readonly #tracked: Tracked[] = [];
  /** The hashes of the stored events, including those whose acknowledgement was lost. */
  #stored: ReadonlySet<string> = new Set();
  /** The identifications of the stored charges: a failover may lose one. */
  #known: ReadonlySet<string | null> = new Set();

  constructor(options: ReceiptsOptions) {
    this.#options = options;
  }

  /** @returns the delivery of the notice, to be updated. */
  posted(notice: ReceivedNotice, hash: string): Delivery {
    const delivery: Delivery = { state: 'under_way' };
    this.#tracked.push({ notice, hash, delivery });
    return delivery;
  }

  /** The end-to-end id of the receipt that an event reports, or null. */
  findEndToEnd(hash: string): string | null {
    return this.#tracked.find((one) => one.hash === hash)?.notice.receipt.endToEnd ?? null;
  }

  /** Sets the stored rows and events; call it before the checks at rest. */
  learn(rows: readonly FinalRow[], events: readonly EventRow[]): void {
    this.#stored = new Set(events.map(({ hash }) => hash));
    this.#known = new Set(rows.map((row) => row.transaction_identification));
  }

  /** The payments of a charge, with its amount, that an acknowledged event reports. */
  reportedPayments(charge: Charge): Receipt[] {
    return this.#payments(charge, (one) => this.#isTaken(one));
  }

  /** As `reportedPayments`, with events that a failover has lost: one may have been settled. */
  possiblyReportedPayments(charge: Charge): Receipt[] {
    return this.#payments(
      charge,
      (one) => one.delivery.state === 'acknowledged' || this.#isTaken(one),
    );
  }

  #payments(charge: Charge, counts: (one: Tracked) => boolean): Receipt[] {
    return this.#tracked
      .filter((one) => one.notice.isReadable && counts(one) && this.#pays(one.notice, charge))
      .map(({ notice }) => notice.receipt);
  }

  /** Whether an acknowledged event reports a payment of a charge and names its owner. */
  isReportedForOwner(charge: Charge): boolean {
    return this.#tracked.some(
      (one) =>
        one.notice.isReadable &&
        this.#isTaken(one) &&
        this.#pays(one.notice, charge) &&
        identify(charge.customer, one.notice.payee),
    );
  }

  /** How often a charge was paid with its amount. */
  paidTimes(charge: Charge): number {
    return this.#options.ledger.receipts.filter((one) => isPayment(one, charge)).length;
  }

  /** The reason why a charge is not known to be paid. */
  whyUnpaid(charge: Charge): string {
    const ofCharge = this.#options.ledger.receipts.filter((one) => one.charge === charge);
    if (ofCharge.length === 0) return 'the charge was not paid';
    if (!ofCharge.some((one) => isPayment(one, charge))) return 'it was paid with another amount';
    const posted = this.#tracked.filter(({ notice }) => isPayment(notice.receipt, charge));
    const taken = posted.filter((one) => this.#isTaken(one));
    if (taken.length === 0) return 'every event of the charge was lost or given up';
    return taken.every(({ notice }) => notice.isReadable)
      ? 'no event names the charge'
      : 'the words of the events of the charge are not documented';
  }

  /**
   * Whether an event may be an anomaly although it is true: a false event has given the payment to
   * another customer, or it names a charge that it does not complete, because of the amount, of the
   * payee, or because the charge has failed.
   */
  mayContradict(hash: string, rows: readonly FinalRow[]): boolean {
    const notice = this.#tracked.find((one) => one.hash === hash)?.notice;
    if (!notice) return false;
    if (notice.isCopied || this.#isMisled(notice.receipt)) return true;
    const { charge } = notice.receipt;
    if (!charge) return false;
    const row = rows.find((one) => one.transaction_identification === charge.txid);
    const isOther = notice.receipt.amountCents !== charge.amountCents || !agrees(notice, charge);
    return isOther || row?.status === 'FAILED' || row?.is_corrected === true;
  }

  /** Checks the stored rows of each receipt, at rest. */
  check(rows: readonly FinalRow[], events: readonly EventRow[]): void {
    const { ledger } = this.#options;
    const received = rows.filter(({ operation }) => operation === 'RECEIVED');
    for (const row of received) this.#checkRow(row);
    for (const receipt of ledger.receipts) this.#checkReceipt(receipt, rows, events);
    this.#checkSums(rows);
  }

  /** Checks that a recorded PIX is in the customer's ledger, and that an event identifies them. */
  #checkRow(row: FinalRow): void {
    const { ledger, names, violated } = this.#options;
    const name = `${names.of('receipt', row.id)} (${names.of('E', row.end_to_end)})`;
    const receipt = ledger.receipts.find(({ endToEnd }) => endToEnd === row.end_to_end);
    if (!receipt) return violated(`${name} is stored and was not received`);
    if (this.#isMisled(receipt)) return;
    if (receipt.customer.id !== row.user_id) violated(`${name} is shown to the wrong customer`);
    if (receipt.amountCents !== centsFromDecimal(row.amount))
      violated(`${name} has another amount`);
    if (!this.#mayBeIdentified(receipt))
      violated(`${name} is attributed and no event proves its owner`);
  }

  #checkReceipt(receipt: Receipt, rows: readonly FinalRow[], events: readonly EventRow[]): void {
    const { names, scheduler, violated } = this.#options;
    const name = names.of('E', receipt.endToEnd);
    const stored = rows.filter(
      (row) => row.end_to_end === receipt.endToEnd && row.operation !== 'SEND',
    );
    const isIdentified = this.#isIdentified(receipt);
    if (isIdentified && stored.length === 0 && !this.#mayBeLost(receipt, rows)) {
      violated(`${name} was received, an event identifies its owner, and it is not stored`);
    }
    scheduler.count(`receipt ${isIdentified ? 'identified' : 'not identified'}`);
    if (isIdentified || stored.length > 0) return;
    // An event without a direction that matches a sent payment settles that payment.
    const isSent = rows.some(
      (row) => row.operation === 'SEND' && row.end_to_end === receipt.endToEnd,
    );
    for (const { hash, notice } of this.#taken(receipt)) {
      if (!notice.isReadable || (notice.isUndirected && isSent)) continue;
      const event = events.find((one) => one.hash === hash);
      const isSeen = event && visible.includes(event.status) && event.has_payload;
      if (!isSeen) violated(`${name} has no owner, and its event is ${event?.status ?? 'lost'}`);
    }
    scheduler.note(`${name} is not attributed: no acknowledged event proves its owner`);
  }

  /**
   * Whether a failover may have lost the record of a PIX: a process that held its event has
   * finished the event after the failover. Reconciliation records it again.
   */
  #mayBeLost({ endToEnd }: Receipt, rows: readonly FinalRow[]): boolean {
    const isStored = rows.some((row) => row.end_to_end === endToEnd && row.operation !== 'SEND');
    return this.#options.lost.failedOverAt !== null && !isStored;
  }

  /**
   * Whether the service may record a PIX for the wrong customer: a failover lost the charge that
   * identifies the payee, and the event also names the account of another customer.
   */
  #isMisled(receipt: Receipt): boolean {
    const { lost } = this.#options;
    if (lost.failedOverAt === null) return false;
    return this.#tracked.some(
      ({ notice }) => notice.receipt === receipt && notice.txid !== null && !this.#isClear(notice),
    );
  }

  /** Checks that the customer sees each received PIX exactly once. */
  #checkSums(rows: readonly FinalRow[]): void {
    const { ledger, violated } = this.#options;
    if (ledger.receipts.some((one) => this.#isMisled(one))) return;
    for (const { id, name } of ledger.customers) {
      const listed = rows.filter((row) => row.user_id === id && row.status === 'COMPLETED');
      const charges = listed.filter(({ operation }) => operation === 'CHARGE');
      // The statement shows the payment of a charge once, as the charge.
      const others = listed.filter(
        ({ operation, end_to_end: endToEnd }) =>
          operation === 'RECEIVED' && !charges.some((one) => one.end_to_end === endToEnd),
      );
      const shownCents = sumCents([...charges, ...others]);
      const own = ledger.receipts.filter((one) => one.customer.id === id);
      const minCents = sumReceived(
        own.filter((one) => this.#isIdentified(one) && !this.#mayBeLost(one, rows)),
      );
      const maxCents = sumReceived(
        own.filter((one) => this.#mayBeIdentified(one) || this.#isShownToPay(one)),
      );
      if (shownCents < minCents || shownCents > maxCents) {
        violated(`${name} is shown ${shownCents} received centavos, of ${minCents}`);
      }
    }
  }

  /** Whether an acknowledged event identifies the owner correctly. */
  #isIdentified(receipt: Receipt): boolean {
    return this.#taken(receipt).some(({ notice }) => notice.isReadable && this.#isClear(notice));
  }

  /**
   * Whether its owner's statement shows the payment of a charge. The statement is of the account
   * that was credited, so it completes an expired charge whose events name another payee.
   */
  #isShownToPay(receipt: Receipt): boolean {
    const { charge, endToEnd } = receipt;
    return (
      charge !== null && isPayment(receipt, charge) && this.#options.ledger.shown.has(endToEnd)
    );
  }

  /** As `#isIdentified`, with events that a failover has lost: one may have been settled before. */
  #mayBeIdentified(receipt: Receipt): boolean {
    const isAcknowledged = this.#tracked.some(
      ({ notice, delivery }) =>
        notice.receipt === receipt &&
        delivery.state === 'acknowledged' &&
        notice.isReadable &&
        (this.#isClear(notice) || isPayeeOfCopy(notice)),
    );
    return isAcknowledged || this.#isIdentified(receipt);
  }

  /** A charge identifies the owner too, unless the event names another payee in any part. */
  #isClear(notice: ReceivedNotice): boolean {
    const { receipt, txid, payee, isCopied } = notice;
    if (isCopied) return false;
    const { customer, charge } = receipt;
    if (txid === null || !charge || !this.#known.has(charge.txid)) return identify(customer, payee);
    return agrees(notice, charge);
  }

  #pays(notice: ReceivedNotice, charge: Charge): boolean {
    return notice.txid !== null && isPayment(notice.receipt, charge) && this.#isClear(notice);
  }

  #taken(receipt: Receipt): Tracked[] {
    return this.#tracked.filter((one) => one.notice.receipt === receipt && this.#isTaken(one));
  }

  #isTaken({ delivery, hash }: Tracked): boolean {
    const { lost } = this.#options;
    const isAcknowledged = delivery.state === 'acknowledged' && lost.failedOverAt === null;
    return isAcknowledged || this.#stored.has(hash);
  }
}

/** Whether every identifier names the payee of a copied code, who has received the money. */
function isPayeeOfCopy({ isCopied, receipt, payee }: ReceivedNotice): boolean {
  return isCopied === true && identify(receipt.customer, payee);
}

/** Whether an event names no other payee than the owner of a charge, who has its key. */
function agrees({ receipt, payee }: ReceivedNotice, charge: Charge): boolean {
  const key = payee.key === charge.key ? null : payee.key;
  return agree(receipt.customer, { ...payee, key });
}

function isPayment(receipt: Receipt, charge: Charge): boolean {
  return receipt.charge === charge && receipt.amountCents === charge.amountCents;
}

function sumCents(rows: readonly FinalRow[]): number {
  return rows.reduce((sum, { amount }) => sum + (centsFromDecimal(amount) ?? 0), 0);
}

function sumReceived(receipts: readonly Receipt[]): number {
  return receipts.reduce((sum, { amountCents }) => sum + amountCents, 0);
}
