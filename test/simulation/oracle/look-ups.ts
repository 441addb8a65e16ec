/**
 * The look-ups that payers confirm before they pay. A send with a `lookup_id` pays under the
 * end-to-end id of that look-up while it is fresh. Later it pays under the id of a new look-up, if
 * that has found the same owner of the key. A look-up of another user or key is refused, and so is
 * a second idempotency key with the same look-up: nothing is sent.
 */
import { openLookUp } from '../../../src/pix/confirmed-payee.ts';
import type { Sealer } from '../../../src/security/sealing.ts';
import type { KeyOwner } from '../bank/directory.ts';
import type { Ledger } from '../bank/ledger.ts';
import type { Names } from '../names.ts';
import type { Owner, Scheduler } from '../scheduler.ts';
import type { StoredCustomer } from '../store.ts';
import { isFreed, makeName, type AppRequest, type Order, type SendTruth } from './requests.ts';

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
  /** The key to pay to. */
  readonly pixKey: string;
  /** When it was first requested. */
  readonly requestedAtMs: number;
}

export interface LookUpsOptions {
  readonly ledger: Ledger;
  readonly sealer: Sealer;
  readonly names: Names;
  readonly scheduler: Scheduler;
  readonly sends: SendTruth;
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
    const endToEnd = this.findEndToEnd(lookUp);
    this.#checkIssued(`a look-up for ${customer.name}`, { customer, pixKey, endToEnd });
    this.#received.push(lookUp);
  }

  /** The app requests a payment with a look-up, which may be of another user or key. */
  requested(
    { customer, key }: Pick<AppRequest, 'customer' | 'key'>,
    { lookUp, pixKey }: { readonly lookUp: ReceivedLookUp; readonly pixKey: string },
  ): void {
    const name = makeName(customer, key);
    if (this.#sends.has(name)) return;
    this.#sends.set(name, { lookUp, pixKey, requestedAtMs: this.#options.scheduler.nowMs });
  }

  /** Whether the look-up of a payment may be refused. */
  isRefusable({ customer, key }: AppRequest): boolean {
    const name = makeName(customer, key);
    const send = this.#sends.get(name);
    if (!send) return false;
    const { lookUp } = send;
    const isUsed = [...this.#sends].some(
      ([other, one]) => other !== name && one.lookUp.id === lookUp.id,
    );
    const isForeign = lookUp.customer !== customer || lookUp.pixKey !== send.pixKey;
    const isOutdated = this.#mayHaveExpired(lookUp) && this.#mayHaveOtherOwner(lookUp);
    return isUsed || isForeign || isOutdated;
  }

  #mayHaveExpired({ expiresAtMs }: ReceivedLookUp): boolean {
    const { scheduler, clockSkewMs } = this.#options;
    return scheduler.nowMs + 2 * clockSkewMs >= expiresAtMs;
  }

  /** Whether a look-up of the same user and key has not found the same owner for certain. */
  #mayHaveOtherOwner(lookUp: ReceivedLookUp): boolean {
    const { customer, pixKey } = lookUp;
    const owner = this.findOwner(this.findEndToEnd(lookUp));
    const others = [...this.#options.ledger.issued.values()].filter(
      (one) => one.customer === customer && one.key === pixKey,
    );
    return owner === null || others.some((one) => !isSame(one.owner, owner));
  }

  findOwner(endToEnd: string): KeyOwner | null {
    return this.#options.ledger.issued.get(endToEnd)?.owner ?? null;
  }

  /** A payment leaves a process. */
  attempted(process: Owner, order: Order): void {
    const { scheduler, clockSkewMs, names } = this.#options;
    const { customer, clientRequestId, pixKey, endToEnd } = order;
    const name = makeName(customer, clientRequestId);
    this.#checkIssued(name, order);
    const send = this.#sends.get(name);
    if (!send) return;
    const shown = names.of('E', endToEnd);
    if (send.lookUp.customer !== customer || send.lookUp.pixKey !== pixKey) {
      this.#options.violated(`${name} leaves as ${shown} with a foreign look-up`);
      return;
    }
    const { expiresAtMs } = send.lookUp;
    const confirmedId = this.findEndToEnd(send.lookUp);
    const isConfirmed = confirmedId === endToEnd;
    const nowMs = scheduler.nowMs + scheduler.clockOffsetMs(process);
    // A response on the wire may carry an id that the bank has not issued: its owner is not known.
    const isKnown = [confirmedId, endToEnd].every((id) => this.#options.ledger.issued.has(id));
    if (!isConfirmed && isKnown && !isSame(this.findOwner(endToEnd), this.findOwner(confirmedId))) {
      this.#options.violated(`${name} leaves as ${shown} for another payee than confirmed`);
    }
    // The clock of the process may have changed since it read the look-up.
    const isFresh = nowMs + 2 * clockSkewMs < expiresAtMs;
    if (isFresh && !isConfirmed && !isFreed(name, this.#sends, this.#options.sends)) {
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
    // A response on the wire may carry an id that the bank has not issued.
    if (!issued || (issued.customer === customer && issued.key === pixKey)) return;
    const shown = this.#options.names.of('E', endToEnd);
    this.#options.violated(`${name} has ${shown} of another payer or key`);
  }

  findEndToEnd({ customer, pixKey, id }: ReceivedLookUp): string {
    const context = { sealer: this.#options.sealer, clock: { now: () => new Date(0) } };
    const opened = openLookUp(context as never, { userId: customer.id, key: pixKey }, id);
    if (!opened) throw new Error('a look-up cannot be opened');
    return opened.endToEnd;
  }
}

/** Whether two look-ups have found the same owner: one that is not shown is not the same. */
function isSame(one: KeyOwner | null, other: KeyOwner | null): boolean {
  return one !== null && one.document === other?.document && one.ispb === other.ispb;
}
