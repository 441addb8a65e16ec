/** What the bank has really done: what everything is held to. */
import type { StoredCustomer } from '../store.ts';

/** `under_way`: the money has left the account; `reversed`: it has come back. */
export type PaymentState = 'under_way' | 'completed' | 'reversed';

/** A payment that the bank has executed. */
export interface Payment {
  readonly customer: StoredCustomer;
  readonly endToEnd: string;
  readonly clientRequestId: string;
  readonly amountCents: number;
  /** The bank's own id. */
  readonly bankId: string;
  /** How it will end. */
  readonly end: 'completed' | 'reversed';
  readonly executedAtMs: number;
  state: PaymentState;
}

export class Ledger {
  readonly customers: readonly StoredCustomer[];
  readonly #openingBalanceCents: number;
  readonly #payments: Payment[] = [];

  constructor(customers: readonly StoredCustomer[], openingBalanceCents: number) {
    this.customers = customers;
    this.#openingBalanceCents = openingBalanceCents;
  }

  get payments(): readonly Payment[] {
    return this.#payments;
  }

  execute(payment: Omit<Payment, 'state'>): Payment {
    const executed: Payment = { ...payment, state: 'under_way' };
    this.#payments.push(executed);
    return executed;
  }

  /** Those that were reversed included. */
  paymentsOf(customer: StoredCustomer): Payment[] {
    return this.#payments.filter((payment) => payment.customer === customer);
  }

  payment(customer: StoredCustomer, endToEnd: string): Payment | null {
    return this.paymentsOf(customer).find((payment) => payment.endToEnd === endToEnd) ?? null;
  }

  balanceCentsOf(customer: StoredCustomer): number {
    const kept = this.paymentsOf(customer).filter(({ state }) => state !== 'reversed');
    const sentCents = kept.reduce((sum, { amountCents }) => sum + amountCents, 0);
    return this.#openingBalanceCents - sentCents;
  }
}
