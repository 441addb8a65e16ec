/** What the bank executed and refused: read from its state, so lost responses do not matter. */
import { numberFromCents } from '../../domain/money.ts';
import type { PixStatus } from '../../domain/pix.ts';
import { kycDecision, submittedDocuments } from './bank/onboarding.ts';
import type { Charge, Payment, Person, Receipt } from './bank/rows.ts';
import type { State } from './bank/state.ts';

export type LedgerView = ReturnType<typeof ledgerView>;
export type LedgerPayment = LedgerView['payments'][number];

/** The ledger of a bank as it is now: oldest first, amounts in reais, without personal data. */
export function ledgerView({ transfers, charges, paidCharges, persons }: State) {
  const all = [...transfers.values()];
  const orders = all.filter((transfer) => transfer.row === 'payment');
  return {
    payments: orders.filter(({ refusal }) => refusal === null).map(viewPayment),
    /** Refused for good: nothing was debited. */
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

function viewPayment(payment: Payment) {
  const status: PixStatus = payment.settlement?.status ?? 'PROCESSING';
  return { ...viewOrder(payment), status };
}

function viewOrder({ atMs, id, endToEnd, clientRequestId, key, amountCents }: Payment) {
  const at = new Date(atMs).toISOString();
  return { at, id, endToEnd, clientRequestId, key, amount: numberFromCents(amountCents) };
}

function viewReceipt({ atMs, endToEnd, transactionIdentification, amountCents }: Receipt) {
  const at = new Date(atMs).toISOString();
  return { at, endToEnd, transactionIdentification, amount: numberFromCents(amountCents) };
}

function viewCharge({ atMs, id, type, order }: Charge, isPaid: boolean) {
  const at = new Date(atMs).toISOString();
  const { transactionIdentification, key, amountCents } = order;
  const amount = numberFromCents(amountCents);
  return { at, id, type, transactionIdentification, key, amount, isPaid };
}

function viewPerson(person: Person) {
  const { id, atMs, steps } = person;
  return {
    at: new Date(atMs).toISOString(),
    id,
    steps: steps.map(({ name }) => name),
    documents: submittedDocuments(person),
    kyc: kycDecision(person),
  };
}
