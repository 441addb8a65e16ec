/**
 * The look-ups that payers confirm before they pay. A send with a `lookup_id` pays under the
 * end-to-end id of that look-up while it is fresh, of this user and key; otherwise under the
 * id of a new look-up. A second idempotency key with the same look-up is refused: nothing is sent.
 */
import { openLookUp } from '../../../src/pix/confirmed-payee.ts';
import type { Sealer } from '../../../src/security/sealing.ts';
import type { Ledger } from '../bank/ledger.ts';
import type { Names } from '../names.ts';
import type { Owner, Scheduler } from '../scheduler.ts';
import type { StoredCustomer } from '../store.ts';
import { nameOf, type AppRequest, type Order } from './requests.ts';

/** A look-up as the app has received it. */
export interface ReceivedLookUp {
  readonly customer: StoredCustomer;
  readonly pixKey: string;
  /** The field `lookup_id`. */
  readonly id: string;
  /** The field `expires_at`, by the clock of the process that has answered. */
  readonly expiresAtMs: number;
}

/** A payment that the app requests with a look-up. */
interface ConfirmedSend {
  readonly lookUp: ReceivedLookUp;
  /** When it was first requested. */
  readonly requestedAtMs: number;
}

export interface LookUpsOptions {
  readonly ledger: Ledger;
  readonly sealer: Sealer;
  readonly names: Names;
  readonly scheduler: Scheduler;
  readonly violated: (text: string) => void;
  /** The largest clock skew of a process, in milliseconds. */
  readonly clockSkewMs: number;
}

export class LookUps {
  readonly #options: LookUpsOptions;
  readonly #received: ReceivedLookUp[] = [];
  /** The payments with a look-up, by `customer/key`. */
  readonly #sends = new Map<string, ConfirmedSend>();

  constructor(options: LookUpsOptions) {
    this.#options = options;
  }

  /** All received look-ups of all customers. */
  get received(): readonly ReceivedLookUp[] {
    return this.#received;
  }

  receive(lookUp: ReceivedLookUp): void {
    const { customer, pixKey } = lookUp;
    const endToEnd = this.#endToEndOf(lookUp);
    this.#checkIssued(`a look-up for ${customer.name}`, { customer, pixKey, endToEnd });
    this.#received.push(lookUp);
  }

  /** The app requests a payment with a look-up, which may be of another user or key. */
  requested(customer: StoredCustomer, key: string, lookUp: ReceivedLookUp): void {
    const name = nameOf(customer, key);
    if (this.#sends.has(name)) return;
    this.#sends.set(name, { lookUp, requestedAtMs: this.#options.scheduler.nowMs });
  }

  /** Whether another payment may have used the look-up of this one. */
  isUsedByOther({ customer, key }: AppRequest): boolean {
    const name = nameOf(customer, key);
    const id = this.#sends.get(name)?.lookUp.id;
    return [...this.#sends].some(([other, { lookUp }]) => other !== name && lookUp.id === id);
  }

  /** A payment leaves a process. */
  attempted(process: Owner, order: Order): void {
    const { scheduler, clockSkewMs, names } = this.#options;
    const { customer, clientRequestId, pixKey, endToEnd } = order;
    const name = nameOf(customer, clientRequestId);
    this.#checkIssued(name, order);
    const send = this.#sends.get(name);
    if (send?.lookUp.customer !== customer || send.lookUp.pixKey !== pixKey) return;
    const { expiresAtMs } = send.lookUp;
    const isConfirmed = this.#endToEndOf(send.lookUp) === endToEnd;
    const nowMs = scheduler.nowMs + scheduler.clockOffsetMs(process);
    const shown = names.of('E', endToEnd);
    // The clock of the process may have changed since it read the look-up.
    if (nowMs + 2 * clockSkewMs < expiresAtMs && !isConfirmed) {
      this.#options.violated(`${name} leaves as ${shown} although its look-up is fresh`);
    }
    if (send.requestedAtMs - clockSkewMs >= expiresAtMs && isConfirmed) {
      this.#options.violated(`${name} leaves as ${shown} although its look-up has expired`);
    }
    scheduler.count(isConfirmed ? 'sends by a look-up' : 'sends by another look-up');
  }

  /** Checks that the end-to-end id was issued for this payer and this key. */
  #checkIssued(
    name: string,
    { customer, pixKey, endToEnd }: Pick<Order, 'customer' | 'pixKey' | 'endToEnd'>,
  ): void {
    const issued = this.#options.ledger.issued.get(endToEnd);
    // An answer on the wire may carry an id that the bank has not issued.
    if (!issued || (issued.customer === customer && issued.key === pixKey)) return;
    const shown = this.#options.names.of('E', endToEnd);
    this.#options.violated(`${name} has ${shown} of another payer or key`);
  }

  #endToEndOf({ customer, pixKey, id }: ReceivedLookUp): string {
    const context = { sealer: this.#options.sealer, clock: { now: () => new Date(0) } };
    const opened = openLookUp(context as never, { userId: customer.id, key: pixKey }, id);
    if (!opened) throw new Error('a look-up cannot be opened');
    return opened.endToEnd;
  }
}
