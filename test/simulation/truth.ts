/**
 * Holds every event against the bank's ledger as it happens: payments that leave, rows that are
 * read, answers that the app gets. What must not be is a violation; a seed with one has failed.
 */
import type { PixTransactionRow } from '../../src/db/queries/pix-row.ts';
import type { PixStatus } from '../../src/domain/pix.ts';
import type { PaymentOrder } from '../../src/provider/provider.ts';
import type { LedgerPayment, LedgerView } from './ledger.ts';
import type { Names } from './names.ts';
import type { Scheduler } from './scheduler.ts';
import type { StoredCustomer } from './store.ts';

/** A request of the app about one of its payments. */
export interface Ask {
  readonly customer: StoredCustomer;
  /** The idempotency key. */
  readonly key: string;
  /** The step that it was sent at. */
  readonly askedAt: number;
}

/** What came back. Of an answer that never came there is nothing to be said. */
export interface Answer {
  readonly status: number;
  /** `Pix-Outcome`. */
  readonly outcome: string | null;
  readonly pix: {
    readonly transactionId: string;
    readonly status: PixStatus;
    readonly endToEnd: string | null;
  } | null;
}

/** A payment that the app has asked for. */
export interface Wish {
  /** `customer/key`. */
  readonly name: string;
  readonly key: string;
  readonly endToEnd: string | null;
  readonly amountCents: number;
}

/** A final answer, and the step that it was given at. */
interface Told {
  readonly status: 'COMPLETED' | 'FAILED';
  readonly at: number;
}

export interface TruthOptions {
  readonly ledger: LedgerView;
  readonly names: Names;
  readonly scheduler: Scheduler;
}

export class Truth {
  readonly violations: string[] = [];
  readonly ledger: LedgerView;
  /** The transaction of each key, by `customer/key`, as the app was told. */
  readonly transactions = new Map<string, string>();
  /** The amounts that the app has asked for under a key. */
  readonly #asked = new Map<string, Set<number>>();
  readonly #told = new Map<string, Told>();
  readonly #finals = new Map<string, PixStatus>();
  readonly #paying = new Set<string>();
  /** The end-to-end id of each key, and the key of each end-to-end id, of what has left. */
  readonly #attempted = new Map<string, string>();
  readonly #names: Names;
  readonly #scheduler: Scheduler;

  constructor({ ledger, names, scheduler }: TruthOptions) {
    this.ledger = ledger;
    this.#names = names;
    this.#scheduler = scheduler;
  }

  violated(text: string): void {
    this.#scheduler.note(`VIOLATION ${text}`);
    this.violations.push(text);
  }

  asked(customer: StoredCustomer, key: string, amountCents: number): void {
    const name = nameOf(customer, key);
    this.#asked.set(name, (this.#asked.get(name) ?? new Set()).add(amountCents));
  }

  /** What the app has asked for so far, with the end-to-end id where one has left. */
  wishes(): Wish[] {
    return [...this.#asked].flatMap(([name, amounts]) => {
      const key = name.slice(name.indexOf('/') + 1);
      const endToEnd = this.#attempted.get(name) ?? null;
      return [...amounts].map((amountCents) => ({ name, key, endToEnd, amountCents }));
    });
  }

  /** A payment has reached the bank. */
  attempted(customer: StoredCustomer, order: PaymentOrder): void {
    const { endToEnd, clientRequestId } = order;
    const name = nameOf(customer, clientRequestId);
    const shown = this.#names.of('E', endToEnd);
    const sameIds =
      (this.#attempted.get(name) ?? endToEnd) === endToEnd &&
      (this.#attempted.get(endToEnd) ?? name) === name;
    if (!sameIds) this.violated(`an attempt at ${name} carries other ids: ${shown}`);
    this.#attempted.set(name, endToEnd);
    this.#attempted.set(endToEnd, name);
    if (!this.#paying.has(endToEnd)) this.violated(`${shown} left before PAYING was stored`);
  }

  /** The bank has executed a payment. */
  executed(customer: StoredCustomer, { clientRequestId }: PaymentOrder): void {
    const name = nameOf(customer, clientRequestId);
    if (this.#told.get(name)?.status === 'FAILED') {
      this.violated(`${name} was executed after the app had been told that it failed`);
    }
  }

  /** The end-to-end id that the payments under a key have carried, if one has left. */
  attemptOf(customer: StoredCustomer, key: string): string | null {
    return this.#attempted.get(nameOf(customer, key)) ?? null;
  }

  /**
   * A row has been read or written.
   * @returns whether it is seen to be final for the first time.
   */
  observed(row: PixTransactionRow): boolean {
    if (row.phase === 'PAYING' && row.end_to_end !== null) this.#paying.add(row.end_to_end);
    const final = this.#finals.get(row.id);
    if (final !== undefined && final !== row.status) {
      this.violated(`${this.#names.of('tx', row.id)} went from ${final} to ${row.status}`);
    }
    if (row.status === 'PROCESSING') return false;
    this.#finals.set(row.id, row.status);
    return final === undefined;
  }

  /** The service has answered a request about a payment. */
  told(ask: Ask, answer: Answer): void {
    const name = nameOf(ask.customer, ask.key);
    this.#checkId(name, answer);
    if (answer.status === 422 && (this.#asked.get(name)?.size ?? 0) < 2) {
      this.violated(`${name} was refused as another request, and there was none`);
    }
    if (answer.status === 502 && answer.outcome === null) {
      this.violated(`${name} was answered 502 without its outcome`);
    }
    this.#checkFinal(ask, answer);
    this.#checkOutcome(ask, answer);
  }

  #checkId(name: string, { pix }: Answer): void {
    if (!pix) return;
    const known = this.transactions.get(name) ?? pix.transactionId;
    if (known !== pix.transactionId) this.violated(`${name} has two transactions`);
    this.transactions.set(name, known);
  }

  #checkFinal(ask: Ask, answer: Answer): void {
    const name = nameOf(ask.customer, ask.key);
    const status = finalOf(answer);
    const before = this.#told.get(name);
    const unsaid = answer.pix?.status === 'PROCESSING' && before && ask.askedAt > before.at;
    if (before && ((status && status !== before.status) || unsaid)) {
      this.violated(`the app was told ${before.status} of ${name}, then ${status ?? 'PROCESSING'}`);
    }
    if (status === null) return;
    if (!before) this.#told.set(name, { status, at: this.#scheduler.taken });
    const payments = this.#paymentsOf(ask);
    const isTrue =
      status === 'COMPLETED'
        ? payments.some(
            ({ state, endToEnd }) => state === 'completed' && endToEnd === answer.pix?.endToEnd,
          )
        : payments.every(({ state }) => state === 'reversed');
    if (!isTrue) this.violated(`the app was told ${status} of ${name}, which is not true`);
  }

  #checkOutcome(ask: Ask, { outcome }: Answer): void {
    const payments = this.#paymentsOf(ask);
    const isFalse =
      (outcome === 'accepted' && payments.length === 0) ||
      ((outcome === 'not_sent' || outcome === 'rejected') &&
        payments.some(({ state }) => state !== 'reversed'));
    if (!isFalse) return;
    this.violated(`the app was told ${outcome} of ${nameOf(ask.customer, ask.key)}: not true`);
  }

  #paymentsOf({ customer, key }: Ask): LedgerPayment[] {
    return this.ledger.paymentsOf(customer).filter((payment) => payment.clientRequestId === key);
  }
}

/** Names one payment of one customer, as the app means it. */
export function nameOf(customer: StoredCustomer, key: string): string {
  return `${customer.name}/${key}`;
}

/** A 502 is a final answer too: it invites a new key. */
export function finalOf({ status, outcome, pix }: Answer): 'COMPLETED' | 'FAILED' | null {
  if (pix && pix.status !== 'PROCESSING') return pix.status;
  const failed = status === 502 || outcome === 'not_sent' || outcome === 'rejected';
  return failed ? 'FAILED' : null;
}
