/** What the bank has really done, read from its own ledger: what everything is held to. */
import type { Bank } from '../../src/provider/stub/bank.ts';
import type { StoredCustomer } from './store.ts';

/** `under_way`: the money has left and will come back; `reversed`: it has. */
export type PaymentState = 'completed' | 'under_way' | 'reversed';

export interface LedgerPayment {
  readonly customer: StoredCustomer;
  readonly endToEnd: string;
  readonly clientRequestId: string | null;
  readonly amountCents: number;
  readonly state: PaymentState;
}

const states = { COMPLETED: 'completed', PROCESSING: 'under_way', FAILED: 'reversed' } as const;

/** No history here lasts longer than this. */
const days = { start: '2026-05-23', end: '2026-06-10' };

export class LedgerView {
  readonly #bank: Bank;
  readonly #tokens: ReadonlyMap<StoredCustomer, string>;

  constructor(bank: Bank, customers: readonly StoredCustomer[]) {
    this.#bank = bank;
    this.#tokens = new Map(customers.map((customer) => [customer, tokenOf(bank, customer)]));
  }

  get customers(): StoredCustomer[] {
    return [...this.#tokens.keys()];
  }

  /** The payments that the bank has executed for a customer, those that were reversed included. */
  paymentsOf(customer: StoredCustomer): LedgerPayment[] {
    const answer = this.#bank.statement(this.#tokenOf(customer), days);
    if (answer.outcome !== 'done') throw new Error('the ledger cannot be read');
    return answer.value
      .filter(({ kind }) => kind === 'payment')
      .map(({ endToEnd, clientRequestId, amountCents, status }) => ({
        customer,
        endToEnd,
        clientRequestId,
        amountCents,
        state: states[status],
      }));
  }

  all(): LedgerPayment[] {
    return this.customers.flatMap((customer) => this.paymentsOf(customer));
  }

  payment(customer: StoredCustomer, endToEnd: string): LedgerPayment | null {
    return this.paymentsOf(customer).find((payment) => payment.endToEnd === endToEnd) ?? null;
  }

  balanceCentsOf(customer: StoredCustomer): number {
    const answer = this.#bank.balance(this.#tokenOf(customer));
    if (answer.outcome !== 'done') throw new Error('the balance cannot be read');
    return answer.value;
  }

  #tokenOf(customer: StoredCustomer): string {
    return this.#tokens.get(customer) ?? '';
  }
}

/** A token of its own, which no fault ever expires. */
export function tokenOf(bank: Bank, { email }: StoredCustomer): string {
  const login = bank.login({ email, password: '' });
  if (login.outcome !== 'done') throw new Error('the simulated bank refuses a customer');
  return login.value.token;
}
