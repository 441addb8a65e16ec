/** The ledger of the bank: the truth that the checks compare everything with. */
import type { StoredCustomer } from '../store.ts';
import type { KeyOwner } from './directory.ts';

/** `under_way`: the money has left the account; `reversed`: it was returned. */
export type PaymentState = 'under_way' | 'completed' | 'reversed';

/** A payment that the bank has executed. */
export interface Payment {
  readonly customer: StoredCustomer;
  readonly endToEnd: string;
  readonly clientRequestId: string;
  readonly amountCents: number;
  /** The bank's own id. */
  readonly bankId: string;
  /** Its final state. */
  readonly end: 'completed' | 'reversed';
  readonly executedAtMs: number;
  /** The charge of the code that it pays; null: it pays none. */
  readonly txid: string | null;
  /** The owner of its key, if the owner is a customer of the bank. */
  readonly payee?: StoredCustomer | null;
  /** The bank has refused it, although it was executed. */
  isDenied?: true;
  state: PaymentState;
}

/** The payer and the PIX key that an end-to-end id was issued for, and the owner that was shown. */
interface Issued {
  readonly customer: StoredCustomer;
  readonly key: unknown;
  /** Null: the response did not say who owns the key. */
  readonly owner: KeyOwner | null;
}

/** A charge that the bank has created. */
export interface Charge {
  readonly customer: StoredCustomer;
  /** `transactionIdentification`. */
  readonly txid: string;
  /** The PIX key of the payee. */
  readonly key: string;
  readonly amountCents: number;
  readonly kind: 'dynamic' | 'static';
  readonly bankId: string;
  readonly copyPaste: string;
  /** The expiry of a dynamic charge; null: it never expires. */
  readonly expiresAtMs: number | null;
}

/** A refund on one side of a payment. */
export interface Refund {
  /** The customer who gets the money back, or returns it. */
  readonly customer: StoredCustomer;
  /** `in`: the refund of a payment; `out`: the refund of a received PIX. */
  readonly direction: 'in' | 'out';
  /** The end-to-end id of the payment. */
  readonly endToEnd: string;
  /** `D…` */
  readonly returnId: string;
  readonly amountCents: number;
  /** The amount of the payment. */
  readonly originalCents: number;
}

/** A return that a customer has ordered, and that the bank has executed. */
export interface OrderedReturn {
  readonly customer: StoredCustomer;
  /** The end-to-end id of the received PIX. */
  readonly endToEnd: string;
  readonly returnId: string;
  readonly clientRequestId: string;
  readonly amountCents: number;
  /** The amount of the received PIX. */
  readonly originalCents: number;
  readonly bankId: string;
  /** Its final state. */
  readonly end: 'completed' | 'reversed';
  readonly executedAtMs: number;
  state: PaymentState;
}

/** The states of a dispute at the bank. */
export type DisputeState = 'OPEN' | 'ACCEPTED' | 'REJECTED' | 'WITHDRAWN';

/** The dispute of a payment that the bank has opened. */
export interface Dispute {
  readonly customer: StoredCustomer;
  /** The end-to-end id of the payment. */
  readonly endToEnd: string;
  /** The id that the service has given; null: it was opened at another channel. */
  readonly disputeId: string | null;
  readonly situation: string | null;
  /** The bank's own id. */
  readonly bankId: string;
  /** Whether the bank refuses to withdraw it. */
  readonly isKept: boolean;
  state: DisputeState;
}

/** A received PIX. */
export interface Receipt {
  /** The customer who has received it. */
  readonly customer: StoredCustomer;
  readonly endToEnd: string;
  readonly amountCents: number;
  readonly bankId: string;
  /** The charge that it pays, with the charge's amount or another one; null: no charge. */
  readonly charge: Charge | null;
  readonly atMs: number;
}

export class Ledger {
  /** The statements of all days are read now: nothing is refunded any more. */
  isClosed = false;
  readonly customers: readonly StoredCustomer[];
  readonly #openingBalanceCents: number;
  /** The payer and the PIX key that each end-to-end id was issued for. */
  readonly issued = new Map<string, Issued>();
  /** The end-to-end ids that a whole statement has shown: a page of one proves nothing. */
  readonly shown = new Set<string>();
  /** The customers whose last statement may have been one of several pages. */
  readonly cut = new Set<StoredCustomer>();
  /** The end-to-end ids of completed payments whose money came back, without a return id. */
  readonly takenBack = new Set<string>();
  readonly #payments: Payment[] = [];
  readonly #charges: Charge[] = [];
  readonly #receipts: Receipt[] = [];
  readonly #refunds: Refund[] = [];
  readonly #returns: OrderedReturn[] = [];
  readonly #disputes: Dispute[] = [];
  /** The end-to-end ids of payments whose dispute, or its withdrawal, was refused at least once. */
  readonly refusedDisputes = new Set<string>();
  readonly refusedWithdrawals = new Set<string>();

  constructor(customers: readonly StoredCustomer[], openingBalanceCents: number) {
    this.customers = customers;
    this.#openingBalanceCents = openingBalanceCents;
  }

  get payments(): readonly Payment[] {
    return this.#payments;
  }

  get charges(): readonly Charge[] {
    return this.#charges;
  }

  get receipts(): readonly Receipt[] {
    return this.#receipts;
  }

  get refunds(): readonly Refund[] {
    return this.#refunds;
  }

  get returns(): readonly OrderedReturn[] {
    return this.#returns;
  }

  get disputes(): readonly Dispute[] {
    return this.#disputes;
  }

  /** The dispute of a payment; undefined: it has none. */
  findDispute(endToEnd: string): Dispute | undefined {
    return this.#disputes.find((one) => one.endToEnd === endToEnd);
  }

  openDispute(opened: Omit<Dispute, 'state'>): Dispute {
    const dispute: Dispute = { ...opened, state: 'OPEN' };
    this.#disputes.push(dispute);
    return dispute;
  }

  executeReturn(made: Omit<OrderedReturn, 'state'>): OrderedReturn {
    const executed: OrderedReturn = { ...made, state: 'under_way' };
    this.#returns.push(executed);
    return executed;
  }

  /** What a customer has returned of a received PIX, by whatever channel, and may yet. */
  sumReturnedCents(customer: StoredCustomer, endToEnd: string): number {
    const isOfPix = (one: { customer: StoredCustomer; endToEnd: string }): boolean =>
      one.customer === customer && one.endToEnd === endToEnd;
    const refunds = this.#refunds.filter((one) => isOfPix(one) && one.direction === 'out');
    const open = this.#returns.filter((one) => isOfPix(one) && one.state === 'under_way');
    return sumCents([...refunds, ...open]);
  }

  /** The bank takes every third completed payment back that was not refunded. */
  takeBack(): void {
    const refunded = new Set(this.#refunds.map(({ endToEnd }) => endToEnd));
    const kept = this.#payments.filter(
      ({ state, endToEnd }) => state === 'completed' && !refunded.has(endToEnd),
    );
    for (const [nth, { endToEnd }] of kept.entries())
      if (nth % 3 === 0) this.takenBack.add(endToEnd);
  }

  refund(refund: Refund): void {
    this.#refunds.push(refund);
  }

  makeCharge(charge: Charge): void {
    this.#charges.push(charge);
  }

  receive(receipt: Receipt): void {
    this.#receipts.push(receipt);
  }

  execute(payment: Omit<Payment, 'state'>): Payment {
    const executed: Payment = { ...payment, state: 'under_way' };
    this.#payments.push(executed);
    return executed;
  }

  /** All payments of a customer, reversed ones included. */
  listPayments(customer: StoredCustomer): Payment[] {
    return this.#payments.filter((payment) => payment.customer === customer);
  }

  payment(customer: StoredCustomer, endToEnd: string): Payment | null {
    return this.listPayments(customer).find((payment) => payment.endToEnd === endToEnd) ?? null;
  }

  /** The sum that has left an account and was not returned. */
  sumSentCents(customer: StoredCustomer): number {
    return sumCents(this.listPayments(customer).filter(({ state }) => state !== 'reversed'));
  }

  getBalanceCents(customer: StoredCustomer): number {
    const receivedCents = sumCents(this.#receipts.filter((one) => one.customer === customer));
    return this.#openingBalanceCents + receivedCents - this.sumSentCents(customer);
  }
}

function sumCents(movements: readonly { readonly amountCents: number }[]): number {
  return movements.reduce((sum, { amountCents }) => sum + amountCents, 0);
}
