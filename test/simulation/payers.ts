/** Payers at other institutions: they pay charges, any number of times, and customers. */
import type { Collections } from './bank/collections.ts';
import type { Charge } from './bank/ledger.ts';
import type { Scheduler } from './scheduler.ts';
import type { StoredCustomer } from './store.ts';

export interface PayersOptions {
  readonly scheduler: Scheduler;
  readonly collections: Collections;
  /** How likely a payer copies the identification of a charge into another payee's code. */
  readonly copiedCodes: number;
  /** Does work later, in a separate step. */
  readonly later: (delayMs: number, label: string, work: () => void) => void;
}

const slowestPayerMs = 240_000;

export class Payers {
  readonly #options: PayersOptions;

  constructor(options: PayersOptions) {
    this.#options = options;
  }

  /** A charge was created: payers may pay it, sometimes with another amount. */
  made(charge: Charge): void {
    const { scheduler, collections, copiedCodes } = this.#options;
    const { chance } = scheduler;
    if (chance.happens(copiedCodes)) {
      scheduler.count('codes copied for another payee');
      this.#later('a payer pays by a copied code', () => collections.payByCopiedCode(charge));
    }
    for (let times = chance.pick([0, 1, 1, 1, 2, 3]); times > 0; times -= 1) {
      const isOther = chance.happens(0.2);
      const amountCents = charge.amountCents + (isOther ? chance.pick([-1, 1, 500]) : 0);
      scheduler.count(isOther ? 'charges paid with another amount' : 'charges paid');
      this.#later(`a payer pays ${charge.bankId}`, () => collections.pay(charge, amountCents));
    }
  }

  /** Pays a customer, in some histories. */
  pay(customer: StoredCustomer): void {
    const { scheduler, collections } = this.#options;
    const { chance } = scheduler;
    for (let times = chance.pick([0, 0, 1, 2]); times > 0; times -= 1) {
      const amountCents = chance.pick([1_000, 2_550, 33]);
      this.#later(`a payer pays ${customer.name}`, () =>
        collections.payCustomer(customer, amountCents),
      );
    }
  }

  /** Pays a customer who will return a part of it. */
  payForReturns(customer: StoredCustomer, times: number): void {
    const { scheduler, collections } = this.#options;
    for (let left = times; left > 0; left -= 1) {
      const amountCents = scheduler.chance.pick([1_000, 2_550]);
      this.#options.later(scheduler.chance.delayMs(20_000), `a payer pays ${customer.name}`, () =>
        collections.payCustomer(customer, amountCents),
      );
    }
  }

  #later(label: string, work: () => void): void {
    const { scheduler, later } = this.#options;
    later(scheduler.chance.delayMs(slowestPayerMs), label, work);
  }
}
