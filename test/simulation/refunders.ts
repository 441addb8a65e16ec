/**
 * Later events: the bank refunds sent and received PIX, in full or in part, and reports charges
 * that have expired.
 */
import {
  writeExpiryNotice,
  writeRefundNotice,
  type ExpiryNotice,
  type RefundNotice,
} from './bank/later-notices.ts';
import type { Ids } from './bank/ids.ts';
import type { Charge, Ledger, Payment, Receipt, Refund } from './bank/ledger.ts';
import type { Policy } from './bank/policy.ts';
import type { Scheduler } from './scheduler.ts';

export interface RefundersOptions {
  readonly scheduler: Scheduler;
  readonly ledger: Ledger;
  readonly policy: Policy;
  readonly ids: Ids;
  /** Does work later, in a separate step. */
  readonly later: (delayMs: number, label: string, work: () => void) => void;
  readonly postRefund: (notice: RefundNotice, again: () => RefundNotice) => void;
  readonly postExpiry: (notice: ExpiryNotice, again: () => ExpiryNotice) => void;
}

const slowestRefundMs = 240_000;

/** The bank reports no later expiry: the sweep has to find it. */
const maxExpiryMs = 300_000;

const refundIspb = '99999005';

export class Refunders {
  readonly #options: RefundersOptions;

  constructor(options: RefundersOptions) {
    this.#options = options;
  }

  /** A payment was completed: the payee may refund it. */
  paid(payment: Payment): void {
    this.#refund(payment.amountCents, (returnId, cents) => listSides(payment, returnId, cents));
  }

  /** The dispute of a payment was accepted: the bank refunds what it has recovered. */
  recovered(payment: Payment): void {
    const { ledger, scheduler } = this.#options;
    const { endToEnd, amountCents } = payment;
    const leftCents = ledger.refunds
      .filter((one) => one.endToEnd === endToEnd && one.direction === 'in')
      .reduce((cents, one) => cents - one.amountCents, amountCents);
    const cents = scheduler.chance.pick([leftCents, Math.ceil(leftCents / 2)]);
    if (cents > 0) this.#later(() => listSides(payment, this.#returnId(), cents));
  }

  /** A PIX from another institution was received: it may be refunded. */
  received({ customer, endToEnd, amountCents }: Receipt): void {
    if (this.#options.ledger.payments.some((one) => one.endToEnd === endToEnd)) return;
    this.#refund(amountCents, (returnId, cents) => [
      {
        customer,
        endToEnd,
        returnId,
        amountCents: cents,
        originalCents: amountCents,
        direction: 'out',
      },
    ]);
  }

  /** A charge was created: the bank may report its expiry. */
  made(charge: Charge): void {
    const { scheduler, later } = this.#options;
    const { chance } = scheduler;
    const { expiresAtMs } = charge;
    const delayMs = expiresAtMs === null ? Infinity : expiresAtMs - scheduler.nowMs;
    if (delayMs > maxExpiryMs || !chance.happens(0.7)) return;
    later(delayMs, `${charge.bankId} expires`, () => this.#expire(charge));
  }

  /** A code that may be paid more than once can expire although it was paid. */
  #expire(charge: Charge): void {
    const { scheduler, ledger, postExpiry } = this.#options;
    const { chance } = scheduler;
    const isPaid = ledger.receipts.some((one) => one.charge === charge);
    if (isPaid && !chance.happens(0.3)) return;
    scheduler.count(isPaid ? 'paid charges expire' : 'unpaid charges expire');
    const write = () => writeExpiryNotice(chance, charge);
    postExpiry(write(), write);
  }

  #refund(amountCents: number, make: (returnId: string, cents: number) => readonly Refund[]): void {
    const { scheduler } = this.#options;
    const { chance } = scheduler;
    const part = Math.max(1, Math.floor(amountCents / 3));
    const plan = chance.pick<readonly number[]>([
      ...([[], [], [], []] as const),
      ...([[amountCents], [part], [part, amountCents - part], [part, part]] as const),
      [part, amountCents],
    ]);
    for (const cents of plan.filter((one) => one > 0)) {
      scheduler.count(cents === amountCents ? 'refunds of the whole' : 'refunds in part');
      this.#later(() => make(this.#returnId(), cents));
    }
    // A refund of an unknown payment.
    if (plan.length > 0 && chance.happens(0.1)) {
      const endToEnd = this.#options.ids.endToEnd(refundIspb, scheduler.nowMs);
      scheduler.count('refunds of no payment');
      const [stray] = make(this.#returnId(), part);
      if (stray) this.#later(() => [{ ...stray, endToEnd }]);
    }
  }

  #later(make: () => readonly Refund[]): void {
    const { scheduler, later, ledger, policy, postRefund } = this.#options;
    const { chance } = scheduler;
    later(chance.delayMs(slowestRefundMs), 'the bank refunds', () => {
      if (ledger.isClosed) return;
      for (const refund of make()) {
        ledger.refund(refund);
        const write = () => writeRefundNotice(chance, refund, policy.vocabulary);
        postRefund(write(), write);
      }
    });
  }

  #returnId(): string {
    const { ids, scheduler } = this.#options;
    return ids.endToEnd(refundIspb, scheduler.nowMs).replace(/^E/, 'D');
  }
}

/** The refund of a payment for its payer, and for a payee who is a customer. */
function listSides(
  { customer, endToEnd, amountCents, payee }: Payment,
  returnId: string,
  cents: number,
): Refund[] {
  const refund = { endToEnd, returnId, amountCents: cents, originalCents: amountCents };
  return [
    { ...refund, customer, direction: 'in' },
    ...(payee ? [{ ...refund, customer: payee, direction: 'out' as const }] : []),
  ];
}
