/**
 * What the customers want to pay once, and what the client of the contract shows them about it: no
 * wish is paid twice, and each of the four results is true.
 */
import type { PayResult } from '../../../contract/client/index.ts';
import type { Payment } from '../bank/ledger.ts';
import type { Scheduler } from '../scheduler.ts';
import type { StoredCustomer } from '../store.ts';
import type { LostCommits } from './lost-commits.ts';
import type { Oracle } from './oracle.ts';
import { makeName } from './requests.ts';

/** What the app shows the customer about a payment. */
export type ShownResult = PayResult & { readonly key: string };

/** A wish: one object for all its keys. */
type Wish = object;

export interface IntentsOptions {
  readonly oracle: Oracle;
  readonly scheduler: Scheduler;
  readonly lost: LostCommits;
}

export class Intents {
  readonly #options: IntentsOptions;
  /** The wish of each payment, by `customer/key`. */
  readonly #wishes = new Map<string, Wish>();
  readonly #executed = new Map<Wish, Payment[]>();
  /** The payments of which a request has left the device, and the step of the newest one. */
  readonly #sent = new Map<string, number>();
  /**
   * The payments that the app has shown as not paid, and the step of the request that was answered
   * so: a failover since then may have lost what the response is based on.
   */
  readonly #denied = new Map<string, number>();

  constructor(options: IntentsOptions) {
    this.#options = options;
  }

  /** The client has drawn a key for a wish; it may never use it. */
  drew(customer: StoredCustomer, wish: Wish, key: string): void {
    this.#wishes.set(makeName(customer, key), wish);
  }

  /** A request with a key leaves the device. */
  sent(customer: StoredCustomer, key: string): void {
    const { scheduler, oracle } = this.#options;
    const name = makeName(customer, key);
    const wish = this.#wishes.get(name.replace(/~\d+$/, ''));
    if (wish) this.#wishes.set(name, wish);
    else oracle.violated(`the app sends ${name}, a key it has not drawn`);
    if (!this.#sent.has(name)) scheduler.count('app: payments made by the client');
    this.#sent.set(name, scheduler.taken);
  }

  wasSent(customer: StoredCustomer, key: string): boolean {
    return this.#sent.has(makeName(customer, key));
  }

  /** The app shows an error of a tap, for which the client has drawn a key: nothing was paid. */
  failed(customer: StoredCustomer, key: string | null): void {
    if (key !== null) this.#deny(makeName(customer, key), 'an error');
  }

  /** The app shows a result. */
  shown(customer: StoredCustomer, shown: ShownResult): void {
    const { oracle } = this.#options;
    const { key, result } = shown;
    const name = makeName(customer, key);
    if (result === 'not_paid') {
      this.#deny(name, result);
      if (this.#mayBeFalse(name) || oracle.isTrue({ customer, key }, 'FAILED')) return;
      oracle.violated(`the app shows not_paid of ${name}, which is false`);
    } else if (result === 'paid') {
      const endToEnd = oracle.findAttempt(customer, key);
      const known = oracle.transactions.get(name) ?? shown.transactionId;
      const isTrue = oracle.isTrue({ customer, key }, 'COMPLETED', endToEnd);
      if (known === shown.transactionId && (isTrue || this.#mayBeFalse(name))) return;
      oracle.violated(`the app shows paid of ${name}, which is false`);
    }
  }

  /** The bank has executed a payment. */
  executed(payment: Payment): void {
    const { oracle, scheduler, lost } = this.#options;
    const { customer, clientRequestId: key } = payment;
    const name = makeName(customer, key);
    const wish = this.#wishes.get(name);
    if (!wish) return;
    const earlier = this.#executed.get(wish) ?? [];
    const isAgain = earlier.some(({ endToEnd }) => endToEnd === payment.endToEnd);
    if (!isAgain) scheduler.count('app: payments executed');
    this.#executed.set(wish, [...earlier, payment]);
    const askedAt = this.#denied.get(name);
    const isDecided = oracle.isDecided({ customer, key }, 'FAILED');
    if (askedAt !== undefined && !isDecided && (lost.failedOverAt ?? -1) < askedAt) {
      oracle.violated(`${name} was executed after the app had shown that it is not paid`);
    }
    for (const one of earlier) {
      if (one.clientRequestId === key || lost.hasLostRecord(one)) continue;
      if (oracle.isTrue({ customer, key: one.clientRequestId }, 'FAILED')) continue;
      oracle.violated(`${name} was executed: its wish was paid as ${one.clientRequestId}`);
    }
  }

  #deny(name: string, by: string): void {
    const { scheduler } = this.#options;
    scheduler.note(`the app shows that ${name} is not paid: ${by}`);
    const askedAt = this.#sent.get(name) ?? scheduler.taken;
    if (!this.#denied.has(name)) this.#denied.set(name, askedAt);
  }

  /** A failover may have lost what a result is based on. */
  #mayBeFalse(name: string): boolean {
    return this.#options.oracle.wasRolledBack(name);
  }
}
