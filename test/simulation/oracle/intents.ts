/**
 * What the customers want to pay once, and what the client of the contract shows them about it: no
 * wish is paid twice, each of the four results is true, and a wish that was refused or given up is
 * not paid without a new tap.
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
interface Wish {
  readonly pixKey: string;
  readonly amountCents: number;
}

/** The taps to pay a wish. */
interface Taps {
  /** The step and the time of the newest one. */
  readonly at: number;
  readonly atMs: number;
  /** The customer waits for the results of so many. */
  readonly awaited: number;
}

/** So long a customer waits after a tap. */
const longestWaitMs = 120_000;

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
  /**
   * By customer, payee and amount: the client pays an equal wish under the key of the earlier one,
   * while that has no result.
   */
  readonly #taps = new Map<string, Taps>();
  /** The step of the newest request for a wish that the service has refused. */
  readonly #refused = new Map<Wish, number>();
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

  /** The customer taps to pay a wish. @returns a function to call when the tap has its result. */
  tapped(customer: StoredCustomer, wish: Wish): () => void {
    const { taken: at, nowMs: atMs } = this.#options.scheduler;
    const what = whatIsPaid(customer, wish);
    this.#taps.set(what, { at, atMs, awaited: (this.#taps.get(what)?.awaited ?? 0) + 1 });
    let isOver = false;
    return () => {
      const taps = this.#taps.get(what);
      if (taps && !isOver) this.#taps.set(what, { ...taps, awaited: taps.awaited - 1 });
      isOver = true;
    };
  }

  /**
   * The service refuses a request with a key by a rule.
   * @param requestedAt the step of the request: the customer may have tapped again meanwhile.
   */
  refused(customer: StoredCustomer, key: string, requestedAt: number): void {
    const wish = this.#wishes.get(makeName(customer, key));
    if (!wish) return;
    this.#refused.set(wish, Math.max(requestedAt, this.#refused.get(wish) ?? 0));
  }

  /** A request with a key leaves the device. */
  sent(customer: StoredCustomer, key: string): void {
    const { scheduler, oracle } = this.#options;
    const name = makeName(customer, key);
    const wish = this.#wishes.get(name.replace(/~\d+$/, ''));
    if (wish) this.#wishes.set(name, wish);
    else oracle.violated(`the app sends ${name}, a key it has not drawn`);
    if (wish) this.#checkTap(name, whatIsPaid(customer, wish));
    if (!this.#sent.has(name)) scheduler.count('app: payments made by the client');
    this.#sent.set(name, scheduler.taken);
  }

  /** A wish that was given up, by the customer or by the end of the app, needs a new tap. */
  #checkTap(name: string, what: string): void {
    const { oracle, scheduler } = this.#options;
    const { awaited = 0, atMs = 0 } = this.#taps.get(what) ?? {};
    const isLate = scheduler.nowMs - atMs > longestWaitMs;
    if (awaited > 0 && !isLate) return;
    oracle.violated(`the app sends ${name} without a tap: its wish was given up`);
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
    this.#checkNotRefused(customer, name, wish);
    for (const one of earlier) {
      if (one.clientRequestId === key || lost.hasLostRecord(one)) continue;
      if (oracle.isTrue({ customer, key: one.clientRequestId }, 'FAILED')) continue;
      oracle.violated(`${name} was executed: its wish was paid as ${one.clientRequestId}`);
    }
  }

  /** A failover may have lost the refusal, and the tap shows what the customer wants now. */
  #checkNotRefused(customer: StoredCustomer, name: string, wish: Wish): void {
    const { oracle, lost } = this.#options;
    const refusedAt = this.#refused.get(wish) ?? -1;
    const at = this.#taps.get(whatIsPaid(customer, wish))?.at ?? -1;
    if (refusedAt <= at || refusedAt < (lost.failedOverAt ?? -1)) return;
    oracle.violated(`${name} was executed without a tap after its wish was refused`);
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

function whatIsPaid({ name }: StoredCustomer, { pixKey, amountCents }: Wish): string {
  return `${name}/${pixKey}/${amountCents}`;
}
