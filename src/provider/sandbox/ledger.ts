/** What the bank executed and refused: read from its state, so lost answers do not matter. */
import { numberFromCents } from '../../domain/money.ts';
import type { PixStatus } from '../../domain/pix.ts';
import { kycDecision, submittedDocuments } from './bank/onboarding.ts';
import type {
  Charge,
  ChargeKind,
  DocumentDigest,
  Payment,
  Person,
  PersonStep,
  Receipt,
} from './bank/rows.ts';
import type { KycScript } from './bank/scenarios.ts';
import type { State } from './bank/state.ts';

/** A payment as the control path shows it; the amount is in reais. */
export interface LedgerPayment {
  readonly at: string;
  readonly id: string;
  readonly endToEnd: string;
  readonly clientRequestId: string;
  readonly key: string;
  readonly amount: number;
  readonly status: PixStatus;
}

/** An order that was refused for good: nothing was debited. */
export interface RefusedPayment extends Omit<LedgerPayment, 'status'> {
  readonly code: string;
}

/** A paid charge; the amount is in reais. */
export interface LedgerReceipt {
  readonly at: string;
  readonly endToEnd: string;
  readonly transactionIdentification: string;
  readonly amount: number;
}

/** A charge as the control path shows it; the amount is in reais. */
export interface LedgerCharge {
  readonly at: string;
  readonly id: string;
  readonly type: ChargeKind;
  readonly transactionIdentification: string;
  readonly key: string;
  readonly amount: number;
  readonly isPaid: boolean;
}

/** An applicant, without personal data. */
export interface LedgerPerson {
  readonly at: string;
  readonly id: string;
  /** The submitted steps in order, one for each document. */
  readonly steps: readonly PersonStep['name'][];
  readonly documents: readonly DocumentDigest[];
  readonly kyc: KycScript;
}

/** Oldest first. */
export interface LedgerView {
  readonly payments: readonly LedgerPayment[];
  readonly refused: readonly RefusedPayment[];
  readonly charges: readonly LedgerCharge[];
  readonly received: readonly LedgerReceipt[];
  readonly persons: readonly LedgerPerson[];
}

/** The ledger of a bank as it is now. */
export function ledgerView({ transfers, charges, paidCharges, persons }: State): LedgerView {
  const all = [...transfers.values()];
  const orders = all.filter((transfer) => transfer.row === 'payment');
  return {
    payments: orders.filter(({ refusal }) => refusal === null).map(viewPayment),
    refused: orders.flatMap((payment) =>
      payment.refusal === null ? [] : [{ ...viewOrder(payment), code: payment.refusal.reason }],
    ),
    charges: [...charges.values()].map((charge) =>
      viewCharge(charge, paidCharges.has(charge.order.transactionIdentification)),
    ),
    received: all.filter((transfer) => transfer.row === 'receipt').map(viewReceipt),
    persons: [...persons.values()].map(viewPerson),
  };
}

function viewPayment(payment: Payment): LedgerPayment {
  return { ...viewOrder(payment), status: payment.settlement?.status ?? 'PROCESSING' };
}

function viewOrder(payment: Payment): Omit<LedgerPayment, 'status'> {
  const { atMs, id, endToEnd, clientRequestId, key, amountCents } = payment;
  const at = new Date(atMs).toISOString();
  return { at, id, endToEnd, clientRequestId, key, amount: numberFromCents(amountCents) };
}

function viewReceipt(receipt: Receipt): LedgerReceipt {
  const { atMs, endToEnd, transactionIdentification, amountCents } = receipt;
  const at = new Date(atMs).toISOString();
  return { at, endToEnd, transactionIdentification, amount: numberFromCents(amountCents) };
}

function viewCharge({ atMs, id, type, order }: Charge, isPaid: boolean): LedgerCharge {
  const at = new Date(atMs).toISOString();
  const { transactionIdentification, key, amountCents } = order;
  const amount = numberFromCents(amountCents);
  return { at, id, type, transactionIdentification, key, amount, isPaid };
}

function viewPerson(person: Person): LedgerPerson {
  const { id, atMs, steps } = person;
  return {
    at: new Date(atMs).toISOString(),
    id,
    steps: steps.map(({ name }) => name),
    documents: submittedDocuments(person),
    kyc: kycDecision(person),
  };
}
